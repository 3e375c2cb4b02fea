"""A target that only the agents know, colours that tell them, and an opponent in their way."""

import jax.numpy as jnp
import numpy as np
import pytest

from merlax.envs import KeepAway
from tests.support.particles import after, assert_refused, at_rest, play, state_of


@pytest.mark.parametrize("size", [2, 3, 5])
def test_colours_name_the_landmarks_and_only_the_agents_wear_that_of_the_target(size):
    env, length = KeepAway(num_agents=1, num_landmarks=size), max(3, size + 1)
    landmark = np.linspace(-1.0, 1.0, 2 * size).reshape(size, 2)
    for target in range(size):
        (obs,), _ = env._observe(state_of([(0.0, 0.0), (0.5, 0.5)], landmark=landmark, target=target))
        own, colors = obs[4 : 4 + length], obs[4 + length + 2 * size :][: size * length].reshape(size, length)
        np.testing.assert_allclose(own, np.where(np.arange(length) == target + 1, 0.75, 0.25))
        np.testing.assert_allclose(colors, np.where(np.eye(size, length, k=1) == 1.0, 0.9, 0.1))
        np.testing.assert_allclose(obs[2:4], landmark[target] - 0.5, atol=1e-6)
        np.testing.assert_allclose(obs[-2:], (-0.5, -0.5))


def test_the_opponent_does_not_see_the_target():
    marks = ((0.3, 0.2), (-0.4, 0.6))
    first, second = (KeepAway()._observe(state_of(np.eye(3, 2), landmark=marks, target=t))[1] for t in (0, 1))
    np.testing.assert_array_equal(first, second)


def test_agents_lose_their_distance_the_team_the_sum_and_the_opponent_gains_its_lead():
    state = state_of([(0.0, 0.5), (0.0, 0.7), (0.0, -0.9)], landmark=((0.0, 0.0), (5.0, 5.0)))
    team, opponent = after(KeepAway(), state).reward
    np.testing.assert_allclose(team.agent, [-0.7, -0.9], rtol=1e-6)
    np.testing.assert_allclose(team.team, -1.6, rtol=1e-6)
    np.testing.assert_allclose(opponent.team, 0.2, rtol=1e-5)
    np.testing.assert_allclose(opponent.agent, [0.2], rtol=1e-5)


def test_bodies_block_each_other_and_landmarks_do_not():
    env = KeepAway(num_agents=1, num_landmarks=1)
    apart = after(env, state_of([(0.1, 0.0), (0.9, 0.9)], landmark=((0.0, 0.0),))).state
    assert not apart.velocity.any()
    touching = after(env, state_of([(0.1, 0.0), (0.05, 0.0)])).state
    assert touching.velocity[0, 0] > 0.1
    assert touching.velocity[1, 0] < -0.1


def test_the_scripted_opponent_comes_to_rest_among_the_agents():
    _, steps, _ = play(KeepAway(), jnp.arange(50), at_rest)
    position = steps.state.position
    gap = np.linalg.norm(position[:, :, 0] - position[:, :, 1:].mean(axis=2), axis=-1)
    apart = np.linalg.norm(position[:, 0, 1] - position[:, 0, 2], axis=-1) > 0.3  # room between them
    assert apart.sum() > 20
    assert gap[apart, -1].max() < 0.05
    assert gap[apart, 0].mean() > 0.4


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("options", [{"num_agents": 2.5}, {"num_landmarks": 0}, {"size": 0.0}, {"predators": 3}])
def test_an_impossible_option_is_refused_in_one_sentence_that_names_it(options):
    assert_refused("keep-away", options)
