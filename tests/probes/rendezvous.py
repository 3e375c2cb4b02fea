"""A world whose optimum is known: reach a mark, and all the same one."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from merlax.envs.base import Side
from merlax.types import Reward

MARKS = (-0.5, 0.5)
REACH = 0.2


class RendezvousState(eqx.Module):
    start: Float[Array, "agent 1"]
    time: Int[Array, ""]


@dataclasses.dataclass(frozen=True)
class Rendezvous:
    """An action is a place. Being near a mark pays an agent; only all at the same one pays the team: 1, at the end."""

    num_agents: int = 2
    horizon: int = 3

    @property
    def sides(self):
        return (Side.equal(self.num_agents, obs_size=2, act_size=1),)

    def reset(self, key):
        state = RendezvousState(jax.random.uniform(key, (self.num_agents, 1)), jnp.zeros((), jnp.int32))
        return self._observe(state), state

    def step(self, key, state, action):
        del key
        state = RendezvousState(state.start, state.time + 1)
        distance = jnp.abs(action - jnp.array([MARKS]))  # [agent, mark]
        truncated = state.time >= self.horizon
        together = jnp.any(jnp.all(distance < REACH, axis=0)).astype(jnp.float32)
        reward = Reward(team=jnp.where(truncated, together, 0.0), agent=1.0 - distance.min(axis=1))
        return self._observe(state), state, reward, jnp.zeros((), bool), truncated, {}

    def _observe(self, state):
        index = jnp.arange(self.num_agents, dtype=jnp.float32)[:, None]
        return jnp.concatenate([index, state.start], axis=1)
