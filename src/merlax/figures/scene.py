"""One episode as it is shown, wherever it is shown: what its world draws of it, in full arrays, and what was paid."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Sequence
from typing import Any, TypeVar

import jax
import numpy as np
from jaxtyping import Float

from merlax.core.rollout import Trace
from merlax.envs.base import Env
from merlax.envs.drawing import Circles, Drawing, Drawn, Filmed, Labels, Mark, Points
from merlax.envs.outside import Outside
from merlax.figures import found
from merlax.types import UserError

M = TypeVar("M", bound=Mark)


@dataclasses.dataclass(frozen=True)
class Told:
    """What one side saw, did and was paid in every step; what was not kept is nothing."""

    obs: Float[np.ndarray, "step agent obs"] | None
    action: Float[np.ndarray, "step agent act"]
    team_reward: Float[np.ndarray, " step"]
    agent_reward: Float[np.ndarray, "step agent"]


@dataclasses.dataclass(frozen=True)
class Scene:
    """An episode without what follows its end: `steps` + 1 instants."""

    drawing: Drawing
    score: Float[np.ndarray, " time"]
    caption: tuple[str, ...]
    final: float
    told: tuple[Told, ...] = ()  # by side
    table: tuple[tuple[str, np.ndarray], ...] = ()  # the state's numbers [time, number], where nothing can be drawn
    label: str = ""  # whose episode it is, where there are several
    frames: np.ndarray | None = None  # [time, height, width, 3]: pictures of a world that draws itself, not all perhaps

    @property
    def steps(self) -> int:
        return len(self.score) - 1

    @property
    def contest(self) -> bool:
        return len(self.told) > 1 or any(getattr(mark, "side", None) == 1 for mark in self.drawing.marks)

    def frame(self, t: int) -> np.ndarray:
        """The picture that is nearest to an instant."""
        assert self.frames is not None
        return self.frames[round(t * (len(self.frames) - 1) / max(1, self.steps))]

    @property
    def headline(self) -> str:
        """How it ended."""
        more = f", {self.caption[-1]}" if self.drawing.caption else ""
        return f"score {self.final:.2f} after {self.steps} steps{more}"


def scene(env: Env, trace: Trace, label: str = "", *, pictures: int | None = None) -> Scene:
    """Let a world draw an episode, or find in its state what can be drawn.

    A world of another library is shown by its own pictures where it makes some: at most so many, evenly spaced in time,
    or one of every instant.
    """
    steps = int(trace.steps)
    states = jax.tree.map(lambda leaf: found.plain(leaf)[: steps + 1], trace.states)
    drawing, table, frames = _drawing(env, states), (), None
    if drawing is None and isinstance(env, Outside | Filmed):
        number = steps + 1 if pictures is None else min(max(1, pictures), steps + 1)
        shown = np.round(np.linspace(0, steps, number)).astype(int)
        frames = _film(env, jax.tree.map(lambda leaf: leaf[shown], states))
        drawing = None if frames is None else Drawing(marks=(), title=env.name)
    if drawing is None:
        drawing = found.drawing(env, states)
        table = () if drawing.marks else found.table(states)
    try:
        drawing = dataclasses.replace(drawing, marks=tuple(_full(mark, steps + 1) for mark in drawing.marks))
        told = tuple(_told(trace, side, steps) for side in range(len(trace.action)))
        score = _score(drawing, told, steps)
    except (ValueError, TypeError) as error:
        raise UserError(f"What {type(env).__name__}.draw returns cannot be drawn: {error}.") from error
    caption = drawing.caption or [f"score {value:.2f}" for value in score]
    return Scene(drawing, score, tuple(map(str, caption)), float(trace.score), told, table, label, frames)


def _drawing(env: Env, states: Any) -> Drawing | None:
    if not isinstance(env, Drawn):
        return None
    try:
        drawing = env.draw(states)
    except Exception as error:  # code of the user's own
        reason = f"{type(error).__name__}: {error}"
        raise UserError(f"{type(env).__name__}.draw failed ({reason}); correct or remove it.") from error
    if not isinstance(drawing, Drawing):
        raise UserError(f"{type(env).__name__}.draw returned no Drawing; let it return merlax.Drawing(marks=[...]).")
    return drawing


def _film(env: Outside | Filmed, states: Any) -> np.ndarray | None:
    """A world's own pictures; where another library fails to make them, there is still the state."""
    if isinstance(env, Outside):
        return states["frame"]
    try:
        return env.film(states)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        warnings.warn(f"{env.name} cannot be filmed ({reason}); its state is drawn instead.", stacklevel=2)
        return None


