"""One episode, or those of several teams on one instance side by side: a picture of all of it, or a film."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.path import Path as Outline
from PIL import Image

from merlax.envs.drawing import FAINT, GOLD, GREY, INK, Circles, Points
from merlax.figures import film, palette, series, style
from merlax.figures.painter import ARROW, DASHED, Painter
from merlax.figures.scene import Scene, things, view

TAIL = 12  # steps that a trail lasts in a film
FPS = 12
_WIDTH, _GAP, _ABOVE, _BELOW = 2.4, 0.15, 0.7, 0.3  # inches: a picture, and the room beside, above and below it
_ASTRAY, _SMALL_ASTRAY = 0.3, 0.1  # sides of the ground that teams side by side are followed beyond its edge


def picture(scenes: Sequence[Scene], out: Path, title: str = "") -> None:
    """Draw whole episodes: trails that darken with time, from a dot at the start to what is there at the end."""
    style.check_suffix(out, style.STILLS)
    (_single if len(scenes) == 1 else _side_by_side)(scenes, out, title)


def _single(scenes: Sequence[Scene], out: Path, title: str) -> None:
    scene = scenes[0]
    fig, ax = film.square(style.COLUMN_WIDTH, above=0.4, below=0.25)
    _show_all(Painter(ax, scene, view(scenes), labels=False))
    headline = f"{title or scene.drawing.title}\n{scene.headline}"
    fig.text(0.03, 0.985, headline, fontsize=style.TEXT, color=style.INK, va="top", linespacing=1.3, parse_math=False)
    film.legend(fig, legend(scene), length=0.9)
    style.save(fig, out)


def _side_by_side(scenes: Sequence[Scene], out: Path, title: str) -> None:
    width, height = (_WIDTH + _GAP) * len(scenes) - _GAP, _ABOVE + _WIDTH + _BELOW
    fig = Figure(figsize=(width, height), facecolor="white")
    FigureCanvasAgg(fig)
    shared = view(scenes, _ASTRAY)
    for i, scene in enumerate(scenes):
        left, top = i * (_WIDTH + _GAP) / width, 1 - 0.3 / height
        ax = fig.add_axes((left, _BELOW / height, _WIDTH / width, _WIDTH / height))
        _show_all(Painter(ax, scene, shared, labels=False))
        ended: dict[str, Any] = {"fontsize": style.SMALL, "color": style.INK}
        name: dict[str, Any] = {"fontsize": style.TEXT, "color": series.color(scene.label), "fontweight": "bold"}
        for y, text, look in ((top, scene.label, name), (top - 0.16 / height, _ended(scene), ended)):
            fig.text(left + 0.1 / width, y, text, va="top", parse_math=False, **look)
    look: dict[str, Any] = {"fontsize": style.TEXT, "color": style.INK, "va": "top", "parse_math": False}
    fig.text(0.1 / width, 1 - 0.07 / height, title or scenes[0].drawing.title, **look)
    film.legend(fig, legend(scenes[0]), length=0.9)
    style.save(fig, out)


def _ended(scene: Scene) -> str:
    return f"{scene.caption[-1]}, {scene.steps} steps"


def _show_all(painter: Painter) -> None:
    scene = painter.scene
    painter.show(scene.steps, tail=max(scene.steps, 1))
    for mark in things(scene):
        if mark.trail:
            look: dict[str, Any] = {"edgecolors": "white", "linewidths": 0.6, "zorder": 2.5}
            painter.ax.scatter(*mark.position[0].T, s=15, c=painter.colors(mark), **look)
        if isinstance(mark, Circles) and mark.style == "solid" and mark.lit is not None and mark.side == 1:
            where = mark.position[1:][mark.lit[1:]]
            painter.ax.scatter(
                *where.T, s=34, facecolors="none", edgecolors=[palette.GOLDEN], linewidths=1.3, zorder=20
            )


def animate(scenes: Sequence[Scene], out: Path, fps: int = FPS, pixels: int = film.PIXELS) -> None:
    """Draw the episodes as a GIF or an MP4, one frame per instant, in step; the last one is held.

    Args:
        scenes: One instance, as each team played it.
        out: The file.
        fps: Frames per second.
        pixels: Width of each team's picture; a small one has fewer words.
    """
    if style.check_suffix(out, film.MOVING) == ".gif":
        shots, colors = list(_frames(scenes, pixels)), _colors(scenes)
        film.save_gif(shots, colors if scenes[0].frames is None else shots[0].quantize(256), fps, out)
    else:
        film.save_mp4(_frames(scenes, pixels), fps, out)


def _frames(scenes: Sequence[Scene], pixels: int) -> Iterator[Image.Image]:
    shots, small = film.Film(len(scenes), pixels), pixels < film.PIXELS
    shared = view(scenes, _SMALL_ASTRAY if small else np.inf)
    painters = [Painter(ax, scene, shared, labels=not small) for ax, scene in zip(shots.axes, scenes, strict=True)]
    for t in range(max(scene.steps for scene in scenes) + 1):
        words = []
        for painter in painters:
            scene = painter.scene
            at = min(t, scene.steps)
            painter.show(at, tail=TAIL)
            step = f"step {at}/{scene.steps}"
            full = f"{scene.label}: {step}" if scene.label else step
            words.append((scene.label if small and scene.label else full, scene.caption[at]))
        yield shots.shoot(words)


def _colors(scenes: Sequence[Scene]) -> Image.Image:
    """The colours of a GIF: the more things have one of their own, the fewer levels of each."""
    marks = [mark for mark in things(scenes[0]) if mark.color not in (INK, GREY, FAINT, GOLD)]
    own = [color for mark in marks for color in np.unique(_hues(scenes[0], mark), axis=0)]
    fixed = [(to_rgb(palette.MEANT[INK]), 32), (palette.GOLDEN, 16), (to_rgb(palette.MEANT[GREY]), 8)]
    fixed += [(to_rgb(palette.MEANT[FAINT]), 3)]
    levels = min(12, max(1, (256 - 59) // max(1, len(own))))
    return film.palette([*fixed, *((color, levels) for color in own)])


def _hues(scene: Scene, mark: Points) -> np.ndarray:
    return palette.colors(mark.color, mark.position.shape[1], contest=scene.contest)


def legend(scene: Scene) -> list[Line2D]:
    """What the symbols mean."""
    found: dict[str, Line2D] = {}
    if any(mark.trail for mark in things(scene)):
        found["start"] = _symbol("start", style.GREY, "white", 4.0)
    for mark in things(scene):
        fill = style.GREY if mark.color == "team" and mark.heading is not None else _hues(scene, mark)[:1]
        fill = fill if isinstance(fill, str) else tuple(fill[0]) if len(fill) else style.GREY
        if isinstance(mark, Circles) and mark.style == "dashed":
            symbol = Line2D([], [], color=DASHED, linewidth=0.7, dashes=(4, 3), label=mark.name)
        elif isinstance(mark, Circles) and mark.style == "ring":
            symbol = _symbol(mark.name, "none", fill, 6.5, width=1.6)
        elif mark.heading is not None:
            symbol = _symbol(mark.name, fill, fill, 6.0, Outline(np.concatenate([ARROW, ARROW[:1]])))
        else:
            symbol = _symbol(mark.name, fill, "white", 6.5)
        if mark.name:
            found.setdefault(mark.name, symbol)
        if mark.lit_name:
            solid = isinstance(mark, Circles)
            lit = ("none", palette.GOLDEN) if solid else (palette.GOLDEN, style.INK)
            found.setdefault(mark.lit_name, _symbol(mark.lit_name, *lit, 6.5, width=1.3 if solid else 0.6))
    return list(found.values())


def _symbol(label: str, fill, edge, size: float, marker: str | Outline = "o", width: float = 0.6) -> Line2D:
    line = Line2D([], [], linestyle="", marker=marker, markersize=size, markeredgewidth=width, label=label)
    line.set(markerfacecolor=fill, markeredgecolor=edge)
    return line
