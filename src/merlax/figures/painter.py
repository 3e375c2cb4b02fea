"""A scene on the axes of a figure, at any instant: what pictures and animations share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.collections import EllipseCollection, LineCollection, PolyCollection
from matplotlib.patches import Rectangle

from merlax.envs.drawing import Circles, Labels, Points
from merlax.figures import palette, style
from merlax.figures.scene import Scene, things

ARROW = np.array([(1.0, 0.0), (-0.8, 0.7), (-0.4, 0.0), (-0.8, -0.7)])  # one that heads along +x
ARROW_SIZE = 0.026  # of the view, from the centre to the tip
FAINTEST = 0.18  # how much of its colour the oldest part of a trail keeps
DASHED = "#A0A0A0"
_TRAILS, _MARKS = 2, 3  # in which order they lie on each other

Show = Callable[[int], None]  # sets one kind of things to an instant


class Painter:
    """An axes that shows the scene. Only what moves is set anew, so that many instants are drawn fast."""

    def __init__(self, ax: Axes, scene: Scene, view: tuple[Float[np.ndarray, " 2"], float], *, labels: bool = True):
        self.scene, self.ax = scene, ax
        low, size = view
        ax.set(xlim=(low[0], low[0] + size), ylim=(low[1], low[1] + size), aspect="equal")
        ax.set_axis_off()
        if scene.drawing.box is not None:
            (left, bottom), (right, top) = scene.drawing.box
            edge: dict[str, Any] = {"fill": False, "edgecolor": style.FAINT, "linewidth": 0.8}
            ax.add_patch(Rectangle((left, bottom), right - left, top - bottom, **edge))
        self._arrow = ARROW_SIZE * size
        self._trails = [(mark, self._collect(LineCollection([], linewidths=1.4, capstyle="round", zorder=_TRAILS)))
                        for mark in things(scene) if mark.trail]  # fmt: skip
        self._shows = [self._add(mark, _MARKS + place) for place, mark in enumerate(scene.drawing.marks)
                       if labels or not isinstance(mark, Labels)]  # fmt: skip
        if scene.table:
            self._shows.append(self._add_table())
        if scene.frames is not None:
            self._shows.append(self._add_frames(low, size))

    def show(self, t: int, *, tail: int) -> None:
        """Show instant `t`, with trails that go back over `tail` steps."""
        for mark, lines in self._trails:
            path = mark.position[max(0, t - tail) : t + 1]
            segments = np.stack([path[:-1], path[1:]], axis=2)  # [time, thing, end, 2]: new ones lie on top
            # Old parts are mixed with white, not transparent: parts that overlap would show as beads.
            keep = 1.0 - (1.0 - FAINTEST) * np.arange(len(segments), 0, -1)[:, None, None] / tail
            lines.set_segments(list(segments.reshape(-1, 2, 2)))
            lines.set(color=(1.0 - keep * (1.0 - self.colors(mark))).reshape(-1, 3))
        for show in self._shows:
            show(t)

    def _add_frames(self, low: Float[np.ndarray, " 2"], size: float) -> Show:
        """Pictures of the world's own, as large as the view allows."""
        shape = self.scene.frame(0).shape[:2]
        height, width = np.array(shape) / max(shape) * size
        left, bottom = low[0] + (size - width) / 2, low[1] + (size - height) / 2
        picture = self.ax.imshow(self.scene.frame(0), extent=(left, left + width, bottom, bottom + height))
        self.ax.set(xlim=(low[0], low[0] + size), ylim=(low[1], low[1] + size))
        return lambda t: picture.set_data(self.scene.frame(t))

    def colors(self, mark: Points) -> Float[np.ndarray, "thing 3"]:
        return palette.colors(mark.color, mark.position.shape[1], contest=self.scene.contest)

    def _collect(self, collection: LineCollection) -> LineCollection:
        self.ax.add_collection(collection, autolim=False)
        return collection

    def _add(self, mark: Points | Labels, order: int) -> Show:
        if isinstance(mark, Labels):
            return self._add_labels(mark, order)
        if isinstance(mark, Circles):
            return self._add_circles(mark, order)
        return self._add_dots(mark, order) if mark.heading is None else self._add_arrows(mark, order)

    def _add_dots(self, mark: Points, order: int) -> Show:
        size = 70 if mark.lit is not None else 40
        dots = self.ax.scatter(*mark.position[0].T, s=size, edgecolors=style.INK, linewidths=1.0, zorder=order)
        if mark.lit is None:
            dots.set(edgecolors="white", linewidths=0.6)

        def show(t: int) -> None:
            dots.set_offsets(mark.position[t])
            dots.set(facecolor=self._lit_fill(mark, t))

        return show

    def _lit_fill(self, mark: Points, t: int) -> Float[np.ndarray, "thing 3"]:
        lit = np.zeros(mark.position.shape[1], bool) if mark.lit is None else mark.lit[t]
        return np.where(lit[:, None], np.array(palette.GOLDEN)[None], self.colors(mark))

    def _add_arrows(self, mark: Points, order: int) -> Show:
        shapes = PolyCollection([], edgecolors="white", linewidths=0.5, zorder=order)
        self.ax.add_collection(shapes, autolim=False)

        def show(t: int) -> None:
            shapes.set_verts(list(arrows(mark.position[t], np.asarray(mark.heading)[t], self._arrow)))
            shapes.set(facecolor=self._lit_fill(mark, t))

        return show

    def _add_circles(self, mark: Circles, order: int) -> Show:
        width, colors, solid = 2 * mark.radius, self.colors(mark), mark.style == "solid"
        where: dict[str, Any] = {
            "widths": width,
            "heights": width,
            "angles": np.zeros_like(width),
            "units": "xy",
            "zorder": order,
        }
        discs = EllipseCollection(**where, offsets=mark.position[0], transOffset=self.ax.transData)
        discs.set(facecolor=colors if solid else "none")
        if mark.style == "dashed":
            discs.set(edgecolor=DASHED, linewidth=0.7, linestyle=(0, (4, 3)))
        elif mark.style == "ring":
            discs.set(edgecolor=colors, linewidth=2.4)
        self.ax.add_collection(discs, autolim=False)

        def show(t: int) -> None:
            lit = np.zeros(len(width), bool) if mark.lit is None else mark.lit[t]
            discs.set_offsets(mark.position[t])
            if solid:
                discs.set_edgecolor([palette.GOLDEN if one else (1.0, 1.0, 1.0) for one in lit])
                discs.set_linewidth([2.6 if one else 0.7 for one in lit])
            elif mark.style == "dashed":
                discs.set_facecolor([(*palette.GOLDEN, 0.13 if one else 0.0) for one in lit])

        return show

    def _add_labels(self, mark: Labels, order: int) -> Show:
        look: dict[str, Any] = {
            "fontsize": style.SMALL,
            "color": style.INK,
            "ha": "center",
            "zorder": order,
            "parse_math": False,
        }
        texts = [self.ax.text(0, 0, "", **look) for _ in range(mark.position.shape[1])]

        def show(t: int) -> None:
            for text, place, letters in zip(texts, mark.position[t], mark.text[t], strict=True):
                text.set(position=(place[0], place[1] + self._arrow), text=str(letters))

        return show

    def _add_table(self) -> Show:
        look: dict[str, Any] = {"transform": self.ax.transAxes, "va": "top", "family": "monospace", "parse_math": False}
        text = self.ax.text(0.04, 0.96, "", fontsize=style.TEXT, color=style.INK, **look)

        def show(t: int) -> None:
            width = max(len(name) for name, _ in self.scene.table)
            rows = [
                f"{name:<{width}}  " + " ".join(f"{v:8.3g}" for v in values[t]) for name, values in self.scene.table
            ]
            text.set_text("\n".join(rows))

        return show


def arrows(
    position: Float[np.ndarray, "agent 2"], heading: Float[np.ndarray, " agent"], size: float
) -> Float[np.ndarray, "agent corner 2"]:
    """One arrow at each position, its tip `size` ahead of it."""
    cos, sin = np.cos(heading), np.sin(heading)
    ahead, aside = np.stack([cos, sin], axis=-1), np.stack([-sin, cos], axis=-1)
    return position[:, None] + size * (ARROW[:, :1] * ahead[:, None] + ARROW[:, 1:] * aside[:, None])
