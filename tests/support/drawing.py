"""Episodes to draw, and what a figure's file shows."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from PIL import Image, ImageSequence

from merlax.core.rollout import Trace
from merlax.envs import ParticleState, Rover, RoverState, base
from tests.support.steering import head_for_nearest

Pixel = tuple[int, ...]


@functools.cache
def steer(env: Rover) -> Trace:
    """The trace of a team that is steered by the world's state, as a network could not be by hand."""
    return _steer(env)


@functools.partial(jax.jit, static_argnums=0)
def _steer(env: Rover) -> Trace:
    key = jax.random.key(0)
    _, first = env.reset(key)

    def step(carry, _):
        state, alive = carry
        _, state, reward, terminated, truncated, _ = env.step(key, state, head_for_nearest(state))
        return (state, alive & ~(terminated | truncated)), (state, jnp.where(alive, reward.team, 0.0), alive)

    _, (states, team, valid) = jax.lax.scan(step, (first, jnp.ones((), bool)), None, length=env.horizon)
    return Trace(_with_first(first, states), valid.sum(), team.sum())


def walk(env: Rover, step: np.ndarray) -> Trace:
    """The trace of rovers that start in the middle and make these steps, [time, agent, 2], observing nothing."""
    time, agents, _ = step.shape
    position = env.side / 2 + np.concatenate([np.zeros((1, agents, 2)), np.cumsum(step, axis=0)])
    turn = np.concatenate([np.zeros((1, agents)), np.arctan2(step[..., 1], step[..., 0]) / np.pi])
    poi = np.tile(np.linspace(1.0, env.side - 1.0, env.num_poi)[None, :, None], (time + 1, 1, 2))
    states = jax.vmap(RoverState)(
        jnp.asarray(position, jnp.float32),
        jnp.ones(turn.shape),
        jnp.asarray(turn, jnp.float32),
        jnp.asarray(poi, jnp.float32),
        jnp.zeros((time + 1, env.num_poi), bool),
        jnp.arange(time + 1),
    )
    return Trace(states, jnp.asarray(time), jnp.asarray(0.0))


def cut(trace: Trace, steps: int) -> Trace:
    """The same episode, ended earlier."""
    return Trace(trace.states, jnp.asarray(steps), jnp.asarray(0.0))


@functools.partial(jax.jit, static_argnums=0)
def contest(env) -> Trace:
    """An episode of a team that acts at random against the scripted opponent."""
    _, first = base.reset(env, jax.random.key(0))

    def step(state, key):
        team = jax.random.uniform(key, (env.sides[0].num_agents, 2), minval=-1.0, maxval=1.0)
        after = base.step(env, jax.random.key(0), state, (team, env.rules(1)["scripted"].act(state)))
        return after.state, (after.state, after.reward[0].team)

    _, (states, team) = jax.lax.scan(step, first, jax.random.split(jax.random.key(1), env.horizon))
    return Trace(_with_first(first, states), jnp.asarray(env.horizon), team.sum())


def still(positions, landmark=((0.5, 0.5), (-0.5, 0.5)), target=0) -> Trace:
    """The trace of bodies that are in these places, [time, body, 2]."""
    position = jnp.asarray(positions, jnp.float32)
    time = len(position)
    marks = jnp.tile(jnp.asarray(landmark, jnp.float32)[None], (time, 1, 1))
    states = jax.vmap(ParticleState)(
        position, jnp.zeros_like(position), marks, jnp.full(time, target), jnp.arange(time)
    )
    return Trace(states, jnp.asarray(time - 1), jnp.asarray(0.0))


def _with_first(first, states):
    return jax.tree.map(lambda one, rest: jnp.concatenate([one[None], rest]), first, states)


def words_of(svg: Path) -> str:
    """The file's text: matplotlib writes each text that it draws as a comment, too."""
    return svg.read_text(encoding="utf-8")


def ink_of(svg: Path, text: str) -> str:
    """The colour in which the first such text is drawn."""
    found = re.search(rf'<!-- {re.escape(text)} -->\s*<g style="fill: (#\w+)', words_of(svg))
    assert found, f"no '{text}' in {svg}"
    return found.group(1)


def size_of(path: Path) -> tuple[int, int]:
    """Width and height in pixels."""
    with Image.open(path) as image:
        return image.size


def pixels_of(path: Path) -> np.ndarray:
    """A picture's colours, [row, column, 3]."""
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB"))


def frames_of(path: Path) -> list[np.ndarray]:
    """The pictures of an animation."""
    with Image.open(path) as gif:
        return [np.asarray(frame.convert("RGB")) for frame in ImageSequence.Iterator(gif)]


def durations_of(path: Path) -> list[int]:
    """How long an animation shows each of its pictures, in milliseconds."""
    with Image.open(path) as gif:
        return [frame.info["duration"] for frame in ImageSequence.Iterator(gif)]


def color_at(view: tuple[np.ndarray, float], shot: np.ndarray, point) -> Pixel:
    """The colour of an animation's pixel that shows this point of the world, of which `view` is shown."""
    low, size = view
    height, width, _ = shot.shape
    column, row = (np.asarray(point) - low) / size * width
    return tuple(shot[height - 1 - round(float(row)), round(float(column))].tolist())


def differ(colors: np.ndarray) -> float:
    """How far apart the two nearest of these colours are, each number in [0, 1]."""
    apart = np.linalg.norm(colors[:, None] - colors[None], axis=-1)
    return float((apart + 9 * np.eye(len(colors))).min())
