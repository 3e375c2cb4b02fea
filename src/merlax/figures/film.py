"""Square canvases and GIFs: what all drawings of an episode share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from PIL import Image

from merlax.figures import style
from merlax.types import UserError

LAST_FRAME = 1500  # ms
WIDTH, HEADLINE, DPI = 4.8, 0.3, 100  # an animation, in inches: 480 pixels wide

Color = Sequence[float] | Float[np.ndarray, " 3"]


def square(width: float, *, above: float, below: float = 0.0) -> tuple[Figure, Axes]:
    """A figure with a square axes of its whole width, and room for text above and below; all in inches."""
    height = above + width + below
    fig = Figure(figsize=(width, height), dpi=DPI, facecolor="white")
    FigureCanvasAgg(fig)
    return fig, fig.add_axes((0.0, below / height, 1.0, width / height))


class Film:
    """A square axes with a headline, photographed again and again."""

    def __init__(self) -> None:
        fig, self.ax = square(WIDTH, above=HEADLINE)
        self._canvas = FigureCanvasAgg(fig)
        line = 1.0 - 0.6 * HEADLINE / (WIDTH + HEADLINE)
        self._left = fig.text(0.03, line, "", fontsize=12, color=style.INK, va="center")
        self._right = fig.text(0.97, line, "", fontsize=12, color=style.INK, va="center", ha="right")

    def shoot(self, left: str, right: str) -> Image.Image:
        """The axes as it is now, under these words."""
        self._left.set_text(left)
        self._right.set_text(right)
        self._canvas.draw()
        return Image.fromarray(np.asarray(self._canvas.buffer_rgba())).convert("RGB")


def palette(ramps: Iterable[tuple[Color, int]]) -> Image.Image:
    """At most 256 colours, the same for all frames: those that are drawn, each fading into white in so many levels.

    Pillow finds the nearest of them to about 4 in 255, so finer ramps would turn the white background grey.
    """
    fade = [1.0 - np.linspace(1.0, 0.0, num)[:, None] * (1.0 - np.array(color)) for color, num in ramps]
    image = Image.new("P", (1, 1))
    image.putpalette(np.round(255 * np.concatenate(fade)[:256]).astype(np.uint8).tobytes())
    return image


def save_gif(frames: Iterable[Image.Image], colors: Image.Image, fps: int, out: Path) -> None:
    """Write a GIF, one frame per instant; the last one is held."""
    style.check_suffix(out, (".gif",))
    if not 0 < fps <= 50:
        raise UserError(f"fps is {fps}; make it more than 0 and at most 50, the most that viewers show.")
    shots = [frame.quantize(palette=colors, dither=Image.Dither.NONE) for frame in frames]
    durations = [round(1000 / fps)] * (len(shots) - 1) + [LAST_FRAME]
    with style.writing(out):
        shots[0].save(out, format="GIF", save_all=True, append_images=shots[1:], duration=durations, loop=0)


def legend(fig: Figure, symbols: Sequence[Line2D], *, length: float = 1.6) -> None:
    """Say below a picture what its symbols mean, each of this length, in letters."""
    look = {"frameon": False, "fontsize": style.SMALL, "labelcolor": style.INK}
    spacing = {"borderpad": 0.2, "handlelength": length, "handletextpad": 0.3, "columnspacing": 1.1}
    fig.legend(handles=list(symbols), loc="lower left", ncols=len(symbols), **look, **spacing)
