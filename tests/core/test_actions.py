"""From outputs to actions: numbers, choices, and what is legal."""

import jax
import jax.numpy as jnp
import numpy as np

from merlax.core import actions
from merlax.envs.base import Box, Discrete, Side

ALIKE = Side.equal(2, obs_size=1, choices=3)
MASKED = Side.equal(2, obs_size=1, choices=3, masked=True)
UNLIKE = Side(obs=(Box(1), Box(2)), action=(Box(1), Discrete(2)))
OUTPUTS = jnp.array([[[0.1, 0.9, -0.5], [0.3, 0.2, 0.1]]])
EVERYBODY = jnp.arange(2)


def settle(side, outputs, obs=None, agents=EVERYBODY):
    return np.asarray(actions.settle(side, outputs, jnp.zeros((1, 2, side.obs_size)) if obs is None else obs, agents))


def test_whoever_chooses_takes_the_largest_output():
    assert settle(ALIKE, OUTPUTS).tolist() == [[[0, 1, 0], [1, 0, 0]]]


def test_what_is_illegal_is_never_chosen_and_without_any_choice_the_first_is():
    legal = jnp.array([[[1.0, 0.0, 1.0], [0.0, 0.0, 0.0]]])
    seen = jnp.concatenate([jnp.zeros((1, 2, 1)), legal], axis=-1)
    assert settle(MASKED, OUTPUTS, seen).tolist() == [[[1, 0, 0], [1, 0, 0]]]


def test_agents_that_differ_act_in_their_own_way_and_have_zeros_beyond_it():
    outputs = jnp.array([[[2.0, 0.7], [0.3, 0.4]]])
    np.testing.assert_allclose(settle(UNLIKE, outputs), [[[1.0, 0.0], [0.0, 1.0]]])


def test_one_agent_alone_acts_as_it_does_among_all():
    """Learners that take agent after agent ask for one at a time."""
    outputs = jnp.array([[[0.3, 0.4]]])
    for agent, expected in ((0, [0.3, 0.0]), (1, [0.0, 1.0])):
        alone = actions.settle(UNLIKE, outputs, jnp.zeros((1, 1, UNLIKE.obs_size)), jnp.array([agent]))
        np.testing.assert_allclose(alone[0, 0], expected)


def ways(side, outputs, obs=None):
    return actions.ways(side, outputs, jnp.zeros((1, 2, side.obs_size)) if obs is None else obs, EVERYBODY)


def test_the_ways_of_an_agent_are_its_choices_weighed_by_their_outputs():
    weight, action = ways(ALIKE, OUTPUTS)
    assert (weight.shape, action.shape) == ((3, 1, 2), (3, 1, 2, 3))
    np.testing.assert_allclose(weight.sum(axis=0), 1.0, rtol=1e-6)
    assert weight[:, 0].argmax(axis=0).tolist() == [1, 0]
    np.testing.assert_array_equal(action[:, 0, 1], np.eye(3))


def test_whoever_acts_by_numbers_has_one_way():
    weight, action = ways(UNLIKE, jnp.array([[[0.5, 0.7], [0.3, 0.4]]]))
    np.testing.assert_allclose(weight[:, 0, 0], [1.0, 0.0])
    np.testing.assert_allclose(action[0, 0, 0], [0.5, 0.0])
    np.testing.assert_array_equal(action[:, 0, 1], np.eye(2))


def test_learners_raise_the_output_of_what_pays():
    def paid(outputs):
        return (ways(ALIKE, outputs)[0] * jnp.array([0.0, 0.0, 1.0])[:, None, None]).sum()

    slope = np.asarray(jax.grad(paid)(OUTPUTS))
    assert (slope[..., 2] > 0).all()
    assert (slope[..., :2] < 0).all()


def test_what_is_illegal_has_no_weight_and_no_gradient():
    seen = jnp.concatenate([jnp.zeros((1, 2, 1)), jnp.broadcast_to(jnp.array([1.0, 1.0, 0.0]), (1, 2, 3))], axis=-1)
    assert ways(MASKED, OUTPUTS, seen)[0][2].tolist() == [[0.0, 0.0]]
    slope = jax.grad(lambda outputs: ways(MASKED, outputs, seen)[0][1].sum())(OUTPUTS)
    assert np.asarray(slope)[..., 2].tolist() == [[0.0, 0.0]]
    assert np.isfinite(slope).all()
