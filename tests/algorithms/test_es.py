"""ES: what is its own beside the contract."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from merlax.algorithms import Es, Game, Seat
from merlax.core.rollout import Field
from merlax.types import UserError
from tests.probes.darts import Darts
from tests.support.trees import copy

pytestmark = pytest.mark.slow  # evosax is imported and compiled

ES = Es(population=30, fitness_episodes=4, rate=0.05, actor_hidden=(16,))
ENV = Darts("team")


@pytest.fixture(scope="module")
def state():
    return Game(ENV, ES).init(jax.random.key(0)).team


def mean(state):
    return ravel_pytree(ES.champion(state))[0]


def around(state):
    """Every team's way from the champion [pop, weight]."""
    return np.asarray(jax.vmap(lambda team: ravel_pytree(team)[0])(state.population) - mean(state)[None])


def told(state, fitness):
    """The state after a generation in which the teams had this fitness [pop]."""
    seat = Seat(ENV)
    (played,) = jax.jit(lambda key, players: ES.play(key, players, Field(ENV)))(jax.random.key(1), ES.players(state))
    episodes = jnp.broadcast_to(jnp.asarray(fitness, jnp.float32)[:, None], played.episode.fitness.shape)
    played = dataclasses.replace(played, episode=dataclasses.replace(played.episode, fitness=episodes))
    learn = jax.jit(lambda key, state, rollouts: ES.learn(key, state, rollouts, seat))
    return learn(jax.random.key(2), copy(state), (played,))


def test_the_champion_of_es_is_the_mean_of_its_teams(state):
    np.testing.assert_allclose(around(state).mean(axis=0), 0.0, atol=1e-5)


def test_the_teams_of_es_are_mirrored_around_the_champion_at_sigma(state):
    ways = around(state)
    for way in ways:
        assert np.abs(ways + way[None]).max(axis=1).min() < 1e-5  # somebody is its mirror image
    assert ways.std() == pytest.approx(ES.sigma, rel=0.1)


def test_es_refuses_an_odd_population():
    with pytest.raises(UserError, match="population is 9; make it even"):
        Es(population=9)


@pytest.mark.slow
def test_es_moves_its_mean_towards_the_fitter_teams(state):
    alone = np.zeros(ES.population)
    alone[0] = 1.0  # team 0 is the fittest
    after, _ = told(state, alone)
    assert (mean(after) - mean(state)) @ around(state)[0] > 0


@pytest.mark.slow
def test_a_team_that_broke_counts_like_the_worst(state):
    fitness = np.linspace(0.0, 1.0, ES.population)
    broken = fitness.copy()
    broken[0] = np.nan
    after, info = told(state, broken)
    worst = fitness.copy()
    worst[0] = fitness[1]
    expected, _ = told(state, worst)
    np.testing.assert_array_equal(mean(after), mean(expected))
    assert int(info.broken_teams) == 1
