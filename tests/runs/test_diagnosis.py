"""How a team fails, on worlds where that is known."""

import json
import math

import equinox as eqx
import jax.numpy as jnp
import pytest

import merlax
from merlax import cli
from merlax.core.networks import TeamPolicy
from merlax.core.players import PolicyPlayer, ScriptedPlayer
from merlax.runs import diagnosis
from merlax.runs.diagnosis import Diagnosis, Finding
from merlax.runs.teams import Lineup
from tests.probes.tag import SCRIPT, Tag
from tests.support.weights import weights


def finding(found: Diagnosis, says: str) -> Finding:
    return next(one for one in found.findings if one.says == says)


@pytest.fixture(scope="module")
def policy_team() -> Lineup:
    """A team whose first agent stays where it should, whatever it sees, and whose second stays at 0."""
    policy = weights(lambda key: TeamPolicy(key, Tag().sides[0], (4,)), 0)
    heads = eqx.tree_at(lambda h: (h.weight, h.bias), policy.heads,
                        (jnp.zeros_like(policy.heads.weight), jnp.array([math.atanh(SCRIPT), 0.0])))  # fmt: skip
    player = PolicyPlayer(eqx.tree_at(lambda p: p.heads, policy, heads))
    return Lineup("a team", "pair", Tag(), player, ScriptedPlayer(1))


def test_an_agent_that_stands_still_costs_what_it_adds(policy_team):
    found = diagnosis.diagnose(policy_team, 3)
    assert found.score.mean == pytest.approx(SCRIPT)  # one of two is a quarter off, in both steps
    assert finding(found, "score lost if an agent stands still").values == pytest.approx((0.25, 0.0), abs=1e-6)
    assert finding(found, "agent reward per step").values == pytest.approx((0.0, -0.25), abs=1e-6)


def test_heads_that_are_exchanged_tell_who_is_special(policy_team):
    found = diagnosis.diagnose(policy_team, 3)
    assert finding(found, "score if all agents have the head of").values == pytest.approx((0.0, -0.5), abs=1e-6)


def test_a_rule_has_no_heads_and_a_full_action_is_at_its_bound(monkeypatch):
    monkeypatch.setattr(diagnosis, "BOUND", 0.2)
    found = merlax.diagnose(Tag(horizon=3), 2, team="scripted")
    assert not [one for one in found.findings if "head" in one.says]
    assert finding(found, "actions at their bounds").values == (1.0, 1.0)
    assert found.scores == (0.0, 0.0)


@pytest.mark.slow
def test_many_episodes_are_examined_in_parts_that_count_once(monkeypatch):
    whole = merlax.diagnose("two-rovers", 3, team="scripted")
    monkeypatch.setattr("merlax.runs.evaluation.STEPS_AT_ONCE", 60)  # two episodes
    parts = merlax.diagnose("two-rovers", 3, team="scripted")
    for one, other in zip(whole.findings, parts.findings, strict=True):
        same = [value if value is None else pytest.approx(value, rel=1e-4) for value in other.values]
        assert list(one.values) == same, one.says
    assert whole.score.mean == 0.5
    assert finding(whole, "how episodes end").values == (0.0, 0.0, 0.0, 1.0)
    assert whole.score == parts.score


@pytest.mark.slow
def test_the_command_prints_a_table_or_json_and_draws(tmp_path, capsys):
    command = ["diagnose", "two-rovers", "--team", "scripted", "--episodes", "3"]
    assert cli.main([*command, "--out", str(tmp_path / "why.png")]) == 0
    assert "rovers within reach of a POI left unobserved" in capsys.readouterr().out
    assert (tmp_path / "why.png").exists()
    assert cli.main([*command, "--json", "--env.horizon", "29"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["score"]["episodes"] == 3
    assert "horizon 29" in shown["title"]
