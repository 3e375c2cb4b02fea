"""The rover world as it is drawn, at any instant: what pictures and animations share."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
from jaxtyping import Bool, Float
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PatchCollection, PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.patches import Circle, Rectangle

from merlax.core.rollout import Trace
from merlax.envs import Rover
from merlax.figures import style

GOLD, BLACK, DASHED = "#FFC20E", "#111111", "#A0A0A0"
ARROW = np.array([(1.0, 0.0), (-0.8, 0.7), (-0.4, 0.0), (-0.8, -0.7)])  # a rover that heads along +x
FAINTEST = 0.18  # how much of its colour the oldest part of a trail keeps


@dataclasses.dataclass(frozen=True)
class Scene:
    """One episode as arrays, without what follows its end."""

    position: Float[np.ndarray, "time agent 2"]
    heading: Float[np.ndarray, "time agent"]  # radians from +x, counter-clockwise
    poi: Float[np.ndarray, "poi 2"]
    counted: Bool[np.ndarray, "time poi"]  # observed, as the score has it: a visit counts from the next step on

    @classmethod
    def of(cls, trace: Trace) -> Scene:
        """Take the instants that belong to the episode: the first one and one for each step."""
        states, end = trace.states, int(trace.steps) + 1
        observed = np.asarray(states.observed)[:end]
        return cls(
            position=np.asarray(states.position, float)[:end],
            heading=math.pi * np.asarray(states.turn, float)[:end],
            poi=np.asarray(states.poi, float)[0],
            counted=np.concatenate([observed[:1], observed[:-1]]),
        )


class Stage:
    """An axes that shows the scene. Only what moves is set anew, so that many instants are drawn fast.

    `arrow` is the length of a rover from its centre to its tip; by default it follows from what is shown.
    """

    def __init__(self, ax: Axes, env: Rover, scene: Scene, arrow: float | None = None) -> None:
        self.scene = scene
        self.colors = rover_colors(env.num_agents)
        low, size = view(env, scene)
        ax.set(xlim=(low[0], low[0] + size), ylim=(low[1], low[1] + size), aspect="equal")
        ax.set_axis_off()
        ax.add_patch(Rectangle((0, 0), env.side, env.side, fill=False, edgecolor=style.FAINT, linewidth=0.8))
        circles = [Circle((x, y), env.observation_distance) for x, y in scene.poi]
        self._reach = PatchCollection(circles, edgecolor=DASHED, linewidth=0.7, linestyle=(0, (4, 3)), zorder=1)
        self._trails = LineCollection([], linewidths=1.4, capstyle="round", zorder=2)
        self._poi = ax.scatter(*scene.poi.T, s=70, edgecolors=style.INK, linewidths=1.0, zorder=3)
        self._rovers = PolyCollection([], facecolors=self.colors, edgecolors="white", linewidths=0.5, zorder=5)
        for collection in (self._reach, self._trails, self._rovers):
            ax.add_collection(collection, autolim=False)
        self._arrow = 0.026 * size if arrow is None else arrow

    def show(self, t: int, *, tail: int) -> None:
        """Show instant `t`, with trails that go back over `tail` steps."""
        counted = self.scene.counted[t]
        self._poi.set_facecolor([GOLD if seen else BLACK for seen in counted])
        self._reach.set_facecolor([(*to_rgb(GOLD), 0.13 if seen else 0.0) for seen in counted])
        self._show_trails(self.scene.position[max(0, t - tail) : t + 1], tail)
        self._rovers.set_verts(list(arrows(self.scene.position[t], self.scene.heading[t], self._arrow)))

    def _show_trails(self, path: Float[np.ndarray, "time agent 2"], tail: int) -> None:
        """Old parts of a trail are mixed with white, not transparent: parts that overlap would show as beads."""
        segments = np.stack([path[:-1], path[1:]], axis=2)  # [time, agent, end, 2]: new ones lie on top
        age = np.arange(len(segments), 0, -1)[:, None, None] / tail
        keep = 1.0 - (1.0 - FAINTEST) * age
        self._trails.set_segments(list(segments.reshape(-1, 2, 2)))
        self._trails.set(color=(1.0 - keep * (1.0 - self.colors)).reshape(-1, 3))


def arrows(
    position: Float[np.ndarray, "agent 2"], heading: Float[np.ndarray, " agent"], size: float
) -> Float[np.ndarray, "agent corner 2"]:
    """One arrow at each position, its tip `size` ahead of it."""
    cos, sin = np.cos(heading), np.sin(heading)
    ahead, aside = np.stack([cos, sin], axis=-1), np.stack([-sin, cos], axis=-1)
    return position[:, None] + size * (ARROW[:, :1] * ahead[:, None] + ARROW[:, 1:] * aside[:, None])


def rover_colors(num: int) -> Float[np.ndarray, "agent 3"]:
    """One colour per rover, none of them near the gold of an observed POI."""
    few = (style.BLUE, style.VERMILLION, style.GREEN, style.PURPLE, style.SKY, "#7B4B2A")
    if num <= len(few):
        return np.array([to_rgb(color) for color in few[:num]])
    yellow = 0.5, 0.74  # the part of the colour map that is left out
    at = np.linspace(0.09, 0.93 - (yellow[1] - yellow[0]), num)
    at = np.where(at > yellow[0], at + yellow[1] - yellow[0], at)
    neighbours_differ = np.where(np.arange(num) % 2, 0.62, 1.0)[:, None]
    return colormaps["turbo"](at)[:, :3] * neighbours_differ


def view(env: Rover, scene: Scene) -> tuple[Float[np.ndarray, " 2"], float]:
    """The lower left corner and the size of a square that holds the world and everything that left it."""
    reach = env.observation_distance
    points = np.concatenate(
        [scene.position.reshape(-1, 2), scene.poi - reach, scene.poi + reach, [[0, 0], [env.side, env.side]]]
    )
    low, high = points.min(axis=0), points.max(axis=0)
    size = 1.06 * float(np.max(high - low))
    return (low + high - size) / 2, size
