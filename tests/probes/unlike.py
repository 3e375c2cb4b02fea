"""A world whose agents differ: each sees and does something else, and the optimum is known."""

import dataclasses
from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from merlax.envs.base import Box, Discrete, Side
from merlax.types import Reward

REACH = 0.3
LAMPS = 3


class UnlikeState(eqx.Module):
    target: Float[Array, " 3"]
    lamp: Int[Array, ""]
    missed: Bool[Array, ""]
    time: Int[Array, ""]


@dataclasses.dataclass(frozen=True)
class Unlike:
    """The first agent throws a dart at one target, the second at two, and the third says which lamp is lit.

    `needs="agent"`: an agent is paid by how near it was; the team 1 at the end if nobody ever missed.
    `needs="team"`: the team is paid by the mean of that; an agent always the same. A perfect team scores 1 in both.
    """

    needs: Literal["agent", "team"] = "agent"
    horizon: int = 3

    @property
    def sides(self):
        return (Side(obs=(Box(1), Box(2), Box(LAMPS)), action=(Box(1), Box(2), Discrete(LAMPS))),)

    def reset(self, key):
        state = UnlikeState(*self._draw(key), jnp.zeros((), bool), jnp.zeros((), jnp.int32))
        return self._observe(state), state

    def step(self, key, state, action):
        first, second, lamp = action
        right = (lamp == state.lamp).astype(jnp.float32)
        distance = jnp.abs(jnp.concatenate([first, second]) - state.target)
        near = jnp.stack([1.0 - distance[0], 1.0 - distance[1:].mean(), right])
        missed = state.missed | jnp.any(distance > REACH) | (right < 1.0)
        state = UnlikeState(*self._draw(key), missed, state.time + 1)
        ends = state.time >= self.horizon
        if self.needs == "agent":
            reward = Reward(jnp.where(ends & ~missed, 1.0, 0.0), near)
        else:
            reward = Reward(near.mean() / self.horizon, jnp.ones(3))
        return self._observe(state), state, reward, ends, jnp.zeros((), bool), {}

    def _draw(self, key):
        key_target, key_lamp = jax.random.split(key)
        return jax.random.uniform(key_target, (3,), minval=-0.8, maxval=0.8), jax.random.randint(key_lamp, (), 0, LAMPS)

    def _observe(self, state):
        return state.target[:1], state.target[1:], jax.nn.one_hot(state.lamp, LAMPS)
