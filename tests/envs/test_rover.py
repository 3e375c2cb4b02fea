"""The rules of the rover domain, one by one."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from merlax.envs import Rover, RoverState
from merlax.envs.rover import sense

CLEAN = Rover(num_agents=3, num_poi=3, coupling=2)
RAW = dataclasses.replace(CLEAN, encoding="published")
PINNED = dataclasses.replace(CLEAN, speed="pinned", rover_start=((9.0, 9.0),) * 3, poi_start=((1.0, 1.0),) * 3)
STILL, AHEAD = (-1.0, 0.0), (1.0, 0.0)
ROVERS, POIS, SPEED, TURN = slice(1, 37), slice(37, 73), 73, 74  # columns of an observation
FAR = [(0.0, 19.0), (19.0, 19.0), (19.0, 0.0)]


def world(position, poi=FAR, *, observed=(False, False, False), time=0, speed=0.0, turn=0.0):
    return RoverState(
        position=jnp.array(position, jnp.float32),
        speed=jnp.full(len(position), speed),
        turn=jnp.full(len(position), turn),
        poi=jnp.array(poi, jnp.float32),
        observed=jnp.array(observed),
        time=jnp.array(time, jnp.int32),
    )


@functools.cache
def compiled(env):
    return jax.jit(env.step)


def step(env, state, action=STILL):
    action = jnp.broadcast_to(jnp.array(action), (env.num_agents, 2))
    return compiled(env)(jax.random.key(0), state, action)


def test_the_order_of_the_pois_changes_only_the_order_of_their_status():
    position, poi = [(9.0, 9.0), (10.0, 12.0), (2.0, 3.0)], np.array([(9.0, 10.0), (9.0, 17.0), (1.0, 1.0)])
    obs, state, reward, *ends, _ = step(RAW, world(position, poi), AHEAD)
    order = [2, 0, 1]
    obs_2, state_2, reward_2, *ends_2, _ = step(RAW, world(position, poi[order]), AHEAD)
    np.testing.assert_array_equal(obs, obs_2)
    np.testing.assert_array_equal(reward.agent, reward_2.agent)
    assert ends == ends_2
    assert state.observed.tolist() == [True, False, False]
    np.testing.assert_array_equal(state.observed[jnp.array(order)], state_2.observed)


def test_a_visit_in_the_last_step_does_not_count():
    late = world([FAR[0], FAR[0], (9.0, 9.0)], time=CLEAN.horizon - 1)
    _, state, reward, terminated, truncated, _ = step(CLEAN, late)
    assert state.observed.tolist() == [True, False, False]
    assert (bool(terminated), bool(truncated), float(reward.team)) == (False, True, 0.0)


def test_a_visit_in_the_last_step_but_one_counts():
    _, state, reward, _, truncated, _ = step(CLEAN, world([FAR[0], FAR[0], (9.0, 9.0)], time=CLEAN.horizon - 2))
    assert (bool(truncated), float(reward.team)) == (False, 0.0)
    _, _, reward, _, truncated, _ = step(CLEAN, state)
    assert (bool(truncated), float(reward.team)) == (True, pytest.approx(1 / 3))


def test_the_episode_ends_in_the_step_after_all_are_observed():
    state = world([FAR[0], FAR[0], (9.0, 9.0)], observed=(False, True, True))
    _, state, reward, terminated, _, _ = step(CLEAN, state)
    assert state.observed.all()
    assert (bool(terminated), float(reward.team)) == (False, 0.0)
    _, _, reward, terminated, truncated, _ = step(CLEAN, state)
    assert (bool(terminated), bool(truncated), float(reward.team)) == (True, False, 1.0)


def test_fewer_rovers_than_the_coupling_observe_nothing():
    _, state, *_ = step(CLEAN, world([FAR[0], (9.0, 9.0), (9.0, 9.0)]))
    assert not state.observed.any()


def test_the_observation_distance_itself_is_near_enough():
    (x, y), r = FAR[0], CLEAN.observation_distance
    _, state, *_ = step(CLEAN, world([(x + r, y), (x, y - r), (9.0, 9.0)]))
    assert state.observed[0]
    _, state, *_ = step(CLEAN, world([(x + r + 0.001, y), (x, y - r), (9.0, 9.0)]))
    assert not state.observed[0]


def test_an_observed_poi_is_invisible_and_stays_observed():
    position, observed = [(9.0, 9.0), (12.0, 9.0), (9.0, 14.0)], (True, False, False)
    obs, state, reward, *_ = step(RAW, world(position, [(9.0, 10.0), *FAR[1:]], observed=observed))
    elsewhere, _, reward_2, *_ = step(RAW, world(position, [(0.0, 3.0), *FAR[1:]], observed=observed))
    np.testing.assert_array_equal(obs, elsewhere)
    np.testing.assert_array_equal(reward.agent, reward_2.agent)
    assert state.observed.tolist() == [True, False, False]


def test_rovers_that_coincide_see_each_other_a_thousandth_away_in_sector_0():
    obs, *_ = step(RAW, world([(9.0, 9.0), (9.0, 9.0), (5.0, 5.0)], [(9.0, 9.0), *FAR[1:]]))
    np.testing.assert_allclose(obs[:2, ROVERS][:, 0], 1e6, rtol=1e-5)
    np.testing.assert_allclose(obs[:2, POIS][:, 0], 1e6, rtol=1e-5)


def test_a_rover_does_not_see_itself():
    alone = Rover(num_agents=1, num_poi=3, coupling=1, encoding="published")
    obs, *_ = step(alone, world([(9.0, 9.0)]))
    assert (obs[:, ROVERS] == -1.0).all()


def test_sectors_count_clockwise_from_the_y_axis():
    offset = jnp.array([[(0.0, 2.0), (2.0, 0.0), (0.0, -2.0), (-2.0, 0.0)]])
    channel = sense(offset, jnp.ones((1, 4), bool), 36)[0]
    assert np.flatnonzero(channel > 0).tolist() == [0, 9, 18, 27]


def test_the_nearest_target_of_a_sector_hides_the_others():
    offset = jnp.array([[(0.1, 2.0), (0.1, 1.0), (0.1, 4.0)]])
    np.testing.assert_allclose(sense(offset, jnp.ones((1, 3), bool), 36)[0, 0], 1 / 1.01, rtol=1e-6)


@pytest.mark.parametrize("dx", [-1e-6, -1e-9, -1e-12, -1e-30, -0.0])
def test_an_angle_a_hair_below_zero_stays_in_a_valid_sector(dx):
    channel = sense(jnp.array([[(dx, 1.0)]]), jnp.ones((1, 1), bool), 36)[0]
    assert np.flatnonzero(channel == 1.0).tolist() == [0 if dx == 0 else 35]
    assert (channel == -1.0).sum() == 35


def test_the_heading_turns_anticlockwise_from_the_x_axis():
    _, state, *_ = step(CLEAN, world([(9.0, 9.0)] * 3), (1.0, 1.0))
    np.testing.assert_allclose(state.position, [(9.0, 10.0)] * 3, atol=1e-6)


def test_free_speed_grows_to_1_and_never_shrinks():
    _, state, *_ = step(CLEAN, world([(9.0, 9.0)] * 3), (-0.5, 0.0))
    np.testing.assert_allclose(state.speed, 0.25)
    _, state, *_ = step(CLEAN, state, (-1.0, 0.0))
    np.testing.assert_allclose(state.speed, 0.25)
    _, state, *_ = step(CLEAN, state, (1.0, 0.0))
    np.testing.assert_allclose(state.speed, 1.0)


def test_pinned_speed_reads_0_at_reset_and_a_half_after_whatever_the_action():
    obs, state = jax.jit(PINNED.reset)(jax.random.key(0))
    assert (obs[:, SPEED] == 0.0).all()
    for throttle in (-1.0, 1.0):
        obs, state, *_ = step(PINNED, state, (throttle, 0.3))
        assert (obs[:, SPEED] == 0.5).all()


def test_actions_beyond_the_limits_are_clipped():
    for wild, tame in [((5.0, 3.0), (1.0, 1.0)), ((-5.0, -3.0), (-1.0, -1.0))]:
        beyond = step(CLEAN, world([(9.0, 9.0)] * 3, speed=0.5), wild)
        within = step(CLEAN, world([(9.0, 9.0)] * 3, speed=0.5), tame)
        jax.tree.map(np.testing.assert_array_equal, beyond, within)


def test_the_turn_is_never_wrapped_and_its_clean_form_is():
    published, *_ = step(RAW, world([(9.0, 9.0)] * 3, turn=2.75), (-1.0, 1.0))
    assert (published[:, TURN] == 3.25).all()
    clean, *_ = step(CLEAN, world([(9.0, 9.0)] * 3, turn=2.75), (-1.0, 1.0))
    np.testing.assert_allclose(clean[:, -2:], [(-np.sqrt(0.5), -np.sqrt(0.5))] * 3, atol=1e-5)


def test_the_agent_reward_is_the_nearness_of_the_nearest_poi_left():
    _, _, reward, *_ = step(CLEAN, world([(0.0, 13.0), (0.0, 17.0), (300.0, 0.0)]))
    np.testing.assert_allclose(reward.agent, [0.5, 1.0, 3.0 / 40.0], rtol=1e-6)


def test_the_agent_reward_is_that_of_two_sides_when_none_is_left():
    _, _, reward, *_ = step(CLEAN, world([FAR[0]] * 3, observed=(True, True, True)))
    np.testing.assert_allclose(reward.agent, 3.0 / 40.0, rtol=1e-6)
