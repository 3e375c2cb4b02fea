"""What is wrong with a world is told in sentences, all at once."""

import dataclasses
import re
from typing import Any

import jax.numpy as jnp
import pytest

import merlax
from merlax.envs import Side, check, ids, make
from merlax.envs.check import refuse_misshapen, shape_findings
from merlax.envs.rules import Rule
from merlax.types import Reward, UserError
from tests.probes.choices import Choices
from tests.probes.darts import Darts
from tests.probes.leavers import Leavers
from tests.probes.rendezvous import Rendezvous
from tests.probes.tag import Tag
from tests.probes.unlike import Unlike

SOUND = [Darts("agent"), Rendezvous(), Tag(), Unlike(), Choices(), Leavers()]


@dataclasses.dataclass(frozen=True)
class Changed(Rendezvous):
    """A sound world, but for one change to what it returns."""

    how: str = ""

    def reset(self, key):
        obs, state = super().reset(key)
        return {"long": obs[:, :1], "whole": obs.astype(jnp.int32)}.get(self.how, obs), state

    def step(self, key, state, action) -> Any:
        obs, state, reward, terminated, truncated, info = super().step(key, state, action)
        if self.how == "if" and action[0, 0] > 0.0:
            obs = -obs
        team = {"team": reward.agent, "whole-team": reward.team.astype(jnp.int32)}.get(self.how, reward.team)
        agent = reward.agent.mean() if self.how == "agent" else reward.agent
        reward = agent if self.how == "no-reward" else Reward(team, agent)
        if self.how == "flag":
            truncated = truncated.astype(jnp.float32)
        if self.how == "state":
            state = dataclasses.replace(state, time=state.time.astype(jnp.float32))
        if self.how == "five":
            return obs, state, reward, terminated, truncated
        return obs, state, reward, terminated, truncated, info


@pytest.mark.slow
@pytest.mark.parametrize("env", [*SOUND, *map(make, ids())], ids=lambda env: type(env).__name__)
def test_sound_worlds_have_the_shapes_that_they_say(env):
    assert shape_findings(env) == []


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("how", "sentence"),
    [
        ("long", r"reset shows the team's agents float32\[2, 1\]; return an array \[2, 2\], of float32"),
        ("whole", r"reset shows the team's agents int32\[2, 2\]"),
        ("if", "step decides by values that are not known yet .*; use jnp.where and jax.lax"),
        ("team", r"The team's reward.team is float32\[2\]; make it one number"),
        ("whole-team", r"The team's reward.team is int32\[\]; make it one number"),
        ("agent", r"The team's reward.agent is float32\[\]; make it one number of float32 for each of the 2 agents"),
        ("no-reward", r"The team's reward is float32\[2\]; return merlax.Reward"),
        ("flag", r"`truncated` is float32\[\]; return one flag of type bool"),
        ("state", r"The state's part .time is int32\[\] after reset and float32\[\] after a step"),
        ("five", "step does not return `obs, state, reward, terminated, truncated, info`"),
    ],
)
def test_what_tracing_shows_is_a_sentence(how, sentence):
    (finding,) = shape_findings(Changed(how=how))
    assert re.search(sentence, finding)
    with pytest.raises(UserError, match=sentence):
        refuse_misshapen(Changed(how=how))


@dataclasses.dataclass
class Loose:
    """Not frozen, so without a hash."""

    horizon: int = 0
    reset = step = Rendezvous.reset
    sides = (Side.equal(2, obs_size=2, act_size=1, masked=True, leaving=True),)


def test_all_findings_come_at_once():
    found = check(Loose())
    for part in (
        "cannot be hashed",
        "`horizon` is 0",
        "nobody there chooses",
        "no `legal(state)`",
        "no `present(state)`",
    ):
        assert [sentence for sentence in found if part in sentence], part
    assert len(found) == 5


def test_what_is_no_world_is_told_what_one_has():
    assert check(3) == [
        "It has no `sides` and no `horizon` and no `reset` and no `step`; a world has sides, horizon, reset, step."
    ]


@pytest.mark.usefixtures("unchecked")
def test_training_refuses_a_misshapen_world_before_anything_is_made(tmp_path):
    with pytest.raises(UserError, match="make it one number"):
        merlax.train(Changed(how="team"), frames=1000, out=tmp_path / "run", quiet=True)
    assert not list(tmp_path.iterdir())


def test_a_rule_must_do_what_a_step_takes():
    @dataclasses.dataclass(frozen=True)
    class Wrong(Tag):
        def rules(self, side):
            return {"scripted": Rule(lambda obs: jnp.zeros((2, 1)), "is of the team's size on both sides")}

    (finding,) = shape_findings(Wrong())
    assert '`rules(1)["scripted"]` returns float32[2, 1]' in finding


def test_the_name_of_a_world_will_do():
    assert merlax.check("tests.probes.tag:Tag") == []
