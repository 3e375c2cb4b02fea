"""What rovers did in one episode: a picture of all of it, or an animation."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from jaxtyping import Float
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.path import Path as Outline
from PIL import Image

from merlax.core.rollout import Trace
from merlax.envs import Rover
from merlax.figures import film, style
from merlax.figures.stage import ARROW, BLACK, DASHED, GOLD, Scene, Stage, rover_colors

TAIL = 12  # steps that a trail lasts in the animation


def picture(env: Rover, trace: Trace, out: Path) -> None:
    """Draw the whole episode: trails that darken with time, from a dot at the start to an arrow at the end."""
    style.check_suffix(out, style.STILLS)
    scene = Scene.of(trace)
    fig, ax = film.square(style.COLUMN_WIDTH, above=0.4, below=0.25)
    stage = Stage(ax, env, scene)
    steps = len(scene.position) - 1
    stage.show(steps, tail=max(steps, 1))
    ax.scatter(*scene.position[0].T, s=16, c=stage.colors, edgecolors="white", linewidths=0.6, zorder=4)
    fig.text(0.03, 0.985, _headline(env, trace, scene), fontsize=style.TEXT, color=style.INK, va="top", linespacing=1.3)
    explain(fig)
    style.save(fig, out)


def animate(env: Rover, trace: Trace, out: Path, fps: int = 12) -> None:
    """Draw the episode as a GIF, one frame per instant; the last one is held."""
    film.save_gif(_frames(env, Scene.of(trace)), _palette(rover_colors(env.num_agents)), fps, out)


def _frames(env: Rover, scene: Scene) -> Iterator[Image.Image]:
    shots = film.Film()
    stage = Stage(shots.ax, env, scene)
    for t, counted in enumerate(scene.counted):
        stage.show(t, tail=TAIL)
        yield shots.shoot(f"step {t}/{len(scene.counted) - 1}", f"observed {counted.sum()}/{len(counted)}")


def _palette(rovers: Float[np.ndarray, "agent 3"]) -> Image.Image:
    """The more rovers, the fewer levels of each one's colour."""
    levels = min(16, max(1, (256 - 48) // len(rovers)))
    return film.palette([(to_rgb(BLACK), 32), (to_rgb(GOLD), 16), *((color, levels) for color in rovers)])


def _headline(env: Rover, trace: Trace, scene: Scene) -> str:
    speed = ", pinned speed" if env.speed == "pinned" else ""
    title = f"{env.num_agents} rovers, {env.num_poi} POIs, coupling {env.coupling}{speed}"
    observed = f"{scene.counted[-1].sum()} of {env.num_poi} POIs observed"
    return f"{title}\nscore {float(trace.score):.2f} after {int(trace.steps)} steps, {observed}"


def explain(fig: Figure) -> None:
    """Say below the picture what its symbols mean."""

    def symbol(label: str, fill: str, edge: str, size: float, marker: str | Outline = "o") -> Line2D:
        line = Line2D([], [], linestyle="", marker=marker, markersize=size, label=label)
        line.set(markerfacecolor=fill, markeredgecolor=edge)
        return line

    symbols = [
        symbol("start", style.GREY, "white", 4.5),
        symbol("end", style.GREY, style.GREY, 6.0, Outline(np.concatenate([ARROW, ARROW[:1]]))),
        symbol("POI", BLACK, style.INK, 6.5),
        symbol("observed POI", GOLD, style.INK, 6.5),
        Line2D([], [], color=DASHED, linewidth=0.7, dashes=(4, 3), label="reach"),
    ]
    film.legend(fig, symbols)
