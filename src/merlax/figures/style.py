"""The look that all figures share, and the one way to write them to a file.

Figures are plain `matplotlib.figure.Figure` objects, never pyplot's: no global state, so they can be made
headless and from several threads at once. For the same reason the look is set on each axes, not in `rcParams`.
"""

from __future__ import annotations

import contextlib
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from merlax.types import UserError

# Okabe and Ito's palette: its colours stay apart for colour-blind readers, too.
BLUE, VERMILLION, GREEN, PURPLE, SKY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9"
ORANGE, BROWN, BLACK = "#E69F00", "#7B4B2A", "#111111"
INK, GREY, FAINT = "#222222", "#6E6E6E", "#DDDDDD"

COLUMN_WIDTH = 3.5  # inches: one column of a paper
TEXT, SMALL = 8.0, 7.0  # points
LINE = 48  # letters of a title, beside the axis of a figure one column wide
HEADLINE = 60  # letters of a headline, which begins at the edge
DPI = 300
STILLS = (".png", ".pdf", ".svg")


def figure(width: float = COLUMN_WIDTH, height: float = 2.4) -> tuple[Figure, Axes]:
    """An empty figure, in inches, with one axes in the shared look; nothing drawn on it is clipped."""
    fig, (ax,) = panels(1, width, height)
    return fig, ax


def panels(
    rows: int,
    width: float,
    height: float,
    *,
    heights: Sequence[float] | None = None,
    same_scale: bool = True,
    columns: int = 1,
) -> tuple[Figure, list[Axes]]:
    """An empty figure with axes below each other, column by column, equally high or as `heights` says, perhaps on the
    same scale."""
    fig = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(fig)
    axes = list(fig.subplots(rows, columns, sharex=same_scale, height_ratios=heights, squeeze=False).T.flat)
    for ax in axes:
        dress(ax)
    return fig, axes


def dress(ax: Axes) -> None:
    """The shared look of an axes."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(GREY)
    ax.tick_params(labelsize=SMALL, labelcolor=INK, color=GREY, length=2.5, width=0.6)
    ax.grid(True, color=FAINT, linewidth=0.5)
    ax.set_axisbelow(True)


def title(ax: Axes, text: str) -> None:
    """Write the title flush left, where reading starts; long lines are broken."""
    text = "\n".join(textwrap.fill(line, LINE) for line in text.splitlines())
    ax.set_title(text, loc="left", fontsize=TEXT, color=INK, pad=6, parse_math=False)


def headline(fig: Figure, text: str) -> None:
    """Write the title of a whole figure flush left, where reading starts; long lines are broken."""
    letters = int(HEADLINE * fig.get_figwidth() / COLUMN_WIDTH)
    text = "\n".join(textwrap.fill(line, letters) for line in text.splitlines())
    fig.suptitle(text, x=0.02, ha="left", fontsize=TEXT, color=INK, parse_math=False)


def save(fig: Figure, path: Path) -> None:
    """Write the figure in the format that the suffix names; missing folders are made."""
    suffix = check_suffix(path, STILLS)
    with writing(path):
        fig.savefig(path, format=suffix[1:], dpi=DPI)


def check_suffix(path: Path, supported: Sequence[str]) -> str:
    """The suffix in lower case, or a `UserError` that names the supported ones."""
    suffix = Path(path).suffix.lower()
    if suffix not in supported:
        *others, last = supported
        names = f"{', '.join(others)} or {last}" if others else last
        raise UserError(f"'{path}' cannot be drawn; let the file's name end in {names}.")
    return suffix


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Make the file's folder, and turn what the file system refuses into a `UserError`."""
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise UserError(f"'{path}' cannot be written ({reason}); choose another place for the figure.") from error
