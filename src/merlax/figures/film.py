"""Square canvases, GIFs and videos: what all drawings of an episode share."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from PIL import Image

from merlax.figures import style
from merlax.types import UserError

MOVING = (".gif", ".mp4")
LAST_FRAME = 1500  # ms
WIDTH, HEADLINE, DPI = 4.8, 0.3, 100  # an animation, in inches: 480 pixels wide
PIXELS = round(WIDTH * DPI)
_LETTERS, _LEAST_LETTERS = 12, 10  # points of an animation's words, and the fewest pixels of a small one's

Color = Sequence[float] | Float[np.ndarray, " 3"]


def square(width: float, *, above: float, below: float = 0.0) -> tuple[Figure, Axes]:
    """A figure with a square axes of its whole width, and room for text above and below; all in inches."""
    height = above + width + below
    fig = Figure(figsize=(width, height), dpi=DPI, facecolor="white")
    FigureCanvasAgg(fig)
    return fig, fig.add_axes((0.0, below / height, 1.0, width / height))


class Film:
    """Square axes side by side, each with a headline, photographed again and again; letters stay readable if small."""

    def __init__(self, number: int = 1, pixels: int = PIXELS) -> None:
        dpi = pixels / WIDTH
        letters = max(_LETTERS, _LEAST_LETTERS * 72 / dpi)
        headline = HEADLINE * letters / _LETTERS
        width, height = WIDTH * number, WIDTH + headline
        fig = Figure(figsize=(width, height), dpi=dpi, facecolor="white")
        self._canvas = FigureCanvasAgg(fig)
        self.axes = [fig.add_axes((i / number, 0.0, 1.0 / number, WIDTH / height)) for i in range(number)]
        look: dict[str, Any] = {"fontsize": letters, "color": style.INK, "va": "center", "parse_math": False}
        line = 1.0 - 0.6 * headline / height
        self._words = [
            (
                fig.text((i + 0.03) / number, line, "", **look),
                fig.text((i + 0.97) / number, line, "", ha="right", **look),
            )
            for i in range(number)
        ]

    def shoot(self, words: Sequence[tuple[str, str]]) -> Image.Image:
        """The axes as they are now, each under words at its left and its right."""
        for texts, own in zip(self._words, words, strict=True):
            for text, said in zip(texts, own, strict=True):
                text.set_text(said)
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
    _check_speed(fps)
    shots = [frame.quantize(palette=colors, dither=Image.Dither.NONE) for frame in frames]
    durations = [round(1000 / fps)] * (len(shots) - 1) + [LAST_FRAME]
    with style.writing(out):
        shots[0].save(out, format="GIF", save_all=True, append_images=shots[1:], duration=durations, loop=0)


def save_mp4(frames: Iterable[Image.Image], fps: int, out: Path) -> None:
    """Write an MP4 with ffmpeg, one frame per instant; the last one is held."""
    style.check_suffix(out, (".mp4",))
    _check_speed(fps)
    program = shutil.which("ffmpeg")
    if program is None:
        raise UserError(
            f"'{out}' needs the program ffmpeg, which is not installed; install it, or choose .gif or .html."
        )
    shots = list(frames)
    shots += shots[-1:] * round(fps * LAST_FRAME / 1000)
    width, height = shots[0].size
    options = f"-y -loglevel error -f rawvideo -pix_fmt rgb24 -s {width}x{height} -r {fps} -i -"
    coded = "-an -c:v libx264 -pix_fmt yuv420p -crf 20 -movflags +faststart -f mp4"
    with style.writing(out):
        command = [program, *options.split(), *coded.split(), str(out.absolute())]
        done = subprocess.run(command, input=b"".join(shot.tobytes() for shot in shots), capture_output=True)
    if done.returncode:
        said = " ".join(done.stderr.decode(errors="replace").split())[-200:]
        raise UserError(f"ffmpeg could not write '{out}' ({said}); choose .gif or .html.")


def _check_speed(fps: int) -> None:
    if not 0 < fps <= 50:
        raise UserError(f"fps is {fps}; make it more than 0 and at most 50, the most that viewers show.")


def legend(fig: Figure, symbols: Sequence[Line2D], *, length: float = 1.6) -> None:
    """Say below a picture what its symbols mean, each of this length, in letters."""
    look: dict[str, Any] = {"frameon": False, "fontsize": style.SMALL, "labelcolor": style.INK}
    spacing = {"borderpad": 0.2, "handlelength": length, "handletextpad": 0.3, "columnspacing": 1.1}
    fig.legend(handles=list(symbols), loc="lower left", ncols=len(symbols), **look, **spacing)
