"""What rovers did in one episode: a picture of all of it, or an animation."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.path import Path as Outline
from PIL import Image

from merlax.envs import Rover
from merlax.figures import style
from merlax.figures.stage import ARROW, BLACK, DASHED, GOLD, Scene, Stage, rover_colors
from merlax.rollout import Trace
from merlax.types import UserError

TAIL = 12  # steps that a trail lasts in the animation
LAST_FRAME = 1500  # ms
_WIDTH, _HEADLINE, _DPI = 4.8, 0.3, 100  # the animation, in inches: 480 pixels wide


def picture(env: Rover, trace: Trace, out: Path) -> None:
    """Draw the whole episode: trails that darken with time, from a dot at the start to an arrow at the end."""
    style.check_suffix(out, style.STILLS)
    scene = Scene.of(trace)
    fig, ax = _square(style.COLUMN_WIDTH, above=0.4, below=0.25)
    stage = Stage(ax, env, scene)
    steps = len(scene.position) - 1
    stage.show(steps, tail=max(steps, 1))
    ax.scatter(*scene.position[0].T, s=16, c=stage.colors, edgecolors="white", linewidths=0.6, zorder=4)
    fig.text(0.03, 0.985, _headline(env, trace, scene), fontsize=style.TEXT, color=style.INK, va="top", linespacing=1.3)
    explain(fig)
    style.save(fig, out)


def animate(env: Rover, trace: Trace, out: Path, fps: int = 12) -> None:
    """Draw the episode as a GIF, one frame per instant; the last one is held."""
    style.check_suffix(out, (".gif",))
    if not 0 < fps <= 50:
        raise UserError(f"fps is {fps}; make it more than 0 and at most 50, the most that viewers show.")
    palette = _palette(rover_colors(env.num_agents))
    frames = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in _frames(env, Scene.of(trace))]
    durations = [round(1000 / fps)] * (len(frames) - 1) + [LAST_FRAME]
    with style.writing(out):
        frames[0].save(out, format="GIF", save_all=True, append_images=frames[1:], duration=durations, loop=0)


def _square(width: float, *, above: float, below: float = 0.0) -> tuple[Figure, Axes]:
    """A figure with a square axes of its whole width, and room for text above and below; all in inches."""
    height = above + width + below
    fig = Figure(figsize=(width, height), dpi=_DPI, facecolor="white")
    FigureCanvasAgg(fig)
    return fig, fig.add_axes((0.0, below / height, 1.0, width / height))


def _frames(env: Rover, scene: Scene) -> Iterator[Image.Image]:
    fig, ax = _square(_WIDTH, above=_HEADLINE)
    canvas = FigureCanvasAgg(fig)
    stage = Stage(ax, env, scene)
    line = 1.0 - 0.6 * _HEADLINE / (_WIDTH + _HEADLINE)
    left = fig.text(0.03, line, "", fontsize=12, color=style.INK, va="center")
    right = fig.text(0.97, line, "", fontsize=12, color=style.INK, va="center", ha="right")
    for t, counted in enumerate(scene.counted):
        stage.show(t, tail=TAIL)
        left.set_text(f"step {t}/{len(scene.counted) - 1}")
        right.set_text(f"observed {counted.sum()}/{len(counted)}")
        canvas.draw()
        yield Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")


def _palette(rovers: Float[np.ndarray, "agent 3"]) -> Image.Image:
    """At most 256 colours, the same for all frames: those that are drawn, each fading into white.

    Pillow finds the nearest of them to about 4 in 255, so finer ramps would turn the white background grey.
    """
    levels = min(16, max(1, (256 - 48) // len(rovers)))
    ramps = [(to_rgb(BLACK), 32), (to_rgb(GOLD), 16), *((color, levels) for color in rovers)]
    fade = [1.0 - np.linspace(1.0, 0.0, num)[:, None] * (1.0 - np.array(color)) for color, num in ramps]
    palette = Image.new("P", (1, 1))
    palette.putpalette(np.round(255 * np.concatenate(fade)[:256]).astype(np.uint8).tobytes())
    return palette


def _headline(env: Rover, trace: Trace, scene: Scene) -> str:
    speed = ", pinned speed" if env.speed == "pinned" else ""
    world = f"{env.num_agents} rovers, {env.num_poi} POIs, coupling {env.coupling}{speed}"
    observed = f"{scene.counted[-1].sum()} of {env.num_poi} POIs observed"
    return f"{world}\nscore {float(trace.score):.2f} after {int(trace.steps)} steps, {observed}"


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
    look = {"frameon": False, "fontsize": style.SMALL, "labelcolor": style.INK}
    spacing = {"borderpad": 0.2, "handlelength": 1.6, "handletextpad": 0.3, "columnspacing": 1.1}
    fig.legend(handles=symbols, loc="lower left", ncols=len(symbols), **look, **spacing)
