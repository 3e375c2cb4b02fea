"""One episode of one team."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.weights import weights
from tests.worlds import Countdown

from merlax.core import rollout
from merlax.core.networks import TeamPolicy

EARLY, LATE = Countdown(), Countdown(last=99)  # ends by termination in step 4, and by truncation in step 6
WIDE = Countdown(num_agents=50, horizon=40, last=99)


def policy(env=EARLY):
    return weights(lambda key: TeamPolicy(key, env.num_agents, env.obs_size, env.act_size, (4,)))


def idle(env):
    return jax.tree.map(jnp.zeros_like, policy(env))


@functools.cache
def compiled(env):
    return jax.jit(lambda seed, team, noise: rollout.play(jax.random.key(seed), env, team, noise))


def play(env, seed=0, team=None, noise=0.0):
    return jax.tree.map(np.asarray, compiled(env)(seed, team or policy(env), noise))


def test_the_fitness_is_the_team_reward_up_to_the_end():
    assert play(EARLY)[0].fitness == 1 + 2 + 3 + 4
    assert play(LATE)[0].fitness == 1 + 2 + 3 + 4 + 5 + 6


def test_the_agents_mean_reward_is_summed_up_to_the_end():
    assert play(EARLY)[0].agent_reward == 1.5 * (1 + 2 + 3 + 4)


def test_frames_are_the_steps_played():
    assert (play(EARLY)[0].frames, play(LATE)[0].frames) == (4, 6)


def test_valid_marks_exactly_the_steps_played():
    assert play(EARLY)[1].valid.tolist() == [True] * 4 + [False] * 2
    assert play(LATE)[1].valid.all()


def test_only_a_termination_is_remembered_as_one():
    assert play(EARLY)[1].transitions.terminated[:4].tolist() == [[False] * 2] * 3 + [[True] * 2]
    assert not play(LATE)[1].transitions.terminated.any()


def test_each_agent_remembers_its_own_reward():
    np.testing.assert_array_equal(play(EARLY)[1].transitions.reward[:4], [(1, 2), (2, 4), (3, 6), (4, 8)])


def test_every_next_observation_is_the_following_observation():
    memory = play(EARLY)[1].transitions
    np.testing.assert_array_equal(memory.next_obs[:-1], memory.obs[1:])
    np.testing.assert_array_equal(memory.next_obs[:, :, 1], np.repeat(np.arange(1.0, 7.0), 2).reshape(6, 2))


def test_without_noise_the_actions_are_the_policys():
    memory = play(EARLY)[1].transitions
    np.testing.assert_allclose(memory.action, jax.jit(policy().__call__)(memory.obs), atol=1e-6)


def test_without_noise_an_episode_repeats_itself():
    jax.tree.map(np.testing.assert_array_equal, play(EARLY), play(EARLY))


def test_another_key_gives_another_instance():
    assert (play(EARLY, 0)[1].transitions.obs[0, :, 2] != play(EARLY, 1)[1].transitions.obs[0, :, 2]).all()


def test_noise_has_the_given_size_and_is_never_repeated():
    action = play(WIDE, team=idle(WIDE), noise=0.1)[1].transitions.action
    assert action.std() == pytest.approx(0.1, rel=0.05)
    assert abs(action.mean()) < 0.01
    assert len(np.unique(action)) > 0.999 * action.size


def test_noisy_actions_are_clipped_and_played_as_remembered():
    memory = play(WIDE, team=idle(WIDE), noise=3.0)[1].transitions
    assert (memory.action.min(), memory.action.max()) == (-1.0, 1.0)
    luck = (memory.next_obs - memory.obs)[:, :, 2] - memory.action.sum(axis=2)
    assert (luck > -1e-4).all()
    assert (luck < 1.0001).all()


def test_noise_leaves_the_instance_as_it_is():
    np.testing.assert_array_equal(play(EARLY)[1].transitions.obs[0], play(EARLY, noise=0.5)[1].transitions.obs[0])


@pytest.mark.parametrize("env", [EARLY, LATE])
def test_a_trace_is_the_episode_that_play_plays(env):
    episode, memory = play(env)
    trace = jax.jit(lambda team: rollout.trace(jax.random.key(0), env, team))(policy(env))
    assert (trace.score, trace.steps) == (episode.fitness, episode.frames)
    np.testing.assert_array_equal(trace.states.time, np.arange(7))
    np.testing.assert_allclose(trace.states.luck[:-1], memory.transitions.obs[:, :, 2], atol=1e-6)


def test_episodes_batched_by_vmap_are_the_single_ones():
    team = policy()
    batch = jax.jit(jax.vmap(lambda seed: rollout.play(jax.random.key(seed), EARLY, team, 0.3)))(np.arange(3))
    for seed in range(3):
        one = play(EARLY, seed, team, 0.3)
        jax.tree.map(lambda many, single, i=seed: np.testing.assert_allclose(many[i], single, atol=1e-6), batch, one)
