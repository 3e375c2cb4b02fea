"""The evolution strategy over the gains of a team's inputs."""

import dataclasses
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from merlax.core.evolution import tuning
from merlax.core.evolution.tuning import Tuning
from merlax.envs.base import Side

SIDE = Side.equal(4, obs_size=10, act_size=2)
TUNING = Tuning(pairs=200, rate=0.4, halving=10.0)
RING = 8  # inputs 0 to 7; 8 is noise, and 9 never changes

start = jax.jit(lambda key: TUNING.start(key, SIDE))
spread = jax.jit(tuning.spread, static_argnums=1)
foretell = jax.jit(tuning.foretell, static_argnums=2)


@partial(jax.jit, static_argnums=0)
def tell(config, key, state, fitness, seen):
    return config(key, config.watch(state, *seen), fitness)


def walks(episodes=20, time=30):
    """Something moves around a ring of inputs, one place at a time."""
    rng = np.random.default_rng(0)
    place = rng.integers(RING, size=(episodes, 1, 4)) + np.cumsum(rng.choice([-1, 0, 1], (episodes, time, 4)), axis=1)
    obs = np.concatenate(
        [np.eye(RING)[place % RING], rng.normal(size=(*place.shape, 1)), np.ones((*place.shape, 1))], -1
    )
    return jnp.array(obs, jnp.float32), jnp.ones((episodes, time), bool)


def test_neighbours_on_a_ring_are_found_by_what_is_seen():
    near = np.asarray(tuning.neighbours(foretell(*walks(), 3)))
    ring = {(i, (i + 1) % RING) for i in range(RING)}
    assert {tuple(sorted(pair)) for pair in zip(*np.nonzero(near), strict=True)} == {tuple(sorted(p)) for p in ring}


def test_what_comes_after_an_episodes_end_tells_nothing():
    obs, valid = walks()
    valid = valid.at[:, 20:].set(False)
    spoilt = obs.at[:, 20:].set(7.0)
    np.testing.assert_allclose(foretell(spoilt, valid, 3), foretell(obs, valid, 3), atol=1e-6)


def test_noise_spreads_over_neighbours_and_keeps_its_variance():
    mixing = np.asarray(spread(foretell(*walks(), 3), 2.0))
    np.testing.assert_allclose((mixing**2).sum(axis=1), 1.0, rtol=1e-5)
    shared = mixing @ mixing.T
    assert shared[0, 1] > shared[0, 2] > shared[0, 4]
    assert shared[0, 1] > 0.8
    np.testing.assert_allclose(mixing[8], np.eye(10)[8], atol=1e-6)
    np.testing.assert_allclose(spread(foretell(*walks(), 3), 0.0), np.eye(10), atol=1e-6)


def test_agents_of_a_role_are_perturbed_alike():
    noise = start(jax.random.key(0)).noise
    assert noise.shape == (200, 4, 10)
    assert (noise[:, 0] == noise[:, 1]).all()
    assert (noise[:, 2] == noise[:, 3]).all()
    assert abs(float(jnp.mean(noise[:, 0] * noise[:, 2]))) < 0.1
    assert float(noise.std()) == pytest.approx(1.0, abs=0.05)


def test_pairs_are_mirrored_around_the_mean():
    state = start(jax.random.key(0))
    plus, minus = jnp.split(TUNING.teams(state), 2)
    np.testing.assert_allclose((plus + minus) / 2.0, jnp.broadcast_to(state.gain, plus.shape), atol=1e-6)


def generation(state, fitness, config=TUNING, seed=1):
    return tell(config, jax.random.key(seed), state, fitness, walks())


def test_the_mean_moves_to_where_fitness_rises():
    state = start(jax.random.key(0))
    for seed in range(20):
        gains = TUNING.teams(state)
        state = generation(state, gains[:, 0, 0] - gains[:, 3, 8], seed=seed)
    assert (state.gain[:2, 0] > 0.3).all()
    assert (state.gain[2:, 8] < -0.3).all()
    assert abs(float(state.gain[2, 4])) < 0.3


@pytest.mark.slow
@pytest.mark.parametrize("fitness", [jnp.ones(400), jnp.full(400, jnp.nan)])
def test_equal_or_broken_pairs_move_nothing(fitness):
    state = generation(start(jax.random.key(0)), fitness)
    assert (state.gain == 0.0).all()


def test_the_size_of_fitness_does_not_matter():
    state = start(jax.random.key(0))
    fitness = TUNING.teams(state)[:, 0, 0]
    np.testing.assert_allclose(generation(state, 100.0 * fitness).gain, generation(state, fitness).gain, rtol=1e-4)


def test_steps_become_smaller():
    state = start(jax.random.key(0))
    fitness = TUNING.teams(state)[:, 0, 0]
    later = dataclasses.replace(state, generations=jnp.array(10, jnp.int32))
    np.testing.assert_allclose(2.0 * generation(later, fitness).gain, generation(state, fitness).gain, rtol=1e-5)


def test_nothing_is_tuned_before_its_time():
    config = Tuning(pairs=200, after=2)
    state = start(jax.random.key(0))
    for expected in (False, False, True):
        assert bool(config.active(state)) is expected
        state = generation(state, TUNING.teams(state)[:, 0, 0], config)
        assert bool((state.gain != 0.0).any()) is expected
