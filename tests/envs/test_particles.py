"""The physics that the particle worlds share, and what holds in all of them, at every size."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from merlax.envs import KeepAway, PhysicalDeception, PredatorPrey, Side, make, particles, rules
from merlax.envs.diagnosis import History
from tests.support.particles import WORLDS, after, at_random, play, sized, state_of

every_world = pytest.mark.parametrize("name", WORLDS)


def test_positions_move_with_the_old_velocity_and_velocities_lose_a_quarter():
    state = particles.advance(state_of([(0.0, 0.0)], [(1.0, -2.0)]), jnp.array([(3.0, 0.0)]))
    np.testing.assert_allclose(state.position, [(0.1, -0.2)], rtol=1e-6)
    np.testing.assert_allclose(state.velocity, [(0.75 + 0.3, -1.5)], rtol=1e-6)
    assert int(state.time) == 1


def test_a_top_speed_slows_a_body_without_turning_it():
    state = state_of([(0.0, 0.0), (0.0, 0.0)], [(3.0, 4.0), (0.3, 0.4)])
    state = particles.advance(state, jnp.zeros((2, 2)), jnp.array([1.0, 1.0]))
    np.testing.assert_allclose(state.velocity, [(0.6, 0.8), (0.225, 0.3)], rtol=1e-6)


def test_bodies_that_touch_push_each_other_apart_equally():
    position = jnp.array([(0.0, 0.0), (0.06, 0.0), (2.0, 2.0)])
    force = particles.contact(position, position, jnp.full(3, 0.1))
    assert force[0, 0] < -1.0
    np.testing.assert_array_equal(force[1], -force[0])
    np.testing.assert_array_equal(force[2], (0.0, 0.0))


def test_every_body_sees_all_others_in_their_order():
    position = jnp.array([(0.0, 0.0), (1.0, 0.0), (0.0, 5.0)])
    seen = particles.others(position)
    np.testing.assert_array_equal(seen, [(1, 0, 0, 5), (-1, 0, -1, 5), (0, -5, 1, -5)])


def test_the_target_is_where_its_landmark_is():
    landmark = ((0.3, 0.2), (-0.4, 0.6), (0.9, -0.1))
    for target, point in enumerate(landmark):
        state = state_of([(0.0, 0.0)], landmark=landmark, target=target)
        np.testing.assert_array_equal(particles.target_position(state), jnp.array(point))


def test_a_body_that_is_steered_once_and_then_let_go_comes_to_rest_at_its_goal():
    state, goal = state_of([(0.2, -0.1)], [(0.1, 0.3)]), jnp.array([0.33, 0.11])
    action = particles.steer(state, 0, goal, 5.0)
    assert np.abs(action).max() < 1.0
    state = particles.advance(state, 5.0 * action[None])
    for _ in range(60):
        state = particles.advance(state, jnp.zeros((1, 2)))
    np.testing.assert_allclose(state.position[0], goal, atol=1e-5)


@every_world
def test_a_world_has_a_rule_for_each_side_and_the_teams_sees_no_more_than_the_team(name):
    team, opponent = (rules.of(make(name), side)["scripted"] for side in (0, 1))
    assert (team.sees, opponent.sees) == ("observations", "state")


def test_agents_far_from_what_they_are_after_are_lost():
    state = state_of([(0.0, 0.0)])
    history = History(jax.tree.map(lambda leaf: leaf[None], state), jnp.zeros((2, 2, 2)), jnp.zeros((2, 2)),
                      jnp.ones(2, bool))  # fmt: skip
    distance = jnp.array([[0.5, 3.0], [0.4, 3.0], [0.2, 0.9]])
    nearest, farthest, each, lost = particles.approach(history, distance, "it")
    np.testing.assert_allclose(nearest.value, [0.5, 0.4, 0.2])
    np.testing.assert_allclose(farthest.value, [3.0, 3.0, 0.9])
    np.testing.assert_allclose(each.value.mean(axis=0), [1.1 / 3, 2.3])
    np.testing.assert_allclose(lost.value.mean(axis=0), [0.0, 0.5])


@every_world
def test_a_named_world_keeps_the_contract_of_a_contest(name):
    env = make(name)
    assert hash(env) == hash(make(name))
    (first, _), steps, actions = play(env, jnp.arange(3), at_random)
    for side, space in enumerate(env.sides):
        agents = space.num_agents
        assert first[side].shape == (3, agents, space.obs_size)
        assert steps.obs[side].shape == (3, env.horizon, agents, space.obs_size)
        assert steps.reward[side].team.shape == (3, env.horizon)
        assert steps.reward[side].agent.shape == (3, env.horizon, agents)
        assert actions[side].shape == (3, env.horizon, agents, space.act_size)
    assert not steps.terminated.any()
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves((first, steps.obs, steps.reward, actions)))


def test_the_named_worlds_have_the_published_sizes():
    assert {name: make(name).sides for name in WORLDS} == {
        "predator-prey": (Side.equal(3, 16, 2), Side.equal(1, 14, 2)),
        "predator-prey-hard": (Side.equal(3, 16, 2), Side.equal(1, 14, 2)),
        "physical-deception": (Side.equal(2, 10, 2), Side.equal(1, 8, 2)),
        "keep-away": (Side.equal(2, 21, 2), Side.equal(1, 10, 2)),
    }


@pytest.mark.slow
@pytest.mark.parametrize("size", [2, 3, 5])
@pytest.mark.parametrize("kind", [PredatorPrey, PhysicalDeception, KeepAway])
def test_observations_of_both_sides_grow_with_the_world(kind, size):
    env = sized(kind, size)
    positions = 2 * size + 2 * size  # landmarks and others
    team, opponent = {
        PredatorPrey: (4 + positions + 2, 4 + positions),
        PhysicalDeception: (2 + positions, positions),
        KeepAway: (4 + positions + max(3, size + 1) * (1 + size), 2 + positions),
    }[kind]
    assert env.sides == (Side.equal(size, team, 2), Side.equal(1, opponent, 2))
    obs, _ = env.reset(jax.random.key(0))
    assert [side.shape for side in obs] == [(size, team), (1, opponent)]


@pytest.mark.slow
@every_world
def test_everything_starts_at_rest_all_over_its_square(name):
    env = make(name)
    _, state = jax.vmap(env.reset)(jax.random.split(jax.random.key(1), 4000))
    side = 0.9 if isinstance(env, PredatorPrey) else 1.0
    for place, limit in ((state.position, 1.0), (state.landmark, side)):
        assert np.abs(place).max() <= limit
        assert np.abs(place).max() > 0.999 * limit
        np.testing.assert_allclose(np.mean(place, axis=0), 0.0, atol=0.06)
        np.testing.assert_allclose(np.std(place, axis=0), limit / np.sqrt(3), rtol=0.05)
    assert not state.velocity.any()
    assert not state.time.any()


@pytest.mark.parametrize("kind", [PhysicalDeception, KeepAway])
def test_every_landmark_is_the_target_equally_often(kind):
    _, state = jax.vmap(sized(kind, 5).reset)(jax.random.split(jax.random.key(2), 5000))
    share = np.bincount(np.asarray(state.target), minlength=5) / 5000
    np.testing.assert_allclose(share, 0.2, atol=0.03)


@pytest.mark.slow
@every_world
def test_an_episode_is_truncated_at_its_horizon_only(name):
    env = make(name, horizon=7)
    _, steps, _ = play(env, jnp.arange(2), at_random)
    np.testing.assert_array_equal(steps.truncated, np.broadcast_to(np.arange(1, 8) == 7, (2, 7)))
    np.testing.assert_array_equal(steps.state.time[0], np.arange(1, 8))
    assert not steps.terminated.any()


@every_world
def test_actions_beyond_their_range_count_as_its_limit(name):
    env = make(name)
    _, state = env.reset(jax.random.key(3))
    team = env.sides[0].num_agents, 1
    wild = after(env, state, np.tile([[3.0, -7.0]], team), [(-9.0, 2.0)]).state
    tame = after(env, state, np.tile([[1.0, -1.0]], team), [(-1.0, 1.0)]).state
    np.testing.assert_array_equal(wild.velocity, tame.velocity)


@pytest.mark.parametrize("kind", [PredatorPrey, KeepAway])
def test_bodies_in_the_same_place_do_not_make_nan(kind):
    state = state_of(np.zeros((4 if kind is PredatorPrey else 3, 2)), landmark=np.zeros((2, 2)))
    step = after(kind(), state)
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves((step.obs, step.state, step.reward)))
