"""Generations, tests, records: same seed, same rows, whatever the clock does, and never a number that is not finite."""

import os
import signal
import time

import numpy as np
import pytest

import merlax
from merlax.algorithms import Game
from merlax.core.evolution.fitness import Fitness
from merlax.runs import checkpoints, loop
from merlax.runs.recorders import Midway
from merlax.types import UserError
from tests.probes.rendezvous import Rendezvous
from tests.support import short
from tests.support.killing import options, rows


def test_a_budget_below_one_generation_is_refused():
    game = Game(Rendezvous(horizon=3), merlax.Ea(population=6, fitness=Fitness(episodes=2)))
    loop.check_budget(game, 6 * 2 * 3)
    with pytest.raises(UserError, match="frames is 35 but one generation alone takes up to 36"):
        loop.check_budget(game, 6 * 2 * 3 - 1)


def test_training_ends_before_the_generation_that_might_exceed_the_budget(tmp_path):
    run = short.train(tmp_path, frames=3 * short.GENERATION - 1)
    assert run.progress["frames"].tolist() == [short.GENERATION, 2 * short.GENERATION]


def test_a_callback_gets_every_row_as_the_file_has_it(tmp_path):
    heard = []
    run = short.train(tmp_path, 3, callbacks=[heard.append])
    assert [row["generation"] for row in heard] == [1, 2, 3]
    for name in ("frames", "champion_score", "best_fitness", "mean_fitness"):
        np.testing.assert_allclose([row[name] for row in heard], run.progress[name], rtol=1e-6)
    assert heard[0]["fitness"].shape == (6,)


@pytest.mark.slow
def test_a_callback_that_returns_true_ends_a_run_that_can_be_resumed_to_the_same_rows(tmp_path):
    whole = short.train(tmp_path / "whole", 5)
    stopped = short.stopped(tmp_path / "stopped", 2)
    assert rows(stopped.path) == rows(whole.path)[:2]
    assert checkpoints.generations(stopped.path / "checkpoints") == [2]
    assert not merlax.load(stopped.path, short.WORLD).progress["generation"][2:].size
    resumed = short.resume(stopped.path)
    assert rows(resumed.path) == rows(whole.path)
    np.testing.assert_array_equal(resumed.champion.heads.weight, whole.champion.heads.weight)


@pytest.mark.slow
def test_a_run_of_many_generations_is_tested_now_and_then_and_keeps_its_newest_champion(tmp_path, monkeypatch):
    often = short.train(tmp_path / "often", 7)
    monkeypatch.setattr(loop, "TESTS", 3)
    seldom = short.train(tmp_path / "seldom", 7)
    tested = np.isfinite(seldom.progress["champion_score"])
    assert tested.tolist() == [True, False, True, False, True, False, True]
    np.testing.assert_array_equal(seldom.progress["champion_score"][tested], often.progress["champion_score"][tested])
    np.testing.assert_array_equal(seldom.progress["best_fitness"], often.progress["best_fitness"])
    monkeypatch.setattr(loop, "TESTS", 1)
    stopped = short.stopped(tmp_path / "stopped", 5)  # 1 to 4 of 8 generations: none is tested but the first
    assert np.isfinite(stopped.progress["champion_score"]).tolist() == [True, False, False, False, False]
    whole = short.train(tmp_path / "whole", 5)
    np.testing.assert_array_equal(stopped.champion.heads.weight, whole.champion.heads.weight)


def test_all_recorders_hear_the_row_on_which_one_of_them_stops(tmp_path):
    heard = []
    short.train(tmp_path, 4, callbacks=[lambda row: row["generation"] == 2, heard.append])
    assert [row["generation"] for row in heard] == [1, 2]


@pytest.mark.slow
def test_a_clock_that_is_set_back_all_the_time_changes_nothing(tmp_path, monkeypatch):
    def train(name):
        return short.train(tmp_path / name, 4, checkpoint_every=0.0).progress

    usual = train("usual")
    now = [2e9]

    def earlier():
        now[0] -= 3600.0
        return now[0]

    monkeypatch.setattr(time, "time", earlier)
    monkeypatch.setattr(time, "time_ns", lambda: int(earlier() * 1e9))
    strange = train("strange")
    assert now[0] < 2e9  # somebody did look at it
    assert (np.diff(strange["seconds"]) >= 0).all()
    assert len(strange["generation"]) > 2
    for name in usual.keys() - {"seconds"}:
        np.testing.assert_array_equal(strange[name], usual[name])


class Follows:
    """Hears of everything."""

    def __init__(self):
        self.heard: list[Midway] = []

    def start(self, run): ...
    def record(self, row): ...
    def stop(self): ...

    def midway(self, told):
        self.heard.append(told)


class StopsMidway(Follows):
    """Ends a run by a signal, as soon as a few rounds of its second generation are done."""

    def midway(self, told):
        super().midway(told)
        if told.generation == 2 and told.share > 0.3:
            os.kill(os.getpid(), signal.SIGINT)


