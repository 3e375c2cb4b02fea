"""A contest whose optimum is known to both sides."""

import dataclasses

import jax.numpy as jnp

from merlax.envs.base import Side
from merlax.types import Reward

BEST = 0.5  # the opponent's best action


@dataclasses.dataclass(frozen=True)
class Tag:
    """Actions are places. The opponent is paid for being near BEST, the team for being near the opponent."""

    num_agents: int = 2
    obs_size: int = 1
    act_size: int = 1
    horizon: int = 2

    @property
    def opponent(self):
        return Side(num_agents=1, obs_size=2, act_size=1)

    def reset(self, key):
        del key
        state = {"place": jnp.zeros(1), "time": jnp.zeros((), jnp.int32)}
        return jnp.ones((self.num_agents, 1)), state

    def step(self, key, state, action, opponent_action):
        del key
        near = -jnp.abs(action - opponent_action)[:, 0]
        state = {"place": opponent_action[0], "time": state["time"] + 1}
        reward = Reward(team=near.mean(), agent=near)
        ends = state["time"] >= self.horizon
        return jnp.ones((self.num_agents, 1)), state, reward, jnp.zeros((), bool), ends, {}

    def opponent_obs(self, state):
        del state
        return jnp.ones((1, 2))

    def opponent_reward(self, state):
        return -jnp.abs(state["place"] - BEST)

    def scripted_opponent(self, state):
        del state
        return jnp.full((1, 1), -0.25)
