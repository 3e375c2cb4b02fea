"""How teams fail in the rover domain: who waits where at the end, and how straight the ways were."""

from __future__ import annotations

import math

import jax.numpy as jnp
from jaxtyping import Array, Float

from merlax.envs import diagnosis
from merlax.envs.diagnosis import History, Measure

RECENT = 5  # steps over which a rover is seen to move, or not
MOVED = 1.0  # how far it then is from where it was
NEAR = 2.0  # times the observation distance: within it, but not waiting, a rover is near
_PLACES = ("waiting", "near, moving", "near, not", "far, moving", "far, not")
_ENDS = ("all observed", "deadlock: all wait", "split: enough wait", "too few there")


def measures(history: History, coupling: int, reach: float) -> tuple[Measure, ...]:
    """What `merlax diagnose` tells of one episode."""
    end, before = history.at(history.steps), history.at(history.steps - 1)
    left = ~before.observed  # what the last step's visits observe no longer counts
    distance = _distances(end.position, end.poi)
    failed = jnp.any(left)
    nearest = jnp.min(jnp.where(left[None], distance, jnp.inf), axis=1)
    waiting = nearest <= reach
    visitors = jnp.sum(distance <= reach, axis=0)
    ago = history.at(jnp.maximum(history.steps - RECENT, 0)).position
    moving = jnp.sqrt(jnp.sum((end.position - ago) ** 2, axis=-1)) > MOVED
    near = nearest <= NEAR * reach
    place = jnp.where(waiting, 0, jnp.where(near, 1, 3) + jnp.where(moving, 0, 1))
    enough = jnp.sum(waiting) >= coupling
    how = jnp.where(~failed, 0, jnp.where(jnp.all(waiting), 1, jnp.where(enough, 2, 3)))
    names = (*map(str, range(coupling)), f"{coupling}, too late")
    return (
        diagnosis.shares("how episodes end", _ENDS, how, jnp.ones((), bool)),
        diagnosis.shares("rovers within reach of a POI left unobserved", names, jnp.minimum(visitors, coupling), left),
        diagnosis.shares(
            "rovers at the end of a failed episode", _PLACES, place, jnp.broadcast_to(failed, place.shape)
        ),
        _headings(history, reach),
        _steps_until(history),
    )  # fmt: skip


def _headings(history: History, reach: float) -> Measure:
    """The cosine between a rover's way and the best-aligned unobserved POI, by how far that one is."""
    states = history.states
    way = states.poi[:-1, None] - states.position[:-1, :, None]  # [time, agent, poi, 2]
    distance = jnp.sqrt(jnp.sum(way**2, axis=-1))
    angle = math.pi * states.turn[1:]
    along = way[..., 0] * jnp.cos(angle)[..., None] + way[..., 1] * jnp.sin(angle)[..., None]
    cosine = jnp.where(states.observed[:-1, None], -jnp.inf, along / jnp.maximum(distance, 1e-6))
    best = jnp.argmax(cosine, axis=-1, keepdims=True)
    cosine = jnp.take_along_axis(cosine, best, axis=-1)
    far = jnp.take_along_axis(distance, best, axis=-1)
    known = history.valid[:, None, None] & jnp.any(~states.observed[:-1], axis=-1)[:, None, None]
    ends = (reach, 2 * reach, 10.0 * reach / 3, jnp.inf)
    starts = (0.0, *ends[:-1])
    inside = jnp.concatenate([(far > a) & (far <= b) for a, b in zip(starts, ends, strict=True)], axis=-1)
    every = jnp.concatenate([jnp.ones_like(known & (far > 0.0)), inside], axis=-1)
    classes = ("all", *(f"to {end:g}" for end in ends[:-1]), "farther")
    says = "heading: cosine with the best-aligned unobserved POI, by its distance"
    value = jnp.where(every & known, jnp.broadcast_to(cosine, every.shape), jnp.nan)
    return Measure(says, classes, value)


def _steps_until(history: History) -> Measure:
    """After how many steps the first, the second, … POI was observed, where it was."""
    observed = history.states.observed
    number = observed.shape[-1]
    enough = jnp.sum(observed, axis=-1)[:, None] > jnp.arange(number)[None]
    played = jnp.arange(observed.shape[0])[:, None] < history.steps  # the last step's visits do not count
    when = jnp.argmax(enough & played, axis=0).astype(jnp.float32)
    value = jnp.where(jnp.any(enough & played, axis=0), when, jnp.nan)
    return Measure("steps until so many POIs were observed", tuple(str(1 + k) for k in range(number)), value)


def _distances(position: Float[Array, "agent 2"], poi: Float[Array, "poi 2"]) -> Float[Array, "agent poi"]:
    return jnp.sqrt(jnp.sum((poi[None] - position[:, None]) ** 2, axis=-1))
