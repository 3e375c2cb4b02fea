"""Rows in NumPy are those of `merlax.Side`."""

import jax.numpy as jnp
import numpy as np
import pytest

from merlax import Box, Discrete, Side
from merlax.core import actions
from merlax_worker.rows import Sizes, obs_rows, settle

UNLIKE = Side((Box(2), Box(4), Box(2)), (Discrete(3), Box(2), Discrete(3)), masked=True)
ALIKE = Side.equal(3, 2, choices=4)
PLAIN = Side.equal(2, 3, act_size=2)


def sizes_of(side: Side) -> Sizes:
    kinds = tuple(side.kinds.index(kind) for kind in zip(side.obs, side.action, strict=True))
    names = tuple(f"agent_{k}" for k in range(side.num_agents))
    obs, action = (tuple(space.size for space in spaces) for spaces in (side.obs, side.action))
    return Sizes(names, obs, action, tuple(isinstance(s, Discrete) for s in side.action), kinds, side.masked)


def seen_by(side: Side) -> list[np.ndarray]:
    draws = np.random.default_rng(0)
    return [draws.standard_normal(space.size).astype(np.float32) for space in side.obs]


@pytest.mark.parametrize("side", [UNLIKE, ALIKE, PLAIN], ids=["unlike", "alike", "plain"])
def test_observations_and_actions_are_those_of_jax_worlds(side):
    seen = seen_by(side)
    legal = [np.array([True, False, True]), None, np.array([False, True, True])] if side.masked else [None] * 3
    legal = legal[: side.num_agents]
    told = None if not side.masked else tuple(None if flags is None else jnp.asarray(flags) for flags in legal)
    shown = jnp.stack(seen) if side.alike else tuple(map(jnp.asarray, seen))
    rows = obs_rows(sizes_of(side), seen, legal)
    np.testing.assert_array_equal(rows, np.asarray(side.rows(shown, told)))

    outputs = 2.0 * np.random.default_rng(1).standard_normal((side.num_agents, side.act_size)).astype(np.float32)
    expected = actions.settle(side, jnp.asarray(outputs), jnp.asarray(rows), jnp.arange(side.num_agents))
    np.testing.assert_array_equal(settle(sizes_of(side), outputs, rows), np.asarray(expected))


def test_whoever_is_not_there_sees_zeros():
    rows = obs_rows(sizes_of(UNLIKE), [None, *seen_by(UNLIKE)[1:]], [None] * 3)
    assert not rows[0].any()
    assert rows[1:].any(axis=1).all()
