"""A world whose agents leave before its end, and whose optimum is known."""

import dataclasses
from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from merlax.envs.base import Side
from merlax.types import Reward

REACH = 0.25


class LeaversState(eqx.Module):
    target: Float[Array, " agent"]
    last: Int[Array, " agent"]  # step after which an agent is not there any more
    missed: Bool[Array, ""]
    time: Int[Array, ""]


@dataclasses.dataclass(frozen=True)
class Leavers:
    """Agents throw darts at what they see, as long as they are there. Afterwards the world goes on lying to them.

    Whoever has left is shown targets and paid ten times as much for throwing the other way, so a learner that takes
    notice learns the opposite; with `lies=nan` it is shown and paid what is no number.
    `needs="agent"`: an agent is paid for each throw, by its distance; the team 1 at the end if nobody ever missed.
    `needs="team"`: the team is paid for all throws together, by their mean distance. A perfect team scores 1 in both.
    """

    needs: Literal["agent", "team"] = "agent"
    num_agents: int = 2
    horizon: int = 5
    lies: float = 1.0

    @property
    def sides(self):
        return (Side.equal(self.num_agents, obs_size=2, act_size=1, leaving=True),)

    def present(self, state):
        return state.time < state.last

    def reset(self, key):
        key_target, key_last = jax.random.split(key)
        last = jax.random.randint(key_last, (self.num_agents,), 1, self.horizon)
        state = LeaversState(self._targets(key_target), last, jnp.zeros((), bool), jnp.zeros((), jnp.int32))
        return self._observe(state), state

    def step(self, key, state, action):
        here = self.present(state)
        distance = jnp.abs(action[:, 0] - state.target)
        missed = state.missed | jnp.any(here & (distance > REACH))
        state = LeaversState(self._targets(key), state.last, missed, state.time + 1)
        ends = state.time >= self.horizon
        agent = jnp.where(here, 1.0 - distance, 10.0 * distance * self.lies)
        throws = state.last.sum().astype(jnp.float32)
        paid = jnp.where(here, 1.0 - distance, 0.0).sum() / throws
        if self.needs == "agent":
            reward = Reward(jnp.where(ends & ~missed, 1.0, 0.0), agent)
        else:
            reward = Reward(paid, jnp.where(here, 1.0, agent))
        return self._observe(state), state, reward, ends, jnp.zeros((), bool), {}

    def _targets(self, key):
        return jax.random.uniform(key, (self.num_agents,), minval=-0.8, maxval=0.8)

    def _observe(self, state):
        target = jnp.where(self.present(state), state.target, state.target * self.lies)
        return jnp.stack([jnp.linspace(-1.0, 1.0, self.num_agents), target], axis=1)
