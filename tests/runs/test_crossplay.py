"""Contests as a user meets them: training, evaluating against others, crossplay."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

import merlax
from merlax import api, cli
from merlax.core.players import PolicyPlayer, ScriptedPlayer
from merlax.runs import crossplay
from merlax.types import UserError
from tests.support.settings import TINY

pytestmark = pytest.mark.slow  # both runs are trained
FRAMES = 2 * (6 * 2 + 2) * 25


def train(folder, world="predator-prey", **options):
    return merlax.train(world, frames=FRAMES, settings=TINY, out=folder, quiet=True, **options)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return train(tmp_path_factory.mktemp("contests") / "one")


@pytest.fixture(scope="module")
def other(tmp_path_factory, run):
    return train(tmp_path_factory.mktemp("contests") / "two", opponent=run.path, seed=7)


def test_a_run_keeps_its_opponent_and_its_score(run):
    assert isinstance(run.opponent, PolicyPlayer)
    assert np.isfinite(run.progress["opponent_score"]).all()
    assert run.config["opponent"]["kind"] == "ddpg"
    assert (run.path / "champion.gif").exists()


def test_a_frozen_opponent_is_met_as_it_was_saved(run, other):
    assert other.config["opponent"] == {"kind": "frozen"}
    assert isinstance(run.opponent, PolicyPlayer)
    assert isinstance(other.opponent, PolicyPlayer)
    np.testing.assert_array_equal(other.opponent.policy.heads.weight, run.opponent.policy.heads.weight)


def test_a_scripted_opponent_needs_no_file(tmp_path):
    run = train(tmp_path / "run", opponent="scripted")
    assert isinstance(run.opponent, ScriptedPlayer)
    assert not (run.path / "opponent").exists()


def test_evaluate_against_chooses_the_opponent(run, other, capsys):
    own = merlax.evaluate(run, episodes=20)
    assert merlax.evaluate(run, episodes=20, against=other) == own  # the other's is this one's, frozen
    assert cli.main(["evaluate", str(run.path), "--episodes", "20", "--against", "scripted", "--json"]) == 0
    scripted = json.loads(capsys.readouterr().out)["mean"]
    still = merlax.evaluate(run, episodes=20, against="still").mean
    assert len({own.mean, scripted, still}) == 3


def test_crossplay_is_every_team_against_every_opponent(run, other, tmp_path, capsys):
    out = tmp_path / "matrix.png"
    assert cli.main(["crossplay", str(run.path), str(other.path), "--episodes", "20", "--out", str(out)]) == 0
    assert out.exists()
    assert "scripted" in capsys.readouterr().out
    matrix = api.play_each_other([run, other], 20)
    assert (matrix.teams, matrix.opponents) == (("one", "two", "scripted"), ("one", "two", "scripted"))
    assert matrix.scores[0][0] == merlax.evaluate(run, episodes=20)
    assert matrix.scores[2][0] == merlax.evaluate(run, episodes=20, team="scripted")
    assert len(out.with_suffix(".csv").read_text().splitlines()) == 1 + 3 * 3


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["train", "rover-3", "--opponent", "ddpg"], "has no opponent"),
        (["train", "predator-prey", "--opponent", "nobody"], "no opponent 'nobody'"),
        (["train", "predator-prey", "--env.num-predators", "0"], "num_predators is 0"),
        (["train", "predator-prey", "--env.prey-speed", "-1"], "prey_speed is -1"),
        (["train", "predator-prey", "--opponent.td3.batch", "0"], "batch is 0"),
        (["train", "keep-away", "--opponent", "{run}"], "trained for another world"),
        (["crossplay", "{run}", "{run}"], "named twice"),
        (["evaluate", "{run}", "--against", "nobody"], "no rule 'nobody' for its opponent"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_a_mistake_is_one_sentence(run, capsys, unchecked, arguments, says):
    assert cli.main([a.format(run=run.path) for a in arguments]) == 2
    error = capsys.readouterr().err.strip()
    assert says in error
    assert len(error.splitlines()) == 1


def test_no_run_and_a_run_without_an_opponent_are_refused(run, tmp_path):
    with pytest.raises(UserError, match="at least one run"):
        api.play_each_other([])
    alone = dataclasses.replace(run, path=tmp_path, opponent=None)
    with pytest.raises(UserError, match="has no opponent; leave it out"):
        api.play_each_other([run, alone])
    with pytest.raises(UserError, match="has no opponent; leave --against out"):
        merlax.evaluate(alone, 2, against=run)


def test_only_runs_on_one_world_are_compared(run, tmp_path):
    elsewhere = dataclasses.replace(run, path=tmp_path, env=merlax.make("predator-prey", prey_speed=2.0))
    with pytest.raises(UserError, match=r"prey_speed 2\.0.* name runs on one"):
        api.play_each_other([run, elsewhere])
    keep_away = dataclasses.replace(run, path=tmp_path, env=merlax.make("keep-away"))
    with pytest.raises(UserError, match="was made for"):
        crossplay.opponent_of(run, keep_away)


def test_a_name_is_the_shortest_end_of_a_path_that_tells_runs_apart():
    paths = [Path("a/x/run"), Path("b/x/run"), Path("c/other")]
    assert crossplay._names(paths)[:2] == ["a/x/run", "b/x/run"]
    assert crossplay._names([Path("a/one"), Path("a/two")]) == ["one", "two"]
    assert crossplay._names([Path("a/scripted")]) == ["a/scripted"]  # not to be taken for the scripted opponent
