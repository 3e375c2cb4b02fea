"""A world whose optimum is known and that only one of its two rewards leads to."""

import dataclasses
from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from merlax.envs.base import Side
from merlax.types import Reward

REACH = 0.25


class DartsState(eqx.Module):
    target: Float[Array, " agent"]
    missed: Bool[Array, ""]
    time: Int[Array, ""]
    last: Int[Array, ""]


@dataclasses.dataclass(frozen=True)
class Darts:
    """An agent sees its target, and an action is where its dart goes: the best policy throws at the target.

    `needs="agent"`: an agent is paid for each throw, by its distance; the team 1 at the end if nobody ever missed.
    `needs="team"`: the team is paid for each throw, by the mean distance; an agent always the same.
    A perfect team scores 1 in both. An episode ends after 3 or 4 throws, before its horizon.
    """

    needs: Literal["agent", "team"]
    num_agents: int = 2
    horizon: int = 5

    @property
    def sides(self):
        return (Side.equal(self.num_agents, obs_size=2, act_size=1),)

    def reset(self, key):
        key_target, key_last = jax.random.split(key)
        last = jax.random.randint(key_last, (), 3, 5)
        state = DartsState(self._targets(key_target), jnp.zeros((), bool), jnp.zeros((), jnp.int32), last)
        return self._observe(state), state

    def step(self, key, state, action):
        distance = jnp.abs(action[:, 0] - state.target)
        missed = state.missed | jnp.any(distance > REACH)
        state = DartsState(self._targets(key), missed, state.time + 1, state.last)
        ends = state.time >= state.last
        if self.needs == "agent":
            reward = Reward(jnp.where(ends & ~missed, 1.0, 0.0), 1.0 - distance)
        else:
            throws = state.last.astype(jnp.float32)
            reward = Reward((1.0 - distance.mean()) / throws, jnp.ones(self.num_agents))
        return self._observe(state), state, reward, ends, jnp.zeros((), bool), {}

    def _targets(self, key):
        return jax.random.uniform(key, (self.num_agents,), minval=-0.8, maxval=0.8)

    def _observe(self, state):
        return jnp.stack([jnp.linspace(-1.0, 1.0, self.num_agents), state.target], axis=1)
