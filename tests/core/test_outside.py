"""Rollouts of a world outside JAX are like those of any other."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import merlax
from merlax import TeamPolicy
from merlax.core import outside as playing
from merlax.core import rollout
from merlax.core.played import Field
from merlax.core.players import Gallery, PolicyPlayer
from merlax.envs import outside
from merlax.envs.adapters import workers
from merlax.types import UserError

pytest.importorskip("pettingzoo")


@pytest.fixture(autouse=True, scope="module")
def no_worker_is_left():
    yield
    workers.stop()


def signals(**options):
    return merlax.make("pettingzoo:tests.probes.signals:make", team="sum", **options)


def teams(env, number=3):
    return jax.vmap(lambda key: TeamPolicy(key, env.sides[0], (8,)))(jax.random.split(jax.random.key(0), number))


def test_rollouts_have_the_shapes_that_the_programs_expect():
    env, keys = signals(workers=2), jax.random.split(jax.random.key(1), (3, 2))
    noise = jnp.array([0.0, 0.5])
    played = rollout.play_population(keys, Field(env), teams(env), noise)
    shadow = Field(outside.traceable(env))
    expected = jax.eval_shape(lambda: rollout.play_population(keys, shadow, teams(env), noise))
    shapes = lambda tree: jax.tree.map(lambda leaf: (leaf.shape, leaf.dtype), tree)  # noqa: E731
    assert shapes(played) == shapes(expected)


def test_results_do_not_depend_on_the_number_of_workers():
    keys = jax.random.split(jax.random.key(1), (3, 2))
    one, two = (
        rollout.play_population(jax.random.clone(keys), Field(env), teams(env), jnp.array([0.0, 0.5]))
        for env in (signals(workers=1), signals(workers=2))
    )
    for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(two), strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_transition_is_what_an_agent_lived_through():
    env = signals(workers=1)
    (moved,) = rollout.play_team(jax.random.split(jax.random.key(1), 1), Field(env), player(env), 0.3).transitions
    own = jax.tree.map(lambda leaf: np.asarray(leaf)[0], moved)
    np.testing.assert_array_equal(own.obs[1:3], own.next_obs[:2])
    assert own.present.tolist() == [[True, True]] * 3 + [[True, False]]
    assert own.terminated[:, 1].tolist() == [False, False, True, False]
    assert not own.obs[3, 1].any()
    paid = own.agent_reward.sum(axis=1)
    np.testing.assert_allclose(own.team_reward[:, 0], paid, rtol=1e-6)
    assert own.team_reward[3, 1] == 0.0


def player(env):
    return PolicyPlayer(TeamPolicy(jax.random.key(0), env.sides[0], (8,)))


def test_gains_are_played_only_while_they_are_tuned():
    env = signals(workers=1)
    gains = jax.random.normal(jax.random.key(2), (4, 2, env.sides[0].obs_size))
    keys = jax.random.split(jax.random.key(3), 4)
    policy = player(env).policy
    played, idle = (
        rollout.play_gains(jax.random.clone(keys), Field(env), policy, gains, jnp.array(active))
        for active in (True, False)
    )
    assert played.episode.frames.tolist() == [4] * 4
    assert idle.episode.frames.tolist() == [0] * 4


def test_episodes_outside_are_played_by_the_newest_opponent_or_an_earlier_one():
    env = signals()
    gallery = Gallery(player(env).policy, teams(env))
    keys = jax.random.split(jax.random.key(3), 60)
    candidates, turns = playing._candidates(gallery, keys)
    assert len(candidates) == 1 + jax.tree.leaves(gallery.earlier)[0].shape[0]
    assert set(turns) == set(range(len(candidates)))
    assert 15 < turns.count(0) < 45  # half of them


def test_a_trace_has_the_worlds_own_pictures():
    env = signals(workers=1)
    trace = rollout.trace(jax.random.key(1), Field(env), player(env))
    assert trace.states["frame"].shape == (5, 20, 30, 3)
    keys = jax.random.key(1)[None]
    assert float(trace.score) == pytest.approx(float(rollout.play_instances(keys, Field(env), player(env)).fitness[0]))


def test_what_looks_into_the_state_is_refused():
    env = signals()
    with pytest.raises(UserError, match="outside JAX"):
        rollout.history(jax.random.key(0), Field(env), player(env))
