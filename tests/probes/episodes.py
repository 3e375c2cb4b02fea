"""Tiny worlds whose episodes are known in advance."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from merlax.envs.base import Side
from merlax.types import Reward


class CountdownState(eqx.Module):
    time: Int[Array, ""]
    luck: Float[Array, " agent"]


@dataclasses.dataclass(frozen=True)
class Countdown:
    """Terminates in step `last` and goes on paying afterwards: step t pays the team t, and agent k t * (k + 1)."""

    num_agents: int = 2
    horizon: int = 6
    last: int = 4

    @property
    def sides(self):
        return (Side.equal(self.num_agents, obs_size=3, act_size=2),)

    def reset(self, key):
        state = CountdownState(jnp.zeros((), jnp.int32), jax.random.uniform(key, (self.num_agents,)))
        return self._observe(state), state

    def step(self, key, state, action):
        luck = state.luck + action.sum(axis=1) + jax.random.uniform(key, (self.num_agents,))
        state = CountdownState(state.time + 1, luck)
        paid = state.time.astype(jnp.float32)
        reward = Reward(team=paid, agent=paid * jnp.arange(1.0, self.num_agents + 1.0))
        return self._observe(state), state, reward, state.time >= self.last, state.time >= self.horizon, {}

    def _observe(self, state):
        index = jnp.arange(self.num_agents, dtype=jnp.float32)
        time = jnp.full(self.num_agents, state.time.astype(jnp.float32))
        return jnp.stack([index, time, state.luck], axis=1)


@dataclasses.dataclass(frozen=True)
class Targets:
    """One step; agent k is paid 1 - (a - target_k)², so the best action is its target."""

    targets: tuple[float, ...] = (-0.6, 0.5)
    horizon: int = 1

    @property
    def num_agents(self):
        return len(self.targets)

    @property
    def sides(self):
        return (Side.equal(self.num_agents, obs_size=self.num_agents, act_size=1),)

    def reset(self, key):
        del key
        return jnp.eye(self.num_agents), jnp.zeros(())

    def step(self, key, state, action):
        del key
        paid = 1.0 - (action[:, 0] - jnp.array(self.targets)) ** 2
        return jnp.eye(self.num_agents), state, Reward(paid.sum(), paid), jnp.ones((), bool), jnp.zeros((), bool), {}
