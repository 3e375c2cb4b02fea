"""A particle world as it is drawn, at any instant: what pictures and animations share."""

from __future__ import annotations

import dataclasses
from typing import TypeAlias

import jax
import numpy as np
from jaxtyping import Bool, Float
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.collections import EllipseCollection, LineCollection
from matplotlib.colors import to_rgb
from matplotlib.patches import Circle, Rectangle

from merlax.core.rollout import Trace
from merlax.envs import KeepAway, PhysicalDeception, PredatorPrey, keep_away, physical_deception
from merlax.figures import style
from merlax.figures.stage import FAINTEST, GOLD

Particles: TypeAlias = PredatorPrey | PhysicalDeception | KeepAway

OBSTACLE, LANDMARK = "#8C8C8C", "#C9C9C9"


@dataclasses.dataclass(frozen=True)
class Scene:
    """One episode as arrays; the team's bodies first, the opponent last."""

    position: Float[np.ndarray, "time body 2"]
    landmark: Float[np.ndarray, "landmark 2"]
    target: int | None  # which landmark counts, if one does
    touched: Bool[np.ndarray, "time body"]  # by the other side
    score: Float[np.ndarray, " time"]  # so far
    radius: Float[np.ndarray, " body"]
    landmark_radius: float

    @classmethod
    def of(cls, env: Particles, trace: Trace) -> Scene:
        """Take the instants that belong to the episode: the first one and one for each step."""
        states = jax.tree.map(lambda leaf: leaf[: int(trace.steps) + 1], trace.states)
        position = np.asarray(states.position, float)
        if not isinstance(env, PredatorPrey):
            position = np.roll(position, -1, axis=1)  # these worlds have the opponent first
        radius, landmark_radius = radii(env)
        apart = np.linalg.norm(position[:, :-1] - position[:, -1:], axis=-1)
        touched = (apart < radius[:-1] + radius[-1]) & (not isinstance(env, PhysicalDeception))
        paid = np.asarray(jax.vmap(env.reward)(states)[0].team, float)
        paid[0] = 0.0  # nobody is paid for where the episode starts
        return cls(
            position=position,
            landmark=np.asarray(states.landmark, float)[0],
            target=None if isinstance(env, PredatorPrey) else int(states.target[0]),
            touched=np.concatenate([touched, touched.any(axis=1, keepdims=True)], axis=1),
            score=np.cumsum(paid),
            radius=radius,
            landmark_radius=landmark_radius,
        )


class Arena:
    """An axes that shows the scene. Only what moves is set anew, so that many instants are drawn fast."""

    def __init__(self, ax: Axes, scene: Scene) -> None:
        self.scene = scene
        self.colors = body_colors(len(scene.radius))
        low, size = view(scene)
        ax.set(xlim=(low[0], low[0] + size), ylim=(low[1], low[1] + size), aspect="equal")
        ax.set_axis_off()
        ax.add_patch(Rectangle((-1, -1), 2, 2, fill=False, edgecolor=style.FAINT, linewidth=0.8))
        for number, point in enumerate(scene.landmark):
            self._add_landmark(ax, point, is_target=number == scene.target)
        width = 2 * scene.radius
        where = {"widths": width, "heights": width, "angles": np.zeros_like(width), "units": "xy"}
        self._trails = LineCollection([], linewidths=1.4, capstyle="round", zorder=2)
        self._bodies = EllipseCollection(
            **where, offsets=scene.position[0], transOffset=ax.transData, facecolors=self.colors, zorder=4
        )
        for collection in (self._trails, self._bodies):
            ax.add_collection(collection, autolim=False)

    def _add_landmark(self, ax: Axes, point: Float[np.ndarray, " 2"], is_target: bool) -> None:
        color = OBSTACLE if self.scene.target is None else LANDMARK
        ax.add_patch(Circle((point[0], point[1]), self.scene.landmark_radius, facecolor=color, linewidth=0, zorder=1))
        if is_target:  # above the bodies, which may cover it
            ring = {"fill": False, "edgecolor": GOLD, "linewidth": 2.4, "zorder": 5}
            ax.add_patch(Circle((point[0], point[1]), self.scene.landmark_radius, **ring))

    def show(self, t: int, *, tail: int) -> None:
        """Show instant `t`, with trails that go back over `tail` steps; who touches flashes."""
        touched = self.scene.touched[t]
        self._show_trails(self.scene.position[max(0, t - tail) : t + 1], tail)
        self._bodies.set_offsets(self.scene.position[t])
        self._bodies.set_edgecolor([GOLD if one else "white" for one in touched])
        self._bodies.set_linewidth([2.6 if one else 0.7 for one in touched])

    def _show_trails(self, path: Float[np.ndarray, "time body 2"], tail: int) -> None:
        """Old parts of a trail are mixed with white, not transparent: parts that overlap would show as beads."""
        segments = np.stack([path[:-1], path[1:]], axis=2)
        keep = 1.0 - (1.0 - FAINTEST) * np.arange(len(segments), 0, -1)[:, None, None] / tail
        self._trails.set_segments(list(segments.reshape(-1, 2, 2)))
        self._trails.set(color=(1.0 - keep * (1.0 - self.colors)).reshape(-1, 3))


def radii(env: Particles) -> tuple[Float[np.ndarray, " body"], float]:
    """Of the bodies, the opponent last, and of a landmark."""
    match env:
        case PredatorPrey():
            return np.array([env.predator_size] * env.num_predators + [env.prey_size]), env.landmark_size
        case PhysicalDeception():
            return np.full(env.num_agents + 1, physical_deception.BODY_SIZE), physical_deception.LANDMARK_SIZE
        case KeepAway():
            return np.full(env.num_agents + 1, env.size), keep_away.LANDMARK_SIZE


def body_colors(num: int) -> Float[np.ndarray, "body 3"]:
    """Blue and green for the team, vermillion for the opponent, who comes last."""
    few = (style.BLUE, style.GREEN, style.PURPLE, style.SKY, "#7B4B2A")
    team = [to_rgb(color) for color in few]
    if num - 1 > len(few):
        team = [colormaps["viridis"](at)[:3] for at in np.linspace(0.0, 0.72, num - 1)]
    return np.array([*team[: num - 1], to_rgb(style.VERMILLION)])


def view(scene: Scene) -> tuple[Float[np.ndarray, " 2"], float]:
    """The lower left corner and the size of a square that holds the start square and everything that left it."""
    around, mark = scene.radius[None, :, None], scene.landmark_radius
    points = [scene.position - around, scene.position + around, scene.landmark - mark, scene.landmark + mark]
    points = np.concatenate([*(some.reshape(-1, 2) for some in points), [[-1.0, -1.0], [1.0, 1.0]]])
    low, high = points.min(axis=0), points.max(axis=0)
    size = 1.06 * float(np.max(high - low))
    return (low + high - size) / 2, size
