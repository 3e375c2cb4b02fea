"""Touches, obstacles, speeds, and a prey that flees."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from merlax.envs import PredatorPrey, make
from merlax.envs.diagnosis import History
from tests.support.particles import after, assert_refused, at_random, play, state_of


def chase(key, env, state):
    """Every predator runs straight for the prey."""
    del key, env
    return jnp.clip(10.0 * (state.position[-1][None] - state.position[:-1]), -1.0, 1.0)


def stand(state):
    """A prey that does nothing."""
    del state
    return jnp.zeros((1, 2))


def test_only_the_prey_of_the_hard_world_is_faster():
    assert make("predator-prey-hard") == PredatorPrey(prey_speed=2.0)
    assert PredatorPrey().prey_speed == 1.3
    assert make("predator-prey") == PredatorPrey()


def test_a_touch_needs_less_than_both_radii_and_each_predator_counts():
    near, far = 0.124, 0.126
    state = state_of([(near, 0.0), (-near, 0.0), (0.0, far), (0.0, 0.0)])
    step = after(PredatorPrey(num_landmarks=1, touch_bonus=5.0), state)
    assert float(step.reward[0].team) == 2.0
    assert float(step.info["touches"]) == 2.0
    np.testing.assert_allclose(step.reward[0].agent, 5.0 * 2 - 0.1 * (2 * near + far) / 3, rtol=1e-5)


@pytest.mark.parametrize(("x", "cost"), [(0.85, 0.0), (0.95, 0.5), (2.0, np.exp(2.0))])
def test_the_prey_loses_ten_for_each_touch_and_more_the_farther_it_leaves(x, cost):
    reward = after(PredatorPrey(num_predators=2, num_landmarks=1), state_of([(x, 0.1), (-3.0, 0.0), (x, 0.0)])).reward
    np.testing.assert_allclose(reward[1].agent, [-10.0 - cost], rtol=1e-4)
    np.testing.assert_allclose(reward[1].team, reward[1].agent[0])


def test_predators_see_what_the_prey_sees_and_its_velocity():
    position, velocity = [(0.1, 0.2), (-0.3, 0.4)], [(0.5, -0.5), (0.7, 0.6)]
    state = state_of(position, velocity, landmark=[(0.0, -0.5)])
    predators, prey = PredatorPrey(num_predators=1, num_landmarks=1)._observe(state)
    np.testing.assert_allclose(predators, [(0.5, -0.5, 0.1, 0.2, -0.1, -0.7, -0.4, 0.2, 0.7, 0.6)], atol=1e-6)
    np.testing.assert_allclose(prey, [(0.7, 0.6, -0.3, 0.4, 0.3, -0.9, 0.4, -0.2)], atol=1e-6)


def test_obstacles_block():
    state = state_of([(0.1, 0.0), (0.9, 0.9)], landmark=((0.0, 0.0),))
    pushed = after(PredatorPrey(num_predators=1, num_landmarks=1), state).state
    assert pushed.velocity[0, 0] > 0.1


@pytest.mark.usefixtures("unchecked")
def test_a_world_without_obstacles_and_with_whole_numbers_for_speeds_can_be_played():
    env = PredatorPrey(num_landmarks=0, prey_speed=2, predator_speed=1)
    (obs, _), steps, _ = play(env, jnp.arange(2), at_random)
    assert obs[0].shape == (2, 3, 12)
    assert np.isfinite(steps.obs[0]).all()


def test_predators_that_chase_touch_a_prey_that_stands_more_often_than_one_that_flees():
    standing, fleeing = (
        float(play(PredatorPrey(), jnp.arange(200), chase, prey)[1].reward[0].team.sum(axis=1).mean())
        for prey in (stand, None)
    )
    assert 0.0 < fleeing < 0.5 * standing


def test_the_scripted_prey_runs_from_the_nearest_predator():
    env = PredatorPrey(num_predators=2, num_landmarks=1)
    action = env.rules(1)["scripted"].act(state_of([(0.3, 0.0), (0.0, -0.9), (0.0, 0.0)]))
    np.testing.assert_allclose(action, [[-1.0, 0.0]], atol=1e-6)


def test_scripted_predators_lead_the_prey_by_half_a_unit_of_time():
    env = PredatorPrey(num_predators=1, num_landmarks=1)
    state = state_of([(0.0, 0.0), (0.4, 0.0)], velocity=[(0.0, 0.2), (0.0, 1.0)])
    action = env.rules(0)["scripted"].act(env._observe(state)[0])
    np.testing.assert_allclose(action, [[0.4 / 0.4, 0.5 * 0.8 / 0.4]], atol=1e-6)


def test_a_diagnosis_counts_the_touches_of_each_predator():
    env = PredatorPrey(num_predators=2, num_landmarks=1)
    places = [[(1.0, 0.0), (0.0, 0.1), (0.0, 0.0)]] * 2 + [[(0.1, 0.0), (0.1, 0.0), (0.0, 0.0)]]
    states = jax.tree.map(lambda *leaves: jnp.stack(leaves), *map(state_of, places))
    history = History(states, jnp.zeros((2, 2, 2)), jnp.zeros((2, 2)), jnp.ones(2, bool))
    touches = env.diagnose(history)[0]
    assert touches.classes == ("agent 1", "agent 2")
    assert touches.value.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("name", ["predator-prey", "predator-prey-hard"])
def test_the_scripted_prey_stays_within_the_walls(name):
    """Only a body that shoves it can carry it beyond them: no obstacles here, and only episodes without a touch."""
    env = make(name, num_landmarks=0)
    (_, first), steps, _ = play(env, jnp.arange(300), chase)
    free = np.asarray(steps.reward[0].team.sum(axis=1) == 0.0)
    farthest = np.abs(np.asarray(steps.state.position)[free, :, -1]).max(axis=-1)
    assert (np.abs(np.asarray(first.position)[free, -1]) > 0.95).any()  # some start at the wall
    assert farthest[:, 5:].max() < 1.0


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    "options",
    [
        {"num_predators": 0},
        {"num_landmarks": -1},
        {"prey_speed": -1.3},
        {"predator_speed": 0.0},
        {"prey_size": float("nan")},
        {"predator_acceleration": -3.0},
        {"touch_bonus": -1.0},
        {"horizon": 0},
    ],
)
def test_an_impossible_option_is_refused_in_one_sentence_that_names_it(options):
    assert_refused("predator-prey", options)
    assert_refused("predator-prey-hard", options)
