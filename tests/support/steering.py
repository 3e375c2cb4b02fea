"""Policies that read the state of a rover world instead of its observations."""

import jax.numpy as jnp


def head_for(state, target):
    """Full speed, and the largest turn allowed towards `target` [agent, 2]."""
    offset = target - state.position
    turn = jnp.mod(jnp.arctan2(offset[:, 1], offset[:, 0]) / jnp.pi - state.turn + 1.0, 2.0) - 1.0
    return jnp.stack([jnp.ones_like(turn), jnp.clip(2.0 * turn, -1.0, 1.0)], axis=1)


def head_for_nearest(state):
    """Every rover heads straight for the nearest POI that is not observed yet."""
    distance = jnp.linalg.norm(state.poi[None] - state.position[:, None], axis=-1)
    nearest = jnp.argmin(jnp.where(state.observed[None], jnp.inf, distance), axis=1)
    return head_for(state, state.poi[nearest])
