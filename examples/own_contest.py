"""A world with an opponent: two agents corner a runner on a line. merlax train own_contest:Tag --opponent scripted"""

import dataclasses

import jax
import jax.numpy as jnp

import merlax


def _flee(state):
    away = state[0][2] - state[0][:2, 0]  # from each catcher
    return jnp.sign(away[jnp.argmin(jnp.abs(away))])[None, None]


@dataclasses.dataclass(frozen=True)
class Tag:
    """Two catchers on a line, and a runner who is faster; a catch is being nearer than 0.1 on both sides of it."""

    horizon: int = 20
    sides = (merlax.Side.equal(2, obs_size=3, act_size=1), merlax.Side.equal(1, obs_size=3, act_size=1))

    def reset(self, key):
        place = jax.random.uniform(key, (3, 1), minval=-1.0, maxval=1.0)  # the catchers, then the runner
        return self._observe(place), (place, jnp.zeros((), jnp.int32))

    def step(self, key, state, action):
        moves = 0.1 * action[0], 0.15 * action[1]  # of the team, of the opponent
        place, time = jnp.clip(state[0] + jnp.concatenate(moves), -1.0, 1.0), state[1] + 1
        gap = place[:2, 0] - place[2:, 0]
        caught = 1.0 * (jnp.all(jnp.abs(gap) < 0.1) & (gap[0] * gap[1] < 0))
        runner = jnp.abs(gap).min()[None] - caught
        reward = merlax.Reward(caught, -jnp.abs(gap)), merlax.Reward(-caught, runner)
        return self._observe(place), (place, time), reward, jnp.zeros((), bool), time >= self.horizon, {}

    def rules(self, side):
        return {"scripted": merlax.Rule(_flee, "runs from the nearest", "state")} if side else {}

    def _observe(self, place):
        rows = jnp.stack([jnp.concatenate([place[i], jnp.delete(place, i, axis=0)[:, 0]]) for i in range(3)])
        return rows[:2], rows[2:]
