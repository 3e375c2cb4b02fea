"""EA and ES: what is their own beside the contract."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree
from tests.algorithms.tiny import make
from tests.weights import weights

from merlax.algorithms import EsConfig
from merlax.core import evolution
from merlax.types import UserError


def test_ea_keeps_no_slot_for_a_migrant():
    ea = make("ea")
    config, state = ea.config.evolution, weights(ea.start)

    def winners(migrants):
        args = jax.random.key(0), state.population, state.record, jnp.zeros(config.population), config
        return jax.eval_shape(lambda: evolution.advance(*args, migrants=migrants)).selection.winners.shape

    assert winners(migrants=0) == (config.population - config.elites,)
    assert winners(migrants=1) == (config.population - config.elites - 1,)
    experience = jax.eval_shape(lambda: ea.rollouts(jax.random.key(0), ea.players(state), None))
    after, _ = jax.eval_shape(ea.learn, jax.random.key(0), state, experience)
    assert after.population.heads.bias.shape == state.population.heads.bias.shape


@pytest.fixture(scope="module")
def es():
    es = make("es")
    return es, es.init(jax.random.key(0))


def around(es, state):
    """Every team's way from the champion [pop, weight]."""
    flatten = lambda team: ravel_pytree(team)[0]  # noqa: E731
    return np.asarray(jax.vmap(flatten)(state.population) - flatten(es.champion(state))[None])


def test_the_champion_of_es_is_the_mean_of_its_teams(es):
    np.testing.assert_allclose(around(*es).mean(axis=0), 0.0, atol=1e-5)


def test_the_teams_of_es_are_mirrored_around_the_champion_at_sigma(es):
    ways = around(*es)
    for way in ways:
        assert np.abs(ways + way[None]).max(axis=1).min() < 1e-5  # somebody is its mirror image
    assert ways.std() == pytest.approx(es[0].config.sigma, rel=0.1)


def test_es_refuses_an_odd_population():
    with pytest.raises(UserError, match="population is 9; make it even"):
        EsConfig(population=9)


def test_es_moves_its_mean_towards_the_fitter_teams(es):
    es, state = es
    way = around(es, state)[0]
    ((episode, memory),) = es.explore(jax.random.key(1), state)
    alone = np.zeros(episode.fitness.shape, np.float32)
    alone[0] = 1.0  # team 0 is the fittest
    experience = ((dataclasses.replace(episode, fitness=jnp.array(alone)), memory),)
    after, _ = es.improve(jax.random.key(2), jax.tree.map(jnp.copy, state), experience)
    moved = ravel_pytree(es.champion(after))[0] - ravel_pytree(es.champion(state))[0]
    assert moved @ way > 0
