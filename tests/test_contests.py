"""Contests as a user meets them: training, evaluating against others, crossplay."""

import json

import numpy as np
import pytest
from tests.settings import TINY

import merlax
from merlax import api, cli
from merlax.algorithms.opponents import Learnt, Scripted
from merlax.runs import setup as setups
from merlax.types import UserError

FRAMES = 2 * (6 * 2 + 2) * 25


def train(folder, world="predator-prey", **options):
    return merlax.train(world, frames=FRAMES, config=TINY, out=folder, quiet=True, **options)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return train(tmp_path_factory.mktemp("contests") / "one")


@pytest.fixture(scope="module")
def other(tmp_path_factory, run):
    return train(tmp_path_factory.mktemp("contests") / "two", opponent=run.path, seed=7)


def test_a_run_keeps_its_opponent_and_its_score(run):
    assert isinstance(run.opponent, Learnt)
    assert np.isfinite(run.progress["opponent_score"]).all()
    assert run.config["opponent"]["kind"] == "ddpg"
    assert (run.path / "champion.gif").exists()


def test_a_frozen_opponent_is_met_as_it_was_saved(run, other):
    assert other.config["opponent"] == {"kind": "frozen"}
    np.testing.assert_array_equal(other.opponent.policy.heads.weight, run.opponent.policy.heads.weight)


def test_a_scripted_opponent_needs_no_file(tmp_path):
    run = train(tmp_path / "run", opponent="scripted")
    assert isinstance(run.opponent, Scripted)
    assert not (run.path / "opponent").exists()


def test_evaluate_against_chooses_the_opponent(run, other, capsys):
    own = merlax.evaluate(run, episodes=20)
    assert merlax.evaluate(run, episodes=20, against=other) == own  # the other's is this one's, frozen
    assert cli.main(["evaluate", str(run.path), "--episodes", "20", "--against", "scripted", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["mean"] != own.mean


def test_crossplay_is_every_team_against_every_opponent(run, other, tmp_path, capsys):
    out = tmp_path / "matrix.png"
    assert cli.main(["crossplay", str(run.path), str(other.path), "--episodes", "20", "--out", str(out)]) == 0
    assert out.exists()
    assert "scripted" in capsys.readouterr().out
    matrix = api.play_each_other([run, other], 20)
    assert (matrix.teams, matrix.opponents) == (("one", "two"), ("one", "two", "scripted"))
    assert matrix.scores[0][0] == merlax.evaluate(run, episodes=20)
    assert len(out.with_suffix(".csv").read_text().splitlines()) == 1 + 2 * 3


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["train", "rover-3", "--opponent", "ddpg"], "has no opponent"),
        (["train", "predator-prey", "--opponent", "nobody"], "no opponent 'nobody'"),
        (["train", "predator-prey", "--env.num-predators", "0"], "num_predators is 0"),
        (["train", "predator-prey", "--env.prey-speed", "-1"], "prey_speed is -1"),
        (["train", "predator-prey", "--adversary.td3.batch", "0"], "batch is 0"),
        (["train", "keep-away", "--opponent", "{run}"], "trained for another world"),
        (["crossplay", "{run}", "{run}"], "named twice"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_a_mistake_is_one_sentence(run, capsys, unchecked, arguments, says):
    assert cli.main([a.format(run=run.path) for a in arguments]) == 2
    error = capsys.readouterr().err.strip()
    assert says in error
    assert len(error.splitlines()) == 1


def test_an_overlapping_name_is_refused():
    with pytest.raises(UserError, match="taken already"):
        merlax.register("predator-prey", lambda: None)


def test_changes_under_adversary_are_the_opponents():
    ask = {"frames": FRAMES, "seed": 1, "preset": "fast"}
    changes = {"td3": {"discount": 0.25}, "adversary": {"td3": {"discount": 0.75}}}
    setup = setups.plan("predator-prey", "merl", **ask, changes=changes)
    assert (setup.settings.td3.discount, setup.adversary.td3.discount) == (0.25, 0.75)
    with pytest.raises(UserError, match="no opponent"):
        setups.plan("rover-3", "merl", **ask, changes=changes)
    with pytest.raises(UserError, match=r"adversary\.speed"):
        setups.plan("predator-prey", "merl", **ask, changes={"adversary": {"speed": 1}})
