"""What can be shown of a world that does not say how it looks: positions found in its state, or all its numbers."""

from __future__ import annotations

import re
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from merlax.envs.base import Env, State
from merlax.envs.drawing import GREY, OPPONENT, TEAM, Drawing, Points

POSITION = re.compile(r"pos|place|location|where|coord|xy|site", re.IGNORECASE)
MOTION = re.compile(r"vel|speed|force|acc|action|heading|reward|turn|momentum|key", re.IGNORECASE)
MOST_ROWS, MOST_NUMBERS = 24, 8  # of a table


def plain(leaf: Any) -> np.ndarray:
    """A part of a state as numbers; a random key as its data."""
    if isinstance(leaf, jax.Array) and jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        leaf = jax.random.key_data(leaf)
    return np.asarray(leaf)


def drawing(env: Env, states: State) -> Drawing:
    """Whatever in the state looks like places in a plane or on a line: what is called so, else what has their shape."""
    leaves = [(name, leaf) for name, leaf in _leaves(states) if _is_place(env, leaf) and not MOTION.search(name)]
    named = [(name, leaf) for name, leaf in leaves if POSITION.search(name)]
    marks = [mark for name, leaf in named or leaves for mark in _marks(env, name, leaf)]
    return Drawing(marks=marks, title=type(env).__name__)


def table(states: State) -> tuple[tuple[str, np.ndarray], ...]:
    """The state's numbers [time, number], part by part: of large ones the beginning."""
    rows = [(name, leaf.reshape(len(leaf), -1)[:, :MOST_NUMBERS]) for name, leaf in _leaves(states)]
    return tuple((name, leaf.astype(float)) for name, leaf in rows if leaf.dtype.kind in "fiub")[:MOST_ROWS]


def _leaves(states: State) -> list[tuple[str, np.ndarray]]:
    flat, _ = jax.tree_util.tree_flatten_with_path(states)
    return [(_name(path), leaf) for path, leaf in flat if leaf.ndim]


def _name(path: tuple[Any, ...]) -> str:
    parts = [str(getattr(part, "name", getattr(part, "key", getattr(part, "idx", "")))) for part in path]
    return ".".join(parts) or "state"


def _is_place(env: Env, leaf: np.ndarray) -> bool:
    if leaf.dtype.kind != "f":
        return False
    if leaf.ndim == 3 and leaf.shape[2] == 1:  # on a line
        return leaf.shape[1] == env.sides[0].num_agents
    return leaf.ndim == 3 and leaf.shape[1] > 0 and leaf.shape[2] in (2, 3)


def _marks(env: Env, name: str, leaf: np.ndarray) -> list[Points]:
    """Agents where there are as many as the team has, or both sides together; else whatever it may be."""
    place = leaf[:, :, :2].astype(float)
    if place.shape[2] == 1:  # each agent has a lane of its own
        lane = np.broadcast_to(np.arange(place.shape[1], dtype=float)[None, :, None] / 4, place.shape)
        place = np.concatenate([place, -lane], axis=2)
    word = name.rsplit(".", 1)[-1]
    agents = [side.num_agents for side in env.sides]
    if place.shape[1] == agents[0]:
        return [Points(position=place, name="agent", color=TEAM, side=0, trail=True)]
    if place.shape[1] == sum(agents):
        team, opponent = place[:, : agents[0]], place[:, agents[0] :]
        return [
            Points(position=team, name="agent", color=TEAM, side=0, trail=True),
            Points(position=opponent, name="opponent", color=OPPONENT, side=1, trail=True),
        ]
    return [Points(position=place, name=word if not word.isdigit() else "thing", color=GREY)]
