"""The particle worlds agree with mpe2, step by step, wherever FACTS §3 does not say that they differ."""

import functools
import importlib.metadata

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.envs.mpe2_reference import PAIRS, record

from merlax.envs import ParticleState, PredatorPrey

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
    single = [jnp.asarray(x, jnp.float32) for x in (position, velocity, landmark)]
    return ParticleState(*single, jnp.asarray(target, jnp.int32), jnp.zeros((), jnp.int32))


def observe(env, state, obs):
    """What a step returns, and all that can be asked about its state."""
    return obs, state, env.opponent_obs(state), env.opponent_reward(state)


@functools.cache
def steps(name):
    """Each step of the recording, replayed by itself from mpe2's state before it: [episode, time, ...]."""
    env, theirs = PAIRS[name][0](), record(name)
    team, opponent = sides(env, theirs.action.shape[2])

    def step(position, velocity, landmark, target, action):
        state = begin(position, velocity, landmark, target)
        obs, state, reward, *_ = env.step(jax.random.key(0), state, action[team], action[opponent])
        return *observe(env, state, obs), reward

    over_time = jax.vmap(step, in_axes=(0, 0, None, None, 0))
    position, velocity = (x[:, :-1].astype(np.float32) for x in (theirs.position, theirs.velocity))
    args = position, velocity, theirs.landmark.astype(np.float32), theirs.target, theirs.action
    return jax.tree.map(np.asarray, jax.jit(jax.vmap(over_time))(*args))


@functools.cache
def episodes(name):
    """The recording's episodes, replayed from their first state: [episode, time, ...]."""
    env, theirs = PAIRS[name][0](), record(name)
    team, opponent = sides(env, theirs.action.shape[2])

    def episode(position, landmark, target, actions):
        def step(state, action):
            result = env.step(jax.random.key(0), state, action[team], action[opponent])
            return result[1], result

        return jax.lax.scan(step, begin(position, jnp.zeros_like(position), landmark, target), actions)[1]

    args = theirs.position[:, 0].astype(np.float32), theirs.landmark.astype(np.float32), theirs.target, theirs.action
    return jax.tree.map(np.asarray, jax.jit(jax.vmap(episode))(*args))


def touches(theirs):
    """Predators in contact with the prey after each step by mpe2's positions, and where that is too close to call."""
    position = theirs.position[:, 1:]
    distance = np.linalg.norm(position[:, :, :-1] - position[:, :, -1:], axis=-1)
    return (distance < 0.125).sum(axis=-1), (np.abs(distance - 0.125) > 1e-5).all(axis=-1)


def close(ours, theirs, atol=ONE_STEP):
    np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=atol)


def test_the_reference_is_the_version_that_was_read():
    assert importlib.metadata.version("mpe2") == "1.1.1"


@every_world
def test_every_step_moves_all_bodies_as_mpe2_does(name):
    _, state, *_ = steps(name)
    close(state.position, record(name).position[:, 1:])
    close(state.velocity, record(name).velocity[:, 1:], atol=2e-5)  # a contact has force 100


@every_world
def test_every_observation_of_both_sides_is_that_of_mpe2(name):
    obs, _, opponent_obs, *_ = steps(name)
    env, theirs = PAIRS[name][0](), record(name)
    team, opponent = sides(env, len(theirs.obs))
    expected = np.stack(theirs.obs[team], axis=2)[:, 1:]
    assert expected.shape[-2:] == (env.num_agents, env.obs_size)
    close(obs, expected, atol=2e-5)
    (expected,) = theirs.obs[opponent]
    assert expected.shape[-1] == env.opponent.obs_size
    close(opponent_obs[:, :, 0], expected[:, 1:], atol=2e-5)


@every_world
def test_whole_episodes_stay_with_mpe2(name):
    """Crowds of five are chaotic: there, and only there, rounding may tear a rare episode apart."""
    _, state, _, _, _, _ = episodes(name)
    error = np.abs(state.position - record(name).position[:, 1:]).max(axis=(1, 2, 3))
    together = (error < EPISODE).mean()
    assert together >= (0.95 if "5" in name else 1.0), np.sort(error)[-5:]


