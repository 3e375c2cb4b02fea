"""One cyclic replay buffer per agent (paper, Algorithm 1, line 3).

The buffers fill in lockstep, since every joint step gives each agent one transition, so they share a
cursor; each is sampled on its own. A transition is one row of numbers: one gather fetches it whole.
"""

from __future__ import annotations

from itertools import accumulate

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from merlax.types import Key, Transition

LINE = 16  # numbers in a cache line: rows of whole lines are gathered a tenth faster


class Buffer(eqx.Module):
    """The newest `capacity` transitions of each agent."""

    rows: Float[Array, "capacity agent row"]
    cursor: Int[Array, ""]  # where the next transition goes
    size: Int[Array, ""]  # how many are stored
    obs_size: int = eqx.field(static=True)
    act_size: int = eqx.field(static=True)


def create(capacity: int, num_agents: int, obs_size: int, act_size: int) -> Buffer:
    """Empty buffers."""
    zero = jnp.zeros((), jnp.int32)
    width = 2 * obs_size + act_size + 2
    width += -width % LINE
    return Buffer(jnp.zeros((capacity, num_agents, width)), zero, zero + 0, obs_size, act_size)


def add(buffer: Buffer, transitions: Transition, valid: Bool[Array, " step"]) -> Buffer:
    """Store the valid transitions, in order, over the oldest ones; the others leave no trace."""
    capacity = buffer.rows.shape[0]
    rank = jnp.cumsum(valid)
    total = rank[-1]
    keep = valid & (rank > total - capacity)  # of more than fit, the newest
    place = jnp.where(keep, (buffer.cursor + rank - 1) % capacity, capacity)
    return Buffer(
        buffer.rows.at[place].set(pack(transitions), mode="drop", unique_indices=True),
        (buffer.cursor + total) % capacity,
        jnp.minimum(buffer.size + total, capacity),
        buffer.obs_size,
        buffer.act_size,
    )


def sample(key: Key, buffer: Buffer, batch: int) -> Transition:
    """`batch` transitions of each agent, uniformly and with replacement, each agent's on its own."""
    num_agents = buffer.rows.shape[1]
    # Not `randint`: its exact remainder costs more than the gather. The last row guards against rounding up.
    index = jnp.floor(jax.random.uniform(key, (batch, num_agents)) * buffer.size.astype(jnp.float32)).astype(jnp.int32)
    index = jnp.minimum(index, buffer.size - 1)
    rows = buffer.rows.at[index, jnp.arange(num_agents)].get(mode="promise_in_bounds")
    return unpack(rows, buffer.obs_size, buffer.act_size)


def pack(t: Transition) -> Float[Array, "*batch agent row"]:
    """A transition as one row: observation, action, reward, next observation, terminated, padding."""
    terminated = t.terminated.astype(t.obs.dtype)
    parts = [t.obs, t.action, t.reward[..., None], t.next_obs, terminated[..., None]]
    padding = -sum(part.shape[-1] for part in parts) % LINE
    return jnp.concatenate([*parts, jnp.zeros((*t.reward.shape, padding), t.obs.dtype)], axis=-1)


def unpack(rows: Float[Array, "*batch agent row"], obs_size: int, act_size: int) -> Transition:
    """The inverse of `pack`."""
    widths = (obs_size, act_size, 1, obs_size, 1)
    obs, action, reward, next_obs, terminated, _ = jnp.split(rows, list(accumulate(widths)), axis=-1)
    return Transition(obs, action, reward.squeeze(-1), next_obs, terminated.squeeze(-1) > 0.5)
