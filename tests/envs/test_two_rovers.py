"""The motivating example: who reaches what, and when."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from merlax.envs import make, two_rovers
from merlax.types import UserError
from tests.support.steering import head_for, head_for_nearest

ENV = two_rovers()
AWAY = (100.0, 10.0)
FIRST, SECOND = POIS = ((1.0, 1.0), (1.0, 18.0))


@functools.cache
def play(policy):
    def one_step(state, target):
        _, state, reward, terminated, truncated, info = ENV.step(jax.random.key(0), state, policy(state, target))
        return state, (reward.team, terminated, truncated, info["observed"])

    def episode(target):
        state = ENV.reset(jax.random.key(0))[1]
        return jax.lax.scan(one_step, state, jnp.broadcast_to(target, (ENV.horizon, *target.shape)))[1]

    return jax.jit(episode)


def straight(*targets):
    return jax.tree.map(np.asarray, play(head_for)(jnp.array(targets)))


@pytest.mark.parametrize(("rover", "poi", "steps"), [(0, 0, 21), (0, 1, 19), (1, 1, 24)])
def test_a_straight_line_observes_at_the_earliest_step(rover, poi, steps):
    targets = [AWAY, AWAY]
    targets[rover] = POIS[poi]
    observed = straight(*targets)[-1]
    assert observed[:, poi].argmax() + 1 == steps
    assert not observed[:, 1 - poi].any()


def test_the_second_rover_cannot_reach_the_first_poi():
    assert not straight(AWAY, FIRST)[-1].any()


def test_sharing_the_pois_pays_everything_and_ends_the_episode():
    team, terminated, truncated, _ = straight(FIRST, SECOND)
    assert terminated.argmax() + 1 == 25
    assert team[24] == 1.0
    assert not truncated[:25].any()


def test_heading_for_the_nearest_poi_is_a_trap():
    team, terminated, truncated, _ = jax.tree.map(
        np.asarray, play(lambda state, _: head_for_nearest(state))(jnp.zeros((2, 2)))
    )
    assert not terminated.any()
    assert truncated.tolist() == [False] * 29 + [True]
    assert team[-1] == 0.5


def test_the_world_has_a_name_and_takes_options():
    assert make("two-rovers") == ENV
    assert ENV.poi_start == POIS
    assert two_rovers(horizon=9) == dataclasses.replace(ENV, horizon=9)


def test_nothing_is_random():
    reset = jax.jit(ENV.reset)
    first, second = (reset(jax.random.key(seed)) for seed in (0, 1))
    jax.tree.map(np.testing.assert_array_equal, first, second)


@pytest.mark.parametrize("nearer", [0.0, 0.5, 4.0, 5.0])
def test_the_wrong_poi_is_as_much_nearer_as_is_asked(nearer):
    env = two_rovers(nearer=nearer)
    rovers, pois = env.reset(jax.random.key(0))[1].position, np.array(POIS)
    right, wrong = np.linalg.norm(np.asarray(rovers[0]) - pois, axis=1)
    assert right - wrong == pytest.approx(nearer, abs=1e-5)
    np.testing.assert_array_equal(rovers[1], [14.0, 17.0])
    assert right - 0.5 < 0.5 * (env.horizon - 1)  # even with the smallest distance of the map, it can be reached


def test_knobs_are_fields_like_all_others_and_exclude_each_other(unchecked):
    env = two_rovers(nearer=2.0)
    assert dataclasses.replace(env, nearer=None).start == ENV.start == ((9.0, 10.0), (14.0, 17.0))
    assert dataclasses.replace(env, nearer=1.0).start != env.start
    with pytest.raises(UserError, match="leave out rover_start"):
        two_rovers(nearer=1.0, rover_start=((8.0, 8.0), (9.0, 9.0)))
    with pytest.raises(UserError, match="nearer is 6"):
        two_rovers(nearer=6.0)
