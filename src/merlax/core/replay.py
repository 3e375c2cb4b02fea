"""One cyclic replay buffer per agent (paper, Algorithm 1, line 3).

The buffers fill in lockstep, since every joint step gives each agent one transition, so they share a
cursor; each is sampled on its own. A transition is one row of numbers: one gather fetches it whole.
Where several devices share the gradient steps, each keeps a part of the buffers, and `shard` is the leading axis.
"""

from __future__ import annotations

from itertools import accumulate

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from merlax.core import devices
from merlax.core.records import MAY_BREAK
from merlax.envs.base import Side
from merlax.types import Key, Transition

LINE = 16  # numbers in a cache line: rows of whole lines are gathered a tenth faster


class Buffer(eqx.Module):
    """The newest `capacity` transitions of each agent."""

    # Too many to look at in every generation: each was checked as it came.
    rows: Float[Array, "*shard capacity agent row"] = eqx.field(metadata=MAY_BREAK)
    cursor: Int[Array, "*shard"]  # where the next transition goes
    size: Int[Array, "*shard"]  # how many are stored
    obs_size: int = eqx.field(static=True)
    act_size: int = eqx.field(static=True)
    leaving: bool = eqx.field(static=True, default=False)  # then a row says whether its agent was there


def create(capacity: int, side: Side, shards: int = 1) -> Buffer:
    """Empty buffers, in as many equal parts as there are shards."""
    rows = jnp.zeros((shards, capacity // shards, side.num_agents, row_size(side)))
    nothing = jnp.zeros(shards, jnp.int32)
    return Buffer(rows, nothing, jnp.copy(nothing), side.obs_size, side.act_size, side.leaving)


def row_size(side: Side) -> int:
    """Numbers in a row, which are those of a transition in whole cache lines."""
    width = numbers(side)
    return width + -width % LINE


def numbers(side: Side) -> int:
    """Numbers of one agent's transition."""
    return 2 * side.obs_size + side.act_size + 3 + side.leaving


def store(buffers: Buffer, transitions: Transition, valid: Bool[Array, "*batch"]) -> Buffer:
    """Store the valid transitions of a batch of episodes, an equal part of them in each shard."""
    shards = buffers.size.shape[0]

    def deal(leaf: Array) -> Array:
        flat = leaf.reshape(-1, *leaf.shape[valid.ndim :])
        missing = jnp.zeros((-flat.shape[0] % shards, *flat.shape[1:]), flat.dtype)  # not valid
        return jnp.concatenate([flat, missing]).reshape(shards, -1, *flat.shape[1:])

    parts = jax.tree.map(deal, (transitions, valid))
    add_each = devices.shard_over(shards, jax.vmap(lambda part: add(part[0], *part[1])))
    return add_each((buffers, parts))


def add(buffer: Buffer, transitions: Transition, valid: Bool[Array, " step"]) -> Buffer:
    """Store the valid transitions in one shard, in order, over the oldest ones; the others leave no trace.

    Nor does a transition with a number that is not finite: one alone would spoil all weights that learn from it.
    """
    capacity = buffer.rows.shape[0]
    rows = pack(transitions)
    valid = valid & jnp.isfinite(rows).all(axis=(1, 2))
    if transitions.present is not None:
        valid = valid & transitions.present.any(axis=1)
    rank = jnp.cumsum(valid)
    total = rank[-1]
    keep = valid & (rank > total - capacity)  # of more than fit, the newest
    place = jnp.where(keep, (buffer.cursor + rank - 1) % capacity, capacity)
    return Buffer(
        buffer.rows.at[place].set(rows, mode="drop", unique_indices=True),
        (buffer.cursor + total) % capacity,
        jnp.minimum(buffer.size + total, capacity),
        buffer.obs_size,
        buffer.act_size,
        buffer.leaving,
    )


def sample(key: Key, buffer: Buffer, batch: int) -> Transition:
    """`batch` transitions of each agent from one shard, uniformly and with replacement, each agent's on its own."""
    return transitions(draw(key, buffer, batch), buffer)


def sample_joint(key: Key, buffer: Buffer, batch: int) -> Transition:
    """`batch` transitions from one shard, of all agents at the same instants: what a critic of joint actions needs."""
    return transitions(draw_joint(key, buffer, batch), buffer)


def draw(key: Key, buffer: Buffer, batch: int) -> Float[Array, "batch agent row"]:
    """The rows of a `sample`, as they are stored."""
    num_agents = buffer.rows.shape[1]
    index = _random_index(key, buffer, (batch, num_agents))
    return buffer.rows.at[index, jnp.arange(num_agents)].get(mode="promise_in_bounds")


def draw_joint(key: Key, buffer: Buffer, batch: int) -> Float[Array, "batch agent row"]:
    """The rows of a `sample_joint`, as they are stored."""
    return buffer.rows.at[_random_index(key, buffer, (batch,))].get(mode="promise_in_bounds")


def transitions(rows: Float[Array, "*batch agent row"], buffer: Buffer) -> Transition:
    """What rows of this buffer say."""
    return unpack(rows, buffer.obs_size, buffer.act_size, buffer.leaving)


def _random_index(key: Key, buffer: Buffer, shape: tuple[int, ...]) -> Int[Array, "*shape"]:
    # Not `randint`: its exact remainder costs more than the gather. The last row guards against rounding up.
    index = jnp.floor(jax.random.uniform(key, shape) * buffer.size.astype(jnp.float32)).astype(jnp.int32)
    return jnp.minimum(index, buffer.size - 1)


def pack(t: Transition) -> Float[Array, "*batch agent row"]:
    """A transition as one row: observation, action, both rewards, next observation, terminated, present, padding."""
    rewards = jnp.stack([t.agent_reward, t.team_reward], axis=-1)
    flags = [flag for flag in (t.terminated, t.present) if flag is not None]
    parts = [t.obs, t.action, rewards, t.next_obs, *(flag.astype(t.obs.dtype)[..., None] for flag in flags)]
    padding = -sum(part.shape[-1] for part in parts) % LINE
    return jnp.concatenate([*parts, jnp.zeros((*t.terminated.shape, padding), t.obs.dtype)], axis=-1)


def unpack(rows: Float[Array, "*batch agent row"], obs_size: int, act_size: int, leaving: bool = False) -> Transition:
    """The inverse of `pack`."""
    widths = (obs_size, act_size, 1, 1, obs_size, 1, *([1] if leaving else []))
    obs, action, agent, team, next_obs, *flags, _ = jnp.split(rows, list(accumulate(widths)), axis=-1)
    terminated, *present = (flag.squeeze(-1) > 0.5 for flag in flags)
    return Transition(obs, action, agent.squeeze(-1), team.squeeze(-1), next_obs, terminated, *present)
