"""Hand rules of the rover domain: yardsticks for teams that learn."""

from __future__ import annotations

import math

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from merlax.envs.base import Action, Obs

QUARTER = math.pi / 2  # the most that a rover turns in a step


def to_nearest(
    position: Float[Array, "agent 2"],
    turn: Float[Array, " agent"],
    poi: Float[Array, "poi 2"],
    observed: Bool[Array, " poi"],
) -> Action:
    """Each rover drives to the nearest POI that is not observed yet: the greedy rule."""
    squared = jnp.sum((poi[None] - position[:, None]) ** 2, axis=-1)
    nearest = jnp.argmin(jnp.where(observed[None], jnp.inf, squared), axis=1)
    return _drive_to(poi[nearest], position, turn)


def to_nearest_seen(obs: Obs, sectors: int, encoding: str) -> Action:
    """The greedy rule by what the rovers see, who go on to a POI for one step after it was observed."""
    poi = obs[:, 1 + sectors : 1 + 2 * sectors]  # the nearer, the larger, in both encodings
    sector = jnp.argmax(poi, axis=1).astype(jnp.float32)
    wanted = QUARTER - (sector + 0.5) * (2 * math.pi / sectors)  # from +x, not clockwise from +y
    heading = jnp.arctan2(obs[:, -2], obs[:, -1]) if encoding == "clean" else math.pi * obs[:, -1]
    return drive(heading, wanted)


def in_halves(
    position: Float[Array, "agent 2"],
    turn: Float[Array, " agent"],
    poi: Float[Array, "poi 2"],
    observed: Bool[Array, " poi"],
    coupling: int,
) -> Action:
    """Two fixed halves of the team drive to an unobserved POI each, together: those two with the shortest ways.

    The last POI is for both; and where half a team is too small to observe anything, all stay together.
    """
    num = position.shape[0]
    second = jnp.arange(num) >= (num // 2 if num // 2 >= coupling else num)
    ways = jnp.stack([_mean_distance(position, ~second, poi), _mean_distance(position, second, poi)])
    pairs = ways[0][:, None] + ways[1][None, :]
    left = ~observed
    taken = left[:, None] & left[None, :] & (~jnp.eye(poi.shape[0], dtype=bool) | (jnp.sum(left) == 1))
    best = jnp.argmin(jnp.where(taken, pairs, jnp.inf).reshape(-1))
    goal = jnp.where(second[:, None], poi[best % poi.shape[0]][None], poi[best // poi.shape[0]][None])
    return _drive_to(goal, position, turn)


def drive(heading: Float[Array, " agent"], wanted: Float[Array, " agent"]) -> Action:
    """At full speed, turning to the wanted direction as fast as a rover can."""
    off = jnp.mod(wanted - heading + math.pi, 2 * math.pi) - math.pi
    return jnp.stack([jnp.ones_like(off), jnp.clip(off / QUARTER, -1.0, 1.0)], axis=1)


def _drive_to(goal: Float[Array, "agent 2"], position: Float[Array, "agent 2"], turn: Float[Array, " agent"]) -> Action:
    way = goal - position
    return drive(math.pi * turn, jnp.arctan2(way[:, 1], way[:, 0]))


def _mean_distance(
    position: Float[Array, "agent 2"], members: Bool[Array, " agent"], poi: Float[Array, "poi 2"]
) -> Float[Array, " poi"]:
    """How far the members of a group are from each POI, on average; 0 if there are none."""
    distance = jnp.sqrt(jnp.sum((poi[None] - position[:, None]) ** 2, axis=-1))
    size = jnp.maximum(jnp.sum(members.astype(jnp.float32)), 1.0)
    return jnp.sum(jnp.where(members[:, None], distance, 0.0), axis=0) / size
