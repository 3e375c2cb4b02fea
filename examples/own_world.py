"""A JAX world of your own, trained from the command line in this folder: merlax train own_world:Corners --env.size 3"""

import dataclasses

import jax
import jax.numpy as jnp

import merlax


@dataclasses.dataclass(frozen=True)
class Corners:
    """Two agents walk in a square. Being near any corner pays an agent; only different corners pay the team."""

    size: float = 2.0
    horizon: int = 20
    sides = (merlax.Side.equal(num_agents=2, obs_size=5, act_size=2),)

    def reset(self, key):
        state = jax.random.uniform(key, (2, 2), minval=-0.2, maxval=0.2), jnp.zeros((), jnp.int32)
        return self._observe(state), state

    def step(self, key, state, action):
        position, time = state
        position = jnp.clip(position + 0.3 * action, -self.size, self.size)
        state = position, time + 1
        corners = self.size * jnp.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])
        distance = jnp.linalg.norm(position[:, None] - corners[None], axis=-1)  # [agent, corner]
        there = jnp.any(distance < 0.5, axis=0).sum() / 2.0
        ends = state[1] >= self.horizon
        reward = merlax.Reward(team=jnp.where(ends, there, 0.0), agent=-distance.min(axis=1))
        return self._observe(state), state, reward, jnp.zeros((), bool), ends, {}

    def _observe(self, state):
        position, _ = state
        which = jnp.array([[-1.0], [1.0]])
        return jnp.concatenate([which, position, position[::-1]], axis=1)
