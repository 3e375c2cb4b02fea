"""A score is the mean of fresh episodes, and the same seed gives every team the same ones."""

import dataclasses
import math
from pathlib import Path

import jax
import numpy as np
import pytest

from merlax import envs
from merlax.core import rollout
from merlax.core.networks import TeamPolicy
from merlax.core.players import PolicyPlayer
from merlax.core.rollout import Field
from merlax.runs import evaluation
from merlax.runs.reader import Run
from merlax.types import UserError
from tests.probes.darts import Darts
from tests.probes.episodes import Countdown
from tests.support.weights import weights


def player(env, seed=0) -> PolicyPlayer:
    return PolicyPlayer(weights(lambda key: TeamPolicy(key, env.sides[0], (4,)), seed))


def score(env, episodes, seed=0):
    return evaluation.evaluate(evaluation.evaluation_key(seed), Field(env), player(env), episodes)


def test_a_world_that_always_pays_the_same_has_that_score_without_doubt():
    found = score(Countdown(last=4), 3)
    assert (found.mean, found.interval95, found.episodes) == (1.0 + 2.0 + 3.0 + 4.0, 0.0, 3)
    assert str(found) == "10.000 ± 0.000"


def test_one_episode_has_no_interval():
    found = score(Countdown(last=4), 1)
    assert (found.interval95, found.episodes, str(found)) == (None, 1, "10.000")


@pytest.mark.parametrize("episodes", [23, 24])
def test_many_episodes_are_played_in_parts_and_are_the_same_as_at_once(episodes, monkeypatch):
    env = Darts("team")
    field, team, key = Field(env), player(env), evaluation.evaluation_key(3)
    at_once = rollout.play_test(jax.random.clone(key), field, team, episodes).fitness
    monkeypatch.setattr(evaluation, "STEPS_AT_ONCE", 6 * env.horizon)
    parts = list(evaluation.play(jax.random.clone(key), field, team, episodes))
    assert [part.size for part in parts] == [6, 6, 6, episodes - 18]
    np.testing.assert_allclose(np.concatenate(parts), at_once, rtol=1e-5)  # other batches round differently
    assert evaluation.evaluate(key, field, team, episodes).episodes == episodes


def test_the_longer_an_episode_the_fewer_are_played_at_once():
    parts = [evaluation.num_parts(Countdown(horizon=steps), 200) for steps in (10, 250, 500, 50_000, 10**7)]
    assert parts == [1, 1, 2, 200, 200]


def test_an_episode_that_never_ends_is_refused():
    with pytest.raises(UserError, match="has 2,000,000,000 steps; at most 10,000,000 can be played"):
        score(Countdown(horizon=2 * 10**9), 1)


def test_the_interval_is_that_of_the_mean():
    env = Darts("team")
    field, team = Field(env), player(env)
    found = evaluation.evaluate(evaluation.evaluation_key(3), field, team, 20)
    each = np.asarray(rollout.play_test(evaluation.evaluation_key(3), field, team, 20).fitness, np.float64)
    assert found.mean == pytest.approx(each.mean())
    assert found.interval95 == pytest.approx(1.96 * each.std(ddof=1) / math.sqrt(20))
    assert each.std() > 0


def test_the_same_seed_gives_the_same_episodes_and_another_one_others():
    env = Darts("team")
    assert score(env, 8, seed=1) == score(env, 8, seed=1) != score(env, 8, seed=2)


def test_evaluation_never_meets_the_instances_of_training():
    own = jax.random.key_data(evaluation.evaluation_key(5)).tolist()
    training = jax.random.key(5)
    assert own not in [jax.random.key_data(jax.random.fold_in(training, g)).tolist() for g in range(100)]


def test_with_the_same_seed_every_team_meets_the_same_instance():
    env = envs.make("rover-1", horizon=3)
    runs = [Run(Path(), {}, env, player(env, seed).policy) for seed in (0, 1)]
    one, other = (evaluation.trace(run, seed=4) for run in runs)
    np.testing.assert_array_equal(one.states.poi[0], other.states.poi[0])
    assert not np.array_equal(one.states.position[-1], other.states.position[-1])
    assert not np.array_equal(evaluation.trace(runs[0], seed=5).states.poi[0], one.states.poi[0])


@pytest.mark.parametrize("seed", [-1, 2**32])
def test_a_seed_that_jax_does_not_take_is_refused(seed):
    with pytest.raises(UserError, match=f"seed is {seed}"):
        evaluation.evaluation_key(seed)


@pytest.mark.parametrize("episodes", [0, 10**12])
def test_no_episodes_and_years_of_them_are_refused(episodes):
    evaluation.check_episodes(1)
    evaluation.check_episodes(evaluation.MOST_EPISODES)
    with pytest.raises(UserError, match=f"episodes is {episodes}; choose a whole number from 1 to 10,000,000"):
        evaluation.check_episodes(episodes)


def test_a_score_is_plain_data():
    assert dataclasses.asdict(evaluation.Score(0.5, 0.1, 10)) == {"mean": 0.5, "interval95": 0.1, "episodes": 10}
