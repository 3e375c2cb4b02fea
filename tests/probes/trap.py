"""A miniature of the two-rover trap (paper, Figure 1): the agents' rewards lead to half of the team's."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from merlax.envs.base import Side
from merlax.types import Reward

NEAR, FAR = 0.4, -0.4
REACH = 0.25


class TrapState(eqx.Module):
    lights: Float[Array, "agent 2"]  # each -1 or 1
    free: Bool[Array, " agent"]  # every key was right so far
    position: Float[Array, " agent"]
    time: Int[Array, ""]


@dataclasses.dataclass(frozen=True)
class Trap:
    """Two agents, two places. An action is a key and an aim; the right key is the product of the agent's two lights.

    Whoever used the right key in every step ends where it aimed, on average; the team is paid 0.5 for each place where
    somebody is at the end, so 1 if they part. An agent is paid for its key and for aiming at NEAR: 0.5 for the team.
    No random team opens every lock, so evolution alone finds nothing to select.
    """

    num_agents: int = 2
    horizon: int = 16

    @property
    def sides(self):
        return (Side.equal(self.num_agents, obs_size=3, act_size=2),)

    def reset(self, key):
        free, position = jnp.ones(self.num_agents, bool), jnp.zeros(self.num_agents)
        state = TrapState(self._lights(key), free, position, jnp.zeros((), jnp.int32))
        return self._observe(state), state

    def step(self, key, state, action):
        fit, aim = action[:, 0] * state.lights.prod(axis=1), action[:, 1]
        free, position = state.free & (fit > 0.5), state.position + aim / self.horizon
        state = TrapState(self._lights(key), free, position, state.time + 1)
        ends = state.time >= self.horizon
        there = free[:, None] & (jnp.abs(position[:, None] - jnp.array([[NEAR, FAR]])) < REACH)  # [agent, place]
        share = there.any(axis=0).mean(dtype=jnp.float32)
        agent = 0.5 * (fit - jnp.abs(aim - NEAR))
        return self._observe(state), state, Reward(jnp.where(ends, share, 0.0), agent), ends, jnp.zeros((), bool), {}

    def _lights(self, key):
        return jax.random.rademacher(key, (self.num_agents, 2), jnp.float32)

    def _observe(self, state):
        index = jnp.linspace(-1.0, 1.0, self.num_agents)[:, None]
        return jnp.concatenate([index, state.lights], axis=1)
