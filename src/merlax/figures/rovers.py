"""What rovers did in one episode: a picture of all of it, or an animation."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.path import Path as Outline
from PIL import Image

from merlax.envs import Rover
from merlax.figures import style
from merlax.figures.stage import ARROW, BLACK, DASHED, GOLD, Scene, Stage
from merlax.rollout import Trace
from merlax.types import UserError

WIDTH, HEADLINE = 480, 30  # pixels of the animation
TAIL = 12  # steps that a trail lasts in the animation
LAST_FRAME = 1500  # ms


def picture(env: Rover, trace: Trace, out: Path) -> None:
    """Draw the whole episode: trails that darken with time, from a dot at the start to an arrow at the end."""
    style.check_suffix(out, style.STILLS)
    scene = Scene.of(trace)
    fig, ax = style.figure(style.COLUMN_WIDTH, style.COLUMN_WIDTH + 0.5)
    stage = Stage(ax, env, scene)
    steps = len(scene.position) - 1
    stage.show(steps, tail=max(steps, 1))
    ax.scatter(*scene.position[0].T, s=16, c=stage.colors, edgecolors="white", linewidths=0.6, zorder=4)
    observed = f"{scene.counted[-1].sum()} of {env.num_poi} POIs observed"
    style.title(ax, f"{_world(env)}\nscore {float(trace.score):.2f} after {steps} steps, {observed}")
    _explain(fig)
    style.save(fig, out)


def animate(env: Rover, trace: Trace, out: Path, fps: float = 12) -> None:
    """Draw the episode as a GIF, one frame per instant; the last one is held."""
    style.check_suffix(out, (".gif",))
    if not 0 < fps <= 50:
        raise UserError(f"fps is {fps}; make it more than 0 and at most 50, the most that viewers show.")
    frames = _share_palette(_frames(env, Scene.of(trace)))
    durations = [round(1000 / fps)] * (len(frames) - 1) + [LAST_FRAME]
    with style.writing(out):
        frames[0].save(out, format="GIF", save_all=True, append_images=frames[1:], duration=durations, loop=0)


def _frames(env: Rover, scene: Scene) -> list[Image.Image]:
    height = WIDTH + HEADLINE
    fig = Figure(figsize=(WIDTH / 100, height / 100), dpi=100, facecolor="white")
    canvas = FigureCanvasAgg(fig)
    stage = Stage(fig.add_axes((0.0, 0.0, 1.0, WIDTH / height)), env, scene)
    line = 1.0 - 0.6 * HEADLINE / height
    left = fig.text(0.03, line, "", fontsize=12, color=style.INK, va="center")
    right = fig.text(0.97, line, "", fontsize=12, color=style.INK, va="center", ha="right")
    frames = []
    for t, counted in enumerate(scene.counted):
        stage.show(t, tail=TAIL)
        left.set_text(f"step {t}/{len(scene.counted) - 1}")
        right.set_text(f"observed {counted.sum()}/{len(counted)}")
        canvas.draw()
        frames.append(Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB"))
    return frames


def _share_palette(frames: list[Image.Image]) -> list[Image.Image]:
    """The frames in their 256 most frequent colours: flat areas keep theirs exactly, and the file stays small."""
    counts: Counter[tuple[int, int, int]] = Counter()
    for frame in frames:
        counts.update({color: count for count, color in frame.getcolors(frame.width * frame.height) or []})
    palette = Image.new("P", (1, 1))
    palette.putpalette([value for color, _ in counts.most_common(256) for value in color])
    return [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]


def _world(env: Rover) -> str:
    speed = ", pinned speed" if env.speed == "pinned" else ""
    return f"{env.num_agents} rovers, {env.num_poi} POIs, coupling {env.coupling}{speed}"


def _explain(fig: Figure) -> None:
    """Say below the picture what its symbols mean."""

    def symbol(label: str, fill: str, edge: str, size: float, marker: str | Outline = "o") -> Line2D:
        line = Line2D([], [], linestyle="", marker=marker, markersize=size, label=label)
        line.set(markerfacecolor=fill, markeredgecolor=edge)
        return line

    symbols = [
        symbol("start", style.GREY, "white", 4.5),
        symbol("end", style.GREY, "white", 9.0, Outline(np.concatenate([ARROW, ARROW[:1]]))),
        symbol("POI", BLACK, style.INK, 6.5),
        symbol("observed POI", GOLD, style.INK, 6.5),
        Line2D([], [], color=DASHED, linewidth=0.7, dashes=(4, 3), label="reach"),
    ]
    legend = fig.legend(handles=symbols, loc="outside lower left", ncols=len(symbols), frameon=False, borderpad=0.2)
    for text in legend.get_texts():
        text.set(fontsize=style.SMALL, color=style.INK)
