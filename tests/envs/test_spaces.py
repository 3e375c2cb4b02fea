"""The spaces of a side, and how worlds and networks pass observations and actions on."""

import jax.numpy as jnp
import numpy as np
import pytest

from merlax.envs.base import Box, Discrete, Side
from merlax.types import UserError

UNLIKE = Side(obs=(Box(1), Box(3), Box(1)), action=(Box(2), Discrete(3), Box(2)), masked=True)


def test_the_agents_of_an_equal_side_are_all_alike():
    side = Side.equal(3, obs_size=5, act_size=2)
    assert side == Side(obs=(Box(5), Box(5), Box(5)), action=(Box(2), Box(2), Box(2)))
    assert (side.num_agents, side.obs_size, side.act_size) == (3, 5, 2)
    assert side.plain


def test_agents_act_by_numbers_or_by_choices():
    side = Side.equal(2, obs_size=5, choices=4)
    assert side.action == (Discrete(4), Discrete(4))
    assert (side.obs_size, side.act_size, side.plain) == (5, 4, False)
    for size in (0, 2):
        with pytest.raises(UserError, match="either act_size or choices"):
            Side.equal(2, obs_size=5, act_size=size, choices=size)


def test_a_row_is_the_widest_observation_then_kinds_then_what_is_legal():
    assert (UNLIKE.num_agents, UNLIKE.obs_size, UNLIKE.act_size) == (3, 3 + 2 + 3, 3)
    obs = jnp.array([7.0]), jnp.array([1.0, 2.0, 3.0]), jnp.array([9.0])
    rows = UNLIKE.rows(obs, (None, jnp.array([True, False, True]), None))
    expected = [[7, 0, 0, 1, 0, 1, 1, 0], [1, 2, 3, 0, 1, 1, 0, 1], [9, 0, 0, 1, 0, 1, 1, 0]]
    np.testing.assert_array_equal(rows, expected)


def test_a_plain_side_passes_on_what_it_gets():
    side, obs, action = Side.equal(2, 3, 2), jnp.ones((2, 3)), jnp.ones((2, 2))
    assert side.rows(obs) is obs
    assert side.actions(action) is action
    assert side.action_rows(action) is action


def test_actions_reach_the_world_in_its_own_form_and_come_back():
    rows = jnp.array([[0.5, -0.5, 0.0], [0.0, 1.0, 0.0], [0.1, 0.2, 0.0]])
    first, choice, last = UNLIKE.actions(rows)
    np.testing.assert_allclose(first, [0.5, -0.5])
    np.testing.assert_allclose(last, [0.1, 0.2])
    assert (int(choice), choice.dtype) == (1, jnp.int32)
    np.testing.assert_allclose(UNLIKE.action_rows((first, choice, last)), rows)

    alike = Side.equal(2, obs_size=1, choices=3)
    chosen = alike.actions(jnp.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]))
    assert chosen.tolist() == [2, 0]
    np.testing.assert_array_equal(alike.action_rows(chosen), [[0, 0, 1], [1, 0, 0]])
