"""From the outputs of a policy to the actions of agents that are not all alike, or that choose.

An output lies in [-1, 1], perhaps with noise. Whoever acts by numbers does them; whoever chooses takes the legal choice
with the largest output, and noise on the outputs is how it explores. Outputs that an agent does not have are 0.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from merlax.envs.base import Discrete, Side

# Of the softmax by which learners weigh choices. Of 1, 0.3 and 0.1 it learnt fastest (docs/algorithm.md).
TEMPERATURE = 0.3
# At least, of the squared outputs of whoever chooses, before their tanh: a softmax needs no outputs near ±1, where a
# learner that was wrong once would stay.
PENALTY = 0.05


def settle(
    side: Side,
    outputs: Float[Array, "*batch agent act"],
    obs: Float[Array, "*batch agent obs"],
    agents: Int[Array, " agent"],
) -> Float[Array, "*batch agent act"]:
    """What the agents do, as rows of actions."""
    possible = _possible(side, obs, agents)
    return _by_kind(side, agents, _choice(outputs, possible), jnp.where(possible, jnp.clip(outputs, -1.0, 1.0), 0.0))


def ways(
    side: Side,
    outputs: Float[Array, "*batch agent act"],
    obs: Float[Array, "*batch agent obs"],
    agents: Int[Array, " agent"],
) -> tuple[Float[Array, "way *batch agent"], Float[Array, "way *batch agent act"]]:
    """All that the agents may do, and how likely each is, so that a learner can climb what is to be expected of it.

    Choices are drawn from the softmax of their outputs. Whoever acts by numbers has one way.
    """
    possible = _possible(side, obs, agents)
    moved = jnp.where(possible, outputs, 0.0)
    if not side.chooses:
        return jnp.ones((1, *outputs.shape[:-1])), moved[None]
    likely = jax.nn.softmax(jnp.where(possible, outputs / TEMPERATURE, -1e9), axis=-1)
    number = max(space.size for space in side.action if isinstance(space, Discrete))
    chosen = jnp.eye(side.act_size)[:number].reshape(number, *[1] * (outputs.ndim - 1), side.act_size)
    shape = (number, *outputs.shape)
    action = _by_kind(side, agents, jnp.broadcast_to(chosen, shape), jnp.broadcast_to(moved[None], shape))
    only = jnp.broadcast_to(jax.nn.one_hot(0, side.act_size), outputs.shape)
    weight = _by_kind(side, agents, likely, only)[..., :number]
    return jnp.moveaxis(weight, -1, 0), action


def penalty(side: Side, agents: Int[Array, " agent"], given: float) -> Float[Array, "1 agent 1"]:
    """The weight of a penalty on each agent's squared outputs before their tanh."""
    weight = [max(given, PENALTY) if isinstance(space, Discrete) else given for space in side.action]
    return jnp.asarray(np.array(weight, np.float32))[agents][None, :, None]


def _possible(
    side: Side, obs: Float[Array, "*batch agent obs"], agents: Int[Array, " agent"]
) -> Bool[Array, "*batch agent act"]:
    """Which outputs an agent has, of those that are legal now."""
    sizes = np.array([[space.size] for space in side.action])
    own = jnp.asarray(np.arange(side.act_size)[None] < sizes)[agents]
    possible = jnp.broadcast_to(own, (*obs.shape[:-1], side.act_size))
    return possible & (obs[..., -side.act_size :] > 0.5) if side.masked else possible


def _choice(outputs: Array, possible: Array) -> Array:
    best = jnp.argmax(jnp.where(possible, outputs, -jnp.inf), axis=-1)
    return jax.nn.one_hot(best, outputs.shape[-1], dtype=outputs.dtype)


def _by_kind(side: Side, agents: Int[Array, " agent"], chosen: Array, moved: Array) -> Array:
    """Of both ways to act, each agent's own."""
    chooses = np.array([isinstance(space, Discrete) for space in side.action])
    if chooses.all() or not chooses.any():
        return chosen if chooses.all() else moved
    return jnp.where(jnp.broadcast_to(jnp.asarray(chooses)[agents][:, None], moved.shape), chosen, moved)
