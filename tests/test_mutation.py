"""Mutation: how many weights change, and by how much."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from merlax.core import evolution
from merlax.core.evolution import EvolutionConfig

CONFIG = EvolutionConfig()
PLAIN = dataclasses.replace(CONFIG, mutation_fraction=1.0, super_probability=0.0, reset_probability=0.0)


@functools.cache
def mutator(config):
    return jax.jit(lambda seed, genome: evolution.mutate(jax.random.key(seed), genome, config))


def mutated(config, value=100.0, size=50_000):
    """What became of many weights of the same value."""
    return np.asarray(mutator(config)(0, {"w": jnp.full(size, value)})["w"])


def test_mutation_changes_the_given_share_of_the_weights():
    assert (mutated(CONFIG) != 100.0).mean() == pytest.approx(0.1, abs=0.006)


def test_a_plain_mutation_has_the_given_strength():
    change = mutated(PLAIN) - 100.0
    assert change.std() == pytest.approx(0.1, rel=0.02)
    assert abs(change.mean()) < 0.002


def test_a_super_mutation_is_its_factor_times_as_strong():
    every = dataclasses.replace(PLAIN, super_probability=1.0)
    assert (mutated(every) - 100.0).std() == pytest.approx(1.0, rel=0.02)


def test_super_mutations_hit_their_share_of_the_mutated_weights():
    some = dataclasses.replace(PLAIN, super_probability=0.05, super_factor=1e4)
    assert (np.abs(mutated(some) - 100.0) > 1.0).mean() == pytest.approx(0.05, abs=0.005)


def test_a_reset_draws_from_the_normal_distribution_whatever_the_weight_was():
    every = dataclasses.replace(PLAIN, reset_probability=1.0)
    drawn = mutated(every)
    assert (drawn.mean(), drawn.std()) == (pytest.approx(0.0, abs=0.02), pytest.approx(1.0, rel=0.02))


def test_resets_hit_their_share_of_the_mutated_weights():
    drawn = mutated(CONFIG)
    assert (drawn[drawn != 100.0] < 50.0).mean() == pytest.approx(0.05, abs=0.012)


def test_equal_leaves_receive_different_noise():
    genome = {"a": jnp.zeros((3, 5)), "b": jnp.zeros((3, 5))}
    changed = mutator(PLAIN)(0, genome)
    assert (changed["a"] != changed["b"]).all()


def test_a_team_is_mutated_with_the_given_probability():
    rarely = dataclasses.replace(PLAIN, mutation_probability=0.3)
    maybe = jax.jit(jax.vmap(lambda seed: evolution.maybe_mutate(jax.random.key(seed), jnp.zeros(4), rarely)))
    teams = np.asarray(maybe(np.arange(5000)))
    assert ((teams != 0).all(axis=1) | (teams == 0).all(axis=1)).all()
    assert (teams != 0).all(axis=1).mean() == pytest.approx(0.3, abs=0.03)
