"""A target that only the agents know, and an opponent that follows them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from merlax.envs import PhysicalDeception
from tests.support.particles import after, assert_refused, at_random, at_rest, play, state_of

MARKS = ((0.3, 0.2), (-0.4, 0.6))


@pytest.mark.parametrize("size", [2, 3, 5])
def test_there_are_as_many_landmarks_as_agents_unless_told_otherwise(size):
    _, state = PhysicalDeception(num_agents=size).reset(jax.random.key(0))
    assert state.landmark.shape == (size, 2)
    _, state = PhysicalDeception(num_agents=size, num_landmarks=7).reset(jax.random.key(0))
    assert state.landmark.shape == (7, 2)


def test_the_agents_see_the_target_and_the_opponent_does_not():
    team, opponent = zip(
        *(PhysicalDeception()._observe(state_of(np.eye(3, 2), landmark=MARKS, target=target)) for target in (0, 1)),
        strict=True,
    )
    np.testing.assert_array_equal(opponent[0], opponent[1])
    for obs, mark in zip(team, MARKS, strict=True):
        np.testing.assert_allclose(obs[:, :2], np.array(mark) - np.eye(3, 2)[1:], atol=1e-6)


def test_the_team_scores_the_lead_of_its_best_agent_and_the_opponent_loses_its_distance():
    state = state_of([(0.0, 0.5), (0.0, 0.2), (0.0, -0.9)], landmark=((0.0, 0.0), (5.0, 5.0)))
    team, opponent = after(PhysicalDeception(), state).reward
    np.testing.assert_allclose(team.team, 0.3, rtol=1e-6)
    np.testing.assert_allclose(team.agent, [0.3, 0.3], rtol=1e-6)
    np.testing.assert_allclose(opponent.team, -0.5)
    np.testing.assert_allclose(opponent.agent, [-0.5])


def test_nothing_collides():
    state = state_of([(0.0, 0.0), (0.01, 0.0), (0.0, 0.01)], landmark=((0.0, 0.0), (0.01, 0.01)))
    assert not after(PhysicalDeception(), state).state.velocity.any()


def test_the_scripted_opponent_comes_to_rest_in_the_middle_of_the_agents():
    _, steps, _ = play(PhysicalDeception(), jnp.arange(50), at_rest)
    middle = steps.state.position[:, :, 1:].mean(axis=2)
    gap = np.linalg.norm(steps.state.position[:, :, 0] - middle, axis=-1)
    assert gap[:, -1].max() < 0.05
    assert gap[:, 0].mean() > 0.4


def test_the_cautious_opponent_comes_to_rest_between_the_landmarks_whatever_the_agents_do():
    cautious = PhysicalDeception().rules(1)["cautious"].act
    for team in (at_rest, at_random):
        _, steps, _ = play(PhysicalDeception(), jnp.arange(50), team, cautious)
        gap = np.linalg.norm(steps.state.position[:, :, 0] - steps.state.landmark.mean(axis=2), axis=-1)
        assert gap[:, -1].max() < 0.05
        assert gap[:, 0].mean() > 0.4


def test_the_direct_rule_takes_all_agents_to_the_target_sooner_than_their_own_landmarks_would():
    rules = PhysicalDeception().rules(0)
    follow = {name: lambda key, env, state, rule=rules[name]: rule(state, env._observe(state)[0]) for name in rules}
    reached = {}
    for name, team in follow.items():
        _, steps, _ = play(PhysicalDeception(), jnp.arange(50), team)
        target = jnp.take_along_axis(steps.state.landmark, steps.state.target[..., None, None], axis=2)
        reached[name] = np.linalg.norm(steps.state.position[:, :, 1:] - target, axis=-1)  # [episode, time, agent]
    assert reached["direct"][:, -1].max() < 0.05
    assert reached["direct"].min(axis=2).mean() < reached["scripted"].min(axis=2).mean()


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("options", [{"num_agents": 0}, {"num_landmarks": 0}, {"acceleration": -5.0}, {"size": 0.1}])
def test_an_impossible_option_is_refused_in_one_sentence_that_names_it(options):
    assert_refused("physical-deception", options)
