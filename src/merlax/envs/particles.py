"""The physics that the particle worlds share: round bodies of unit mass in the plane (Lowe et al. 2017).

The order of integration is that of PyPI's `mpe2`: forces come from the current positions, positions
move with the old velocities, and velocities change last.
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from merlax.envs import diagnosis, drawing, loops
from merlax.envs.diagnosis import History, Measure
from merlax.envs.drawing import Circles
from merlax.types import Key

DT = 0.1
DAMPING = 0.25  # share of a velocity that one step takes away
CONTACT_FORCE = 100.0
CONTACT_MARGIN = 0.001  # how far from each other bodies start to feel a contact
COAST = DT / DAMPING  # how far a body of speed 1 still glides if nobody pushes it
OPPONENT = 1  # which side it is
GROUND = (-1.0, -1.0), (1.0, 1.0)  # where everything starts
TINY = 1e-12  # squared distance of bodies that coincide: they divide by it, and do not push each other


class ParticleState(eqx.Module):
    """One world at one instant. Batch with `jax.vmap`, never with extra axes."""

    position: Float[Array, "body 2"]  # what moves, in mpe2's order
    velocity: Float[Array, "body 2"]
    landmark: Float[Array, "landmark 2"]
    target: Int[Array, ""]  # the landmark that counts, in the worlds that have one
    time: Int[Array, ""]


def scatter(key: Key, num_bodies: int, num_landmarks: int, landmark_range: float = 1.0) -> ParticleState:
    """Everything somewhere in the square [-1, 1]², or in its inner part for the landmarks, and at rest."""
    num = num_bodies + num_landmarks
    draws = jax.random.uniform(key, (2 * num + 1,))  # one draw: random programs compile slowly
    place = 2.0 * draws[:-1].reshape(num, 2) - 1.0
    return ParticleState(
        position=place[:num_bodies],
        velocity=jnp.zeros((num_bodies, 2)),
        landmark=landmark_range * place[num_bodies:],
        target=jnp.floor(num_landmarks * draws[-1]).astype(jnp.int32),
        time=jnp.zeros((), jnp.int32),
    )


def advance(
    state: ParticleState, force: Float[Array, "body 2"], top_speed: Float[Array, " body"] | None = None
) -> ParticleState:
    """One step of time under these forces."""
    velocity = (1.0 - DAMPING) * state.velocity + DT * force
    if top_speed is not None:
        slower = jnp.minimum(1.0, top_speed / length(velocity))
        velocity = slower[:, None] * velocity
    position = state.position + DT * state.velocity
    return ParticleState(position, velocity, state.landmark, state.target, state.time + 1)


def contact(
    position: Float[Array, "body 2"], other: Float[Array, "other 2"], reach: Float[Array, " body"]
) -> Float[Array, "body 2"]:
    """The force on each body from others of one size, which it touches nearer than `reach`, the sum of both radii.

    A body that is among the others does not push itself. One pass per other, and x and y apart: XLA makes one
    kernel of that, which is three times as fast as sums over an axis of pairs.
    """
    x, y = position[:, 0], position[:, 1]

    def add_push(one: Any, force: tuple[Array, Array]) -> tuple[Array, Array]:
        dx, dy = x - other[one, 0], y - other[one, 1]
        distance = _root(dx**2 + dy**2)
        push = CONTACT_FORCE * CONTACT_MARGIN * _softplus((reach - distance) / CONTACT_MARGIN) / distance
        return force[0] + push * dx, force[1] + push * dy

    return jnp.stack(loops.repeat(other.shape[0], add_push, (jnp.zeros_like(x), jnp.zeros_like(x))), axis=1)


def length(vector: Float[Array, "*n 2"]) -> Float[Array, "*n"]:
    """Written out, since XLA fuses a sum over an axis of two badly."""
    return _root(vector[..., 0] ** 2 + vector[..., 1] ** 2)


def distance(position: Float[Array, "body 2"], point: Float[Array, " 2"]) -> Float[Array, " body"]:
    """How far each body is from one point."""
    return length(position - point[None])


def target_position(state: ParticleState) -> Float[Array, " 2"]:
    """Where the landmark that counts is; a sum, since XLA gathers slowly."""
    chosen = jnp.arange(state.landmark.shape[0]) == state.target
    return jnp.sum(jnp.where(chosen[:, None], state.landmark, 0.0), axis=0)


def others(position: Float[Array, "body 2"]) -> Float[Array, "body rest"]:
    """Where each body sees all the others, in their order: the square of all pairs without its diagonal."""
    num = position.shape[0]
    pairs = (position[None] - position[:, None]).reshape(num * num, 2)
    return pairs[1:].reshape(num - 1, num + 1, 2)[:, :-1].reshape(num, 2 * (num - 1))


def seen(position: Float[Array, "body 2"], point: Float[Array, "point 2"]) -> Float[Array, "body points"]:
    """Where each body sees these points."""
    return (point[None] - position[:, None]).reshape(position.shape[0], 2 * point.shape[0])


def coasting(state: ParticleState, body: int) -> Float[Array, " 2"]:
    """Where a body would come to rest if nobody pushed it."""
    return state.position[body] + COAST * state.velocity[body]


def steer(state: ParticleState, body: int, goal: Float[Array, " 2"], acceleration: float) -> Float[Array, " 2"]:
    """The action after which a body that then lets go comes to rest at the goal, or as near as one step allows."""
    return jnp.clip((goal - coasting(state, body)) / (COAST * DT * acceleration), -1.0, 1.0)


def approach(
    history: History, distance: Float[Array, "time agent"], what: str, lost: float = 1.0
) -> tuple[Measure, ...]:
    """How near the agents come to what they are after, over time and each by itself, and who gets lost."""
    far = jnp.where(history.valid[:, None], (distance > lost).astype(jnp.float32)[1:], jnp.nan)
    return (
        diagnosis.over_time(f"distance to {what} over time, nearest agent", jnp.min(distance, axis=1)),
        diagnosis.over_time(f"distance to {what} over time, farthest agent", jnp.max(distance, axis=1)),
        diagnosis.by_agent(f"distance to {what}", distance),
        diagnosis.by_agent(f"steps farther than {lost:g} from {what}", far, percent=True),
    )


def each_distance(position: Float[Array, "time body 2"], point: Float[Array, "time 2"]) -> Float[Array, "time body"]:
    """How far each body is from one point that moves."""
    return length(position - point[:, None])


def contest_marks(
    team: np.ndarray,
    opponent: np.ndarray,
    names: tuple[str, str],
    radius: tuple[float, float],
    *,
    touching: bool = True,
) -> tuple[Circles, Circles]:
    """Both sides, [time, body, 2] each, as discs with trails; where `touching`, those in touch flash."""
    apart = np.linalg.norm(team - opponent, axis=-1)
    touch = (apart < sum(radius)) & touching
    lit = touch, touch.any(axis=1, keepdims=True)
    look: dict[str, Any] = {"trail": True, "lit_name": "touch" if touching else ""}
    return (
        Circles(position=team, radius=radius[0], name=names[0], color=drawing.TEAM, side=0, lit=lit[0], **look),
        Circles(position=opponent, radius=radius[1], name=names[1], color=drawing.OPPONENT, side=1, lit=lit[1], **look),
    )


def landmark_marks(states: Any, radius: float) -> tuple[Circles, Circles]:
    """Landmarks, and a golden ring around the one that counts, which bodies may cover."""
    target = states.landmark[np.arange(len(states.target)), states.target][:, None]
    return (
        Circles(position=states.landmark, radius=radius, name="landmark", color=drawing.FAINT),
        Circles(position=target, radius=radius, name="target", color=drawing.GOLD, style="ring"),
    )


def _softplus(x: Float[Array, " n"]) -> Float[Array, " n"]:
    return jnp.maximum(x, 0.0) + jnp.log1p(jnp.exp(-jnp.abs(x)))


def _root(squared: Float[Array, "*n"]) -> Float[Array, "*n"]:
    return jnp.sqrt(jnp.maximum(squared, TINY))
