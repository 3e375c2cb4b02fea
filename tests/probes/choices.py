"""A world of choices, of which not all are legal, and whose optimum is known."""

import dataclasses
from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from merlax.envs.base import Side
from merlax.types import Reward

LAMPS = 3
JOKER = LAMPS  # the last choice


class ChoicesState(eqx.Module):
    lamp: Int[Array, " agent"]
    open: Bool[Array, " agent"]
    best: Float[Array, ""]  # what a perfect team would have been paid so far, on average
    missed: Bool[Array, ""]
    time: Int[Array, ""]


@dataclasses.dataclass(frozen=True)
class Choices:
    """An agent sees which lamp is lit and chooses a door. That of its lamp pays 0.5, the joker 1, where it is legal.

    The first agent's doors are numbered like the lamps, the second's backwards. Whoever takes a door that is closed
    is paid -9, so a team that ignores what is legal never learns that the joker is best.
    `needs="agent"`: an agent is paid for its doors; the team 1 at the end if everybody always took the best.
    `needs="team"`: the team is paid the mean share of the best; an agent always the same. A perfect team scores 1.
    """

    needs: Literal["agent", "team"] = "agent"
    horizon: int = 4
    num_agents: int = 2

    @property
    def sides(self):
        return (Side.equal(self.num_agents, obs_size=LAMPS + 1, choices=LAMPS + 1, masked=True),)

    def legal(self, state):
        lamps = jnp.ones((self.num_agents, LAMPS), bool)
        return jnp.concatenate([lamps, state.open[:, None]], axis=1)

    def reset(self, key):
        state = ChoicesState(*self._draw(key), jnp.zeros(()), jnp.zeros((), bool), jnp.zeros((), jnp.int32))
        return self._observe(state), state

    def step(self, key, state, action):
        backwards = jnp.arange(self.num_agents) % 2 == 1
        right = jnp.where(backwards, LAMPS - 1 - state.lamp, state.lamp)
        best = jnp.where(state.open, 1.0, 0.5)
        paid = jnp.where(action == right, 0.5, 0.0)
        paid = jnp.where(action == JOKER, jnp.where(state.open, 1.0, -9.0), paid)
        missed = state.missed | jnp.any(paid < best)
        state = ChoicesState(*self._draw(key), state.best + best.mean(), missed, state.time + 1)
        ends = state.time >= self.horizon
        if self.needs == "agent":
            reward = Reward(jnp.where(ends & ~missed, 1.0, 0.0), paid)
        else:
            reward = Reward((paid / best).mean() / self.horizon, jnp.ones(self.num_agents))
        return self._observe(state), state, reward, ends, jnp.zeros((), bool), {}

    def _draw(self, key):
        key_lamp, key_open = jax.random.split(key)
        lamp = jax.random.randint(key_lamp, (self.num_agents,), 0, LAMPS)
        return lamp, jax.random.bernoulli(key_open, 0.5, (self.num_agents,))

    def _observe(self, state):
        index = jnp.linspace(-1.0, 1.0, self.num_agents)[:, None]
        return jnp.concatenate([index, jax.nn.one_hot(state.lamp, LAMPS)], axis=1)
