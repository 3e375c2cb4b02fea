"""A world of PettingZoo's (`ParallelEnv`): how it is made, and how its spaces become vectors and choices."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from merlax_worker.rows import Sizes

MASK = "action_mask"
LIMITS = ("max_cycles", "max_steps")  # under which worlds keep the steps of an episode


class WorldError(Exception):
    """What is wrong with a world, in a sentence."""


@dataclasses.dataclass(frozen=True)
class World:
    """All that it takes to play a world in any process."""

    name: str  # as users call it
    factory: str | Callable[..., Any]  # "module:function", or the function of somebody who has no module
    options: Mapping[str, Any]
    path: tuple[str, ...]  # where modules are looked for
    sides: tuple[Sizes, ...]
    horizon: int
    limit: int  # the world's own steps, where it says "terminated" though time is up; 0: not known
    team: str | Callable[..., Any]  # what pays a team, see `episode`
    agent: str

    @property
    def key(self) -> str:
        """By which one that is made already is known again."""
        return f"{self.name} {sorted(self.options.items())}"


def make(world: World, render_mode: str | None = None) -> Any:
    """The world as PettingZoo knows it."""
    sys.path.extend(each for each in world.path if each not in sys.path)
    factory: Any = world.factory
    if isinstance(factory, str):
        module, _, attribute = factory.partition(":")
        found: Any = importlib.import_module(module)
        factory = functools.reduce(getattr, attribute.split("."), found)
    return factory(**world.options, **({} if render_mode is None else {"render_mode": render_mode}))


def inner(made: Any) -> Iterator[Any]:
    """A world and whatever it wraps, from the outside in."""
    found, waiting = [], [made]
    while waiting:
        one = waiting.pop(0)
        if any(one is other for other in found):
            continue
        found.append(one)
        yield one
        waiting += [
            getattr(one, name) for name in ("aec_env", "env", "unwrapped") if getattr(one, name, None) is not None
        ]


def limit(made: Any) -> int:
    """How many steps a world allows itself; 0 if it does not say."""
    told = (getattr(one, name, None) for one in inner(made) for name in LIMITS)
    return next((int(each) for each in told if isinstance(each, int | np.integer) and each > 0), 0)


def obs_space(space: Any) -> Any:
    """Of an observation with a mask beside it, the observation."""
    parts = getattr(space, "spaces", None)
    return parts["observation"] if isinstance(parts, Mapping) and {*parts} == {"observation", MASK} else space


def obs_size(name: str, agent: str, space: Any) -> int:
    """Numbers that an agent sees."""
    space = obs_space(space)
    kind = type(space).__name__
    if kind == "Box":
        return math.prod(space.shape)
    if kind == "Discrete":
        return int(space.n)
    raise WorldError(f"{name} shows {agent} a {kind}; merlax takes worlds that show a Box or a Discrete only.")


def act_size(name: str, agent: str, space: Any) -> tuple[int, bool]:
    """Numbers that an agent does, or choices that it has, and which of the two."""
    kind = type(space).__name__
    if kind == "Discrete":
        return int(space.n), True
    if kind == "Box" and math.prod(space.shape):
        return math.prod(space.shape), False
    what = "a Box without numbers" if kind == "Box" else f"a {kind}"
    raise WorldError(f"{name} lets {agent} act by {what}; merlax takes Box and Discrete actions only.")


def vector(name: str, agent: str, space: Any, told: Any) -> np.ndarray:
    """What an agent sees, as numbers side by side."""
    space = obs_space(space)
    value = told["observation"] if isinstance(told, Mapping) else told
    if type(space).__name__ == "Discrete":
        return np.eye(int(space.n), dtype=np.float32)[int(value) - int(space.start)]
    seen = np.asarray(value, np.float32).ravel()
    if seen.size != math.prod(space.shape):
        raise WorldError(f"{name} shows {agent} {seen.size} numbers, and its space says {math.prod(space.shape)}.")
    return seen


def mask(told: Any, info: Any) -> np.ndarray | None:
    """Which choices an agent has, where the world says so: beside the observation, or in its info."""
    found = told.get(MASK) if isinstance(told, Mapping) else None
    found = info.get(MASK) if found is None and isinstance(info, Mapping) else found
    return None if found is None else np.asarray(found).astype(bool)


def taken(space: Any, row: np.ndarray) -> Any:
    """An agent's row of actions as the world takes it: numbers go from [-1, 1] to its bounds, where it has any."""
    if type(space).__name__ == "Discrete":
        return int(np.argmax(row[: int(space.n)])) + int(space.start)
    low, high = (np.asarray(bound, np.float32).ravel() for bound in (space.low, space.high))
    own, bounded = row[: low.size], np.isfinite(low) & np.isfinite(high)
    bottom, top = np.where(bounded, low, 0.0), np.where(bounded, high, 0.0)
    within = np.clip(bottom + (own + 1.0) / 2.0 * (top - bottom), bottom, top)
    return np.where(bounded, within, own).astype(space.dtype).reshape(space.shape)