def _full(mark: M, time: int) -> M:
    """The same mark with arrays of their whole shapes."""
    position = _array(mark.position, "position", time, 2)
    changes: dict[str, Any] = {"position": position}
    number = position.shape[1]
    if isinstance(mark, Labels):
        text = np.asarray(mark.text, object)
        changes["text"] = np.broadcast_to(text, (time, number))
        return dataclasses.replace(mark, **changes)
    for name, kind in (("heading", float), ("lit", bool)):
        value = getattr(mark, name)
        if value is not None:
            changes[name] = np.broadcast_to(np.asarray(value, kind), (time, number))
    if isinstance(mark, Circles):
        changes["radius"] = np.broadcast_to(np.asarray(mark.radius, float), (number,))
    return dataclasses.replace(mark, **changes)


def _array(value: Any, name: str, time: int, width: int) -> np.ndarray:
    array = np.asarray(value, float)
    if array.ndim == 2:
        array = np.broadcast_to(array, (time, *array.shape))
    if array.ndim != 3 or array.shape[0] != time or array.shape[2] != width:
        raise ValueError(f"{name} has shape {array.shape}, and not [{time} instants, thing, {width}]")
    return array


def _told(trace: Trace, side: int, steps: int) -> Told:
    cut = lambda parts: np.asarray(parts[side], float)[:steps]  # noqa: E731
    obs = cut(trace.obs) if trace.obs else None
    return Told(obs, cut(trace.action), cut(trace.team_reward), cut(trace.agent_reward))


def _score(drawing: Drawing, told: Sequence[Told], steps: int) -> Float[np.ndarray, " time"]:
    """As the world says it, or what the team has been paid so far: nobody is paid for where an episode starts."""
    if drawing.score is not None:
        return np.broadcast_to(np.asarray(drawing.score, float), (steps + 1,))
    paid = told[0].team_reward if told else np.zeros(steps)
    return np.concatenate([[0.0], np.cumsum(paid)])


def view(scenes: Sequence[Scene], astray: float = np.inf) -> tuple[Float[np.ndarray, " 2"], float]:
    """The lower left corner and the size of a square that holds all that is drawn.

    Where the world has a ground, whoever strays is followed only so many of its sides beyond the edge.
    """
    points = [np.zeros((0, 2))]
    for one in scenes:
        own = []
        for mark in one.drawing.marks:
            around = mark.radius[None, :, None] if isinstance(mark, Circles) else 0.0
            own += [(mark.position - around).reshape(-1, 2), (mark.position + around).reshape(-1, 2)]
        if one.drawing.box is not None:
            low, high = np.asarray(one.drawing.box, float)
            beyond = astray * (high - low).max()
            own = [np.clip(some, low - beyond, high + beyond) for some in own] + [np.stack([low, high])]
        points += own
    everything = np.concatenate(points)
    everything = everything[np.isfinite(everything).all(axis=1)]
    if not len(everything):
        return np.zeros(2), 1.0
    low, high = everything.min(axis=0), everything.max(axis=0)
    size = 1.06 * max(float(np.max(high - low)), 1e-6)
    return (low + high - size) / 2, size


def things(one: Scene) -> list[Points]:
    """The marks that are not letters, circles included."""
    return [mark for mark in one.drawing.marks if isinstance(mark, Points)]
