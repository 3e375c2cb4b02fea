"""Pictures that other libraries draw of their worlds, with Matplotlib, as arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

PIXELS = 500  # of a picture's longer side


def instants(states: Any) -> list[Any]:
    """States with a time axis, one by one."""
    times = len(jax.tree.leaves(states)[0])
    return [jax.tree.map(lambda leaf, t=t: leaf[t], states) for t in range(times)]


def of_animation(animation: Any, number: int) -> np.ndarray:
    """All frames [time, height, width, 3] of an animation of Matplotlib's."""
    from matplotlib.animation import AbstractMovieWriter

    class Writer(AbstractMovieWriter):
        """Keeps what others write into a file."""

        def __init__(self) -> None:
            super().__init__()
            self.shots: list[np.ndarray] = []

        def setup(self, fig: Any, outfile: Any, dpi: Any = None) -> None:
            del outfile, dpi
            self.fig = fig

        def grab_frame(self, **_: Any) -> None:
            self.shots.append(_shot(self.fig))

        def finish(self) -> None: ...

    writer = Writer()
    animation.save("nowhere", writer=writer)
    _close(writer.fig)
    return np.stack(writer.shots[-number:])


def of_figure(figure: Any, show: Callable[[int], Any], number: int) -> np.ndarray:
    """Frames [time, height, width, 3] of a figure on which `show` draws an instant."""
    shots = []
    for t in range(number):
        show(t)
        shots.append(_shot(figure))
    _close(figure)
    return np.stack(shots)


def _shot(figure: Any) -> np.ndarray:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from PIL import Image

    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    picture = Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3])
    picture.thumbnail((PIXELS, PIXELS))  # an episode of large pictures would fill the memory
    return np.asarray(picture)


def _close(figure: Any) -> None:
    from matplotlib import pyplot

    pyplot.close(figure)
