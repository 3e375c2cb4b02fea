"""The particle worlds agree with mpe2, step by step, wherever docs/worlds.md does not say that they differ."""

import functools
import importlib.metadata

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from merlax.envs import ParticleState, PredatorPrey, base
from tests.support.mpe2_reference import PAIRS, record

pytestmark = pytest.mark.slow

ONE_STEP = 2e-6  # single precision against double, after one step from the same state
EPISODE = 3e-4  # and during a whole episode, in which stiff contacts magnify what was lost

every_world = pytest.mark.parametrize("name", PAIRS)
predator_prey = pytest.mark.parametrize("name", [name for name in PAIRS if name.startswith("predator-prey")])
deception = pytest.mark.parametrize("name", [name for name in PAIRS if name.startswith("physical-deception")])
keep_away = pytest.mark.parametrize("name", [name for name in PAIRS if name.startswith("keep-away")])


def sides(env, bodies):
    """What belongs to the team, and what to the opponent, of an axis over bodies in mpe2's order."""
    return (
        (slice(0, bodies - 1), slice(bodies - 1, None))
        if isinstance(env, PredatorPrey)
        else (slice(1, None), slice(0, 1))
    )


def begin(position, velocity, landmark, target):
    position, velocity, landmark = (jnp.asarray(x, jnp.float32) for x in (position, velocity, landmark))
    return ParticleState(position, velocity, landmark, jnp.asarray(target, jnp.int32), jnp.zeros((), jnp.int32))


@functools.cache
def steps(name):
    """Each step of the recording, replayed by itself from mpe2's state before it: a `Step` of [episode, time, ...]."""
    env, recorded = PAIRS[name][0](), record(name)
    team, opponent = sides(env, recorded.action.shape[2])

    def step(position, velocity, landmark, target, action):
        state = begin(position, velocity, landmark, target)
        return base.step(env, jax.random.key(0), state, (action[team], action[opponent]))

    over_time = jax.vmap(step, in_axes=(0, 0, None, None, 0))
    position, velocity = (x[:, :-1].astype(np.float32) for x in (recorded.position, recorded.velocity))
    args = position, velocity, recorded.landmark.astype(np.float32), recorded.target, recorded.action
    return jax.tree.map(np.asarray, jax.jit(jax.vmap(over_time))(*args))


@functools.cache
def episodes(name):
    """The recording's episodes, replayed from their first state: a `Step` of [episode, time, ...]."""
    env, recorded = PAIRS[name][0](), record(name)
    team, opponent = sides(env, recorded.action.shape[2])

    def episode(position, landmark, target, actions):
        def step(state, action):
            after = base.step(env, jax.random.key(0), state, (action[team], action[opponent]))
            return after.state, after

        return jax.lax.scan(step, begin(position, jnp.zeros_like(position), landmark, target), actions)[1]

    places = recorded.position[:, 0].astype(np.float32), recorded.landmark.astype(np.float32)
    return jax.tree.map(np.asarray, jax.jit(jax.vmap(episode))(*places, recorded.target, recorded.action))


def touches(recorded):
    """Predators in contact with the prey after each step by mpe2's positions, and where that is too close to call."""
    position = recorded.position[:, 1:]
    distance = np.linalg.norm(position[:, :, :-1] - position[:, :, -1:], axis=-1)
    return (distance < 0.125).sum(axis=-1), (np.abs(distance - 0.125) > 1e-5).all(axis=-1)


def close(ours, reference, atol=ONE_STEP):
    np.testing.assert_allclose(ours, reference, rtol=1e-6, atol=atol)


def test_the_reference_is_the_version_that_was_read():
    assert importlib.metadata.version("mpe2") == "1.1.1"


@every_world
def test_every_step_moves_all_bodies_as_mpe2_does(name):
    state = steps(name).state
    close(state.position, record(name).position[:, 1:])
    close(state.velocity, record(name).velocity[:, 1:], atol=2e-5)  # a contact has force 100


@every_world
def test_every_observation_of_both_sides_is_that_of_mpe2(name):
    obs, opponent_obs = steps(name).obs
    env, recorded = PAIRS[name][0](), record(name)
    team, opponent = sides(env, len(recorded.obs))
    expected = np.stack(recorded.obs[team], axis=2)[:, 1:]
    assert expected.shape[-2:] == (env.sides[0].num_agents, env.sides[0].obs_size)
    close(obs, expected, atol=2e-5)
    (expected,) = recorded.obs[opponent]
    assert expected.shape[-1] == env.sides[1].obs_size
    close(opponent_obs[:, :, 0], expected[:, 1:], atol=2e-5)


