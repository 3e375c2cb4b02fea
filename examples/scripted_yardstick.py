"""How good is a simple rule? Rovers that head for the nearest POI, on many instances at once, without learning."""

import sys

import jax
import jax.numpy as jnp

import merlax

episodes = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
env = merlax.make("rover-3", speed="pinned")


def greedy(state):
    """Turn to the nearest POI that is not observed yet; a full turn action is 90°."""
    to_poi = state.poi[None] - state.position[:, None]
    distance = jnp.where(state.observed[None], jnp.inf, jnp.linalg.norm(to_poi, axis=-1))
    goal = jnp.take_along_axis(to_poi, jnp.argmin(distance, axis=1)[:, None, None], axis=1)[:, 0]
    turn = jnp.arctan2(goal[:, 1], goal[:, 0]) / jnp.pi - state.turn
    turn = jnp.mod(turn + 1.0, 2.0) - 1.0  # the shorter way
    return jnp.stack([jnp.ones_like(turn), jnp.clip(2.0 * turn, -1.0, 1.0)], axis=1)


def episode(key):
    def step(carry, key):
        state, ended, score = carry
        _, state, reward, terminated, truncated, _ = env.step(key, state, greedy(state))
        return (state, ended | terminated | truncated, score + jnp.where(ended, 0.0, reward.team)), None

    start = env.reset(key)[1], jnp.zeros((), bool), jnp.zeros(())
    return jax.lax.scan(step, start, jax.random.split(jax.random.fold_in(key, 1), env.horizon))[0][2]


scores = jax.jit(jax.vmap(episode))(jax.random.split(jax.random.key(0), episodes))
print(f"each to the nearest POI: {scores.mean():.3f} ± {1.96 * scores.std() / episodes**0.5:.3f}")
