"""A state as a run has one, but small."""

from typing import Any

import jax
import jax.numpy as jnp

from merlax.core import replay
from merlax.envs.base import Side

SIDE = Side.equal(2, obs_size=3, act_size=1)


def some_state(seed: int, filled: int = 3) -> dict[str, Any]:
    """Something with weights, a counter and a buffer that is not full."""
    keys = jax.random.split(jax.random.key(seed), 2)
    buffer = replay.create(10, SIDE)
    rows = buffer.rows.at[:, :filled].set(jax.random.normal(keys[0], (1, filled, 2, 16)))
    buffer = replay.Buffer(rows, jnp.array([filled]), jnp.array([filled]), 3, 1)
    return {"weights": jax.random.normal(keys[1], (4, 5)), "rounds": jnp.array(seed), "buffer": buffer}