LEARNS_LONG = {
    "population": 6, "fitness": {"episodes": 1}, "actor_hidden": [8], "explore_episodes": 2,
    "learners": [{"batch": 8, "buffer": 400, "burn_in": 1, "critic_hidden": [8], "updates_per_frame": 0.5}],
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("every", [0.0, 1e-9], ids=["saved at its end", "saved all the time"])
def test_a_run_that_was_ended_within_a_generation_goes_on_within_it(tmp_path, monkeypatch, every):
    def train(name, **given):
        frames = 3 * 14 * short.WORLD.horizon
        return short.train(tmp_path / name, algorithm="merl", settings=LEARNS_LONG, frames=frames, **given)

    monkeypatch.setattr(loop, "PIECE_SECONDS", 0.0)
    whole, signals = train("whole"), StopsMidway()
    stopped = train("stopped", callbacks=[signals], checkpoint_every=every)
    first, second = ([told for told in signals.heard if told.generation == number] for number in (1, 2))
    assert [told.share for told in first] == sorted(told.share for told in first)
    assert len(first) > 10  # round by round
    assert second[-1].frames > first[-1].frames
    assert 0.3 < second[-1].share < 0.4
    assert rows(stopped.path) == rows(whole.path)[:1]
    *_, newest = checkpoints.all_of(stopped.path / "checkpoints")
    assert newest.parent.name == "midway"

    goes_on = Follows()
    resumed = short.resume(stopped.path, callbacks=[goes_on], checkpoint_every=0.0)
    assert goes_on.heard[0].share == second[-1].share
    assert rows(resumed.path) == rows(whole.path)
    np.testing.assert_array_equal(resumed.champion.heads.weight, whole.champion.heads.weight)


def test_a_piece_of_work_is_as_long_as_the_clock_allows(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    pace, sizes = loop.Pace(), []
    for _ in range(6):
        rounds = pace.next(1000)
        with pace.piece(rounds):
            now[0] += 3.0 if rounds == 0 else rounds / 128
        sizes.append(rounds)
    assert sizes == [0, 1, 8, 64, 128, 128]  # the first one compiles; at last a second
    assert pace.seconds(192) == 1.5
    assert pace.next(3) == 3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("world", "place"),
    [
        ("broken-observation", "an observation"),
        ("broken-first-observation", "an observation"),
        ("broken-team", "the team's reward"),
        ("infinite-team", "the team's reward"),
        ("broken-agent", "an agent's reward"),
    ],
)
def test_a_world_that_is_not_finite_stops_training_and_is_named(nursery, tmp_path, world, place):
    out, log = tmp_path / "run", tmp_path / "log"
    for algorithm in ("ea", "td3") if world == "broken-observation" else ("ea",):
        command = [world, *options("rendezvous", algorithm)[1:], "--out", out, "--force", "--quiet"]
        assert nursery.run("train", *command, log=log) == 2
        said = log.read_text().splitlines()[-1]
        assert "Training stopped in generation 1" in said
        assert f"the world gave {place}" in said
        assert "there is no checkpoint yet" in said
    assert rows(out) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("algorithm", "settings", "place"),
    [
        ("td3", ["--td3.critic-rate", "1e30"], "critic_loss became"),
        # Two updates, of which the second one moves the actor: no loss has seen it yet.
        ("td3", ["--td3.actor-rate", "1e39", "--td3.updates-per-frame", "0.112"], "a weight in"),
    ],
)
def test_a_learner_that_explodes_stops_training_and_the_last_good_checkpoint_is_named(
    nursery, tmp_path, algorithm, settings, place
):
    out, log = tmp_path / "run", tmp_path / "log"
    command = [*options("rendezvous", algorithm), *settings, "--out", out, "--checkpoint-every", 0, "--quiet"]
    assert nursery.run("train", *command, log=log) == 2
    said, done = log.read_text().splitlines()[-1], len(rows(out))
    assert f"Training stopped in generation {done + 1}: {place}" in said
    good = f"the last good checkpoint is '{out / 'checkpoints' / str(done)}'"
    assert (good if done else "there is no checkpoint yet") in said


@pytest.mark.slow
@pytest.mark.parametrize("world", ["picky-team", "picky-observation"])
def test_a_broken_team_is_ranked_last_and_counted(nursery, tmp_path, world):
    out = tmp_path / "run"
    for algorithm in ("ea", "es"):
        command = [world, *options("rendezvous", algorithm)[1:], "--out", out, "--force", "--quiet"]
        code = nursery.run("train", *command, log=tmp_path / "log")
        found = rows(out)
        assert code == 0 or "champion_score became nan" in (tmp_path / "log").read_text()
        assert found
        for row in found:
            fitness = row["fitness"].split()
            assert fitness.count("nan") == int(row["broken_teams"]) < len(fitness)
    assert any(int(row["broken_teams"]) for row in found)
