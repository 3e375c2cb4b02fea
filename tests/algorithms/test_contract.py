"""What every algorithm promises; the registry feeds these tests, so a new algorithm is tested for free."""

import functools
import types

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.algorithms.tiny import make

from merlax import algorithms
from merlax.algorithms import Algorithm
from merlax.core import rollout
from merlax.core.networks import TeamPolicy
from merlax.types import UserError

every_algorithm = pytest.mark.parametrize("name", algorithms.names())


def copy(tree):
    return jax.tree.map(jnp.copy, tree)


def same(a, b):
    pairs = zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True)
    return all(np.array_equal(x, y, equal_nan=True) for x, y in pairs)


@functools.cache
def trained(name):
    """Two generations, as numbers that no later step uses up."""
    algorithm = make(name)
    fresh = algorithm.init(jax.random.key(0))
    experience = algorithm.explore(jax.random.key(1), fresh)
    first, metrics = algorithm.improve(jax.random.key(2), copy(fresh), experience)
    second, _ = algorithm.step(jax.random.key(3), copy(first))
    return types.SimpleNamespace(
        algorithm=algorithm, fresh=fresh, experience=experience, first=first, metrics=metrics, second=second
    )


@every_algorithm
def test_the_champion_plays_its_world(name):
    run = trained(name)
    env = run.algorithm.env
    for state in (run.fresh, run.first, run.second):
        champion = run.algorithm.champion(state)
        assert isinstance(champion, TeamPolicy)
        actions = champion(jnp.zeros((env.num_agents, env.obs_size)))
        assert actions.shape == (env.num_agents, env.act_size)
        assert (np.abs(actions) <= 1.0).all()


@every_algorithm
def test_a_generation_leaves_a_state_of_the_same_shape(name):
    run = trained(name)
    form = lambda state: jax.tree.map(lambda leaf: (leaf.shape, leaf.dtype, leaf.sharding), state)  # noqa: E731
    assert form(run.fresh) == form(run.first) == form(run.second)


@every_algorithm
def test_generations_are_compiled_once(name):
    run = trained(name)
    programs = lambda: (Algorithm._learn._cache_size(), Algorithm._rollouts._cache_size())  # noqa: E731
    state, before = copy(run.second), programs()
    for generation in range(3):
        state, _ = run.algorithm.step(jax.random.key(generation), state)
    assert programs() == before


@every_algorithm
def test_every_generation_learns(name):
    run = trained(name)
    assert not same(run.algorithm.players(run.fresh), run.algorithm.players(run.first))
    assert not same(run.algorithm.players(run.first), run.algorithm.players(run.second))
    assert int(run.metrics.get("updates", 1)) > 0


@every_algorithm
def test_the_same_key_gives_the_same_numbers_and_another_key_others(name):
    run = trained(name)
    again, other = (run.algorithm.init(jax.random.key(seed)) for seed in (0, 1))
    assert same(again, run.fresh)
    assert not same(run.algorithm.champion(other), run.algorithm.champion(run.fresh))
    again, other = (run.algorithm.step(jax.random.key(seed), copy(run.first))[0] for seed in (3, 4))
    assert same(again, run.second)
    assert not same(run.algorithm.players(other), run.algorithm.players(run.second))


@every_algorithm
def test_every_number_is_finite(name):
    run = trained(name)
    begins = run.algorithm.players(run.fresh), run.algorithm.champion(run.fresh)  # evosax knows no best team yet: nan
    for leaf in jax.tree.leaves((begins, run.first, run.second, run.metrics)):
        assert np.isfinite(leaf).all()


@every_algorithm
def test_frames_are_the_steps_really_played(name):
    run = trained(name)
    steps = sum(int(memory.valid.sum()) for _, memory in run.experience)
    episodes = sum(episode.frames.size for episode, _ in run.experience)
    assert episodes * run.algorithm.env.horizon == run.algorithm.frames_per_generation
    assert 3 * episodes <= steps <= 4 * episodes < run.algorithm.frames_per_generation
    assert int(run.metrics["frames"]) == steps


@every_algorithm
def test_the_champion_outlives_the_state_that_a_generation_uses_up(name):
    """As in `training.run`: the champion is fetched before the next generation takes the state's memory."""
    run = trained(name)
    state = copy(run.first)
    champion = jax.device_get(run.algorithm.champion(state))
    score = lambda: rollout.play_test(jax.random.key(5), run.algorithm.env, champion, 4).fitness  # noqa: E731
    before = np.asarray(score())
    run.algorithm.step(jax.random.key(6), state)
    np.testing.assert_array_equal(score(), before)
    assert same(champion, run.algorithm.champion(run.first))


@every_algorithm
def test_all_devices_take_part(name):
    run = trained(name)
    assert run.algorithm.mesh.size == jax.device_count() == 2
    for leaf in jax.tree.leaves(run.second):
        assert len(leaf.sharding.device_set) == 2


def test_a_name_that_no_algorithm_has_is_refused():
    with pytest.raises(UserError, match="did you mean 'merl'"):
        algorithms.check("merll")