@every_world
def test_episodes_are_truncated_when_mpe2_truncates_them_and_never_terminate(name):
    _, _, _, terminated, truncated, _ = episodes(name)
    np.testing.assert_array_equal(truncated, record(name).truncated)
    np.testing.assert_array_equal(terminated, record(name).terminated)
    assert truncated[:, -1].all()
    assert not truncated[:, :-1].any()
    assert not terminated.any()


@predator_prey
def test_mpe2_pays_each_predator_ten_times_our_team_reward(name):
    theirs = record(name)
    expected, clear = touches(theirs)
    assert clear.mean() > 0.99
    *_, reward = steps(name)
    np.testing.assert_array_equal(reward.team[clear], expected[clear])
    predators = theirs.reward[:, :, :-1]
    np.testing.assert_allclose(predators[clear], np.broadcast_to(10 * reward.team[..., None], predators.shape)[clear])


@predator_prey
def test_predators_learn_from_their_mean_distance_to_the_prey_which_mpe2_does_not_pay(name):
    position = record(name).position[:, 1:]
    distance = np.linalg.norm(position[:, :, :-1] - position[:, :, -1:], axis=-1).mean(axis=-1, keepdims=True)
    *_, reward = steps(name)
    close(reward.agent, np.broadcast_to(-0.1 * distance, reward.agent.shape))


@predator_prey
def test_the_prey_pays_what_it_pays_in_mpe2(name):
    theirs = record(name)
    _, clear = touches(theirs)
    *_, opponent_reward, _ = steps(name)
    close(opponent_reward[clear][:, 0], theirs.reward[clear][:, -1], atol=1e-4)  # 10 × the way beyond the wall


@deception
def test_deception_pays_both_sides_what_mpe2_pays(name):
    theirs = record(name)
    *_, opponent_reward, reward = steps(name)
    close(reward.agent, theirs.reward[:, :, 1:])
    close(reward.team, theirs.reward[:, :, 1])
    close(opponent_reward, theirs.reward[:, :, :1])


@keep_away
def test_keep_away_pays_both_sides_what_mpe2_pays_and_the_team_the_sum(name):
    theirs = record(name)
    *_, opponent_reward, reward = steps(name)
    close(reward.agent, theirs.reward[:, :, 1:])
    close(reward.team, theirs.reward[:, :, 1:].sum(axis=-1), atol=1e-5)
    close(opponent_reward, theirs.reward[:, :, :1])


@predator_prey
def test_the_recorded_chases_cover_touches_obstacles_walls_and_top_speeds(name):
    theirs, env = record(name), PAIRS[name][0]()
    assert {0, 1, 2} <= set(np.unique(touches(theirs)[0]))
    blocked = np.linalg.norm(theirs.position[:, :, :, None] - theirs.landmark[:, None, None], axis=-1)
    assert (blocked[..., :-1, :] < 0.275).any()
    assert (blocked[..., -1, :] < 0.25).any()
    beyond = np.abs(theirs.position[:, :, -1]).max(axis=-1)
    assert ((beyond > 0.9) & (beyond < 1.0)).any()
    assert (beyond > 1.0).any()
    speed = np.linalg.norm(theirs.velocity, axis=-1)
    assert np.isclose(speed[..., :-1].max(), 1.0)
    assert np.isclose(speed[..., -1].max(), min(env.prey_speed, speed[..., -1].max()))


@keep_away
def test_the_recorded_pushes_cover_contacts_and_every_target(name):
    theirs = record(name)
    position = theirs.position
    distance = np.linalg.norm(position[:, :, :1] - position[:, :, 1:], axis=-1)
    assert (distance < 0.1).mean() > 0.02
    assert set(theirs.target) == {0, 1}