@every_world
def test_whole_episodes_stay_with_mpe2(name):
    """Crowds of five are chaotic: there, and only there, rounding may tear a rare episode apart."""
    error = np.abs(episodes(name).state.position - record(name).position[:, 1:]).max(axis=(1, 2, 3))
    together = (error < EPISODE).mean()
    assert together >= (0.95 if "5" in name else 1.0), np.sort(error)[-5:]


@every_world
def test_episodes_are_truncated_when_mpe2_truncates_them_and_never_terminate(name):
    step = episodes(name)
    np.testing.assert_array_equal(step.truncated, record(name).truncated)
    np.testing.assert_array_equal(step.terminated, record(name).terminated)
    assert step.truncated[:, -1].all()
    assert not step.truncated[:, :-1].any()
    assert not step.terminated.any()


@predator_prey
def test_mpe2_pays_each_predator_ten_times_our_team_reward(name):
    recorded = record(name)
    expected, clear = touches(recorded)
    assert clear.mean() > 0.99
    reward, _ = steps(name).reward
    np.testing.assert_array_equal(reward.team[clear], expected[clear])
    predators = recorded.reward[:, :, :-1]
    np.testing.assert_allclose(predators[clear], np.broadcast_to(10 * reward.team[..., None], predators.shape)[clear])


@predator_prey
def test_predators_learn_from_their_mean_distance_to_the_prey_which_mpe2_does_not_pay(name):
    position = record(name).position[:, 1:]
    distance = np.linalg.norm(position[:, :, :-1] - position[:, :, -1:], axis=-1).mean(axis=-1, keepdims=True)
    reward, _ = steps(name).reward
    close(reward.agent, np.broadcast_to(-0.1 * distance, reward.agent.shape))


@predator_prey
def test_the_prey_pays_what_it_pays_in_mpe2(name):
    recorded = record(name)
    _, clear = touches(recorded)
    _, opponent_reward = steps(name).reward
    close(opponent_reward.agent[clear][:, 0], recorded.reward[clear][:, -1], atol=1e-4)  # 10 × the way beyond the wall


@deception
def test_deception_pays_both_sides_what_mpe2_pays(name):
    recorded = record(name)
    reward, opponent_reward = steps(name).reward
    close(reward.agent, recorded.reward[:, :, 1:])
    close(reward.team, recorded.reward[:, :, 1])
    close(opponent_reward.agent, recorded.reward[:, :, :1])


@keep_away
def test_keep_away_pays_both_sides_what_mpe2_pays_and_the_team_the_sum(name):
    recorded = record(name)
    reward, opponent_reward = steps(name).reward
    close(reward.agent, recorded.reward[:, :, 1:])
    close(reward.team, recorded.reward[:, :, 1:].sum(axis=-1), atol=1e-5)
    close(opponent_reward.agent, recorded.reward[:, :, :1])


@predator_prey
def test_the_recorded_chases_cover_touches_obstacles_walls_and_top_speeds(name):
    recorded, env = record(name), PAIRS[name][0]()
    assert {0, 1, 2} <= set(np.unique(touches(recorded)[0]))
    blocked = np.linalg.norm(recorded.position[:, :, :, None] - recorded.landmark[:, None, None], axis=-1)
    assert (blocked[..., :-1, :] < 0.275).any()
    assert (blocked[..., -1, :] < 0.25).any()
    beyond = np.abs(recorded.position[:, :, -1]).max(axis=-1)
    assert ((beyond > 0.9) & (beyond < 1.0)).any()
    assert (beyond > 1.0).any()
    speed = np.linalg.norm(recorded.velocity, axis=-1)
    assert np.isclose(speed[..., :-1].max(), 1.0)
    assert np.isclose(speed[..., -1].max(), min(env.prey_speed, speed[..., -1].max()))


@keep_away
def test_the_recorded_pushes_cover_contacts_and_every_target(name):
    recorded = record(name)
    position = recorded.position
    distance = np.linalg.norm(position[:, :, :1] - position[:, :, 1:], axis=-1)
    assert (distance < 0.1).mean() > 0.02
    assert set(recorded.target) == {0, 1}
