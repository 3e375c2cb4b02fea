"""A contest whose optimum is known to both sides."""

import dataclasses

import jax.numpy as jnp

from merlax.envs.base import Side
from merlax.envs.rules import Rule
from merlax.types import Reward

BEST = 0.5  # the opponent's best action
SCRIPT = -0.25  # where its rule stays


@dataclasses.dataclass(frozen=True)
class Tag:
    """Actions are places. The opponent is paid for being near BEST, the team for being near the opponent."""

    num_agents: int = 2
    horizon: int = 2

    @property
    def sides(self):
        return Side.equal(self.num_agents, obs_size=1, act_size=1), Side.equal(1, obs_size=2, act_size=1)

    def reset(self, key):
        del key
        return self._observe(), jnp.zeros((), jnp.int32)

    def step(self, key, state, action):
        del key
        team, opponent = action
        near = -jnp.abs(team - opponent)[:, 0]
        best = -jnp.abs(opponent[0, 0] - BEST)
        reward = Reward(team=near.mean(), agent=near), Reward(team=best, agent=best[None])
        state = state + 1
        return self._observe(), state, reward, jnp.zeros((), bool), state >= self.horizon, {}

    def rules(self, side):
        """Both stay at SCRIPT, where nothing is lost."""
        number = self.sides[side].num_agents
        return {"scripted": Rule(lambda obs: jnp.full((number, 1), SCRIPT), "stays where it is")}

    def _observe(self):
        return jnp.ones((self.num_agents, 1)), jnp.ones((1, 2))
