"""How a run learns: scores over frames."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator

from merlax.figures import style
from merlax.figures.labels import Label, number, write_labels
from merlax.smoothing import running_mean
from merlax.types import UserError

WINDOW = 10  # tests in one running mean

# Column, its name in the figure, colour, line width: what is drawn last lies on top.
_LINES = (
    ("mean_fitness", "mean fitness", style.GREEN, 0.9),
    ("learner_score", "learner", style.VERMILLION, 0.9),
    ("champion_score", "champion", style.BLUE, 1.7),
)


def learning_curve(
    progress: dict[str, np.ndarray],
    out: Path,
    *,
    title: str,
    published: float | None = None,
    published_label: str = "published",
) -> None:
    """Draw the champion's score (raw, and its running mean), the learner's and the population's mean fitness.

    `progress` holds the columns of `progress.csv`; NaN marks what was not measured. The running means reach back
    over `WINDOW` measurements, so the value at the end of a line is the mean of the last ones.
    """
    style.check_suffix(out, style.STILLS)
    fig, ax = style.figure()
    labels, drawn = [], []
    for column, name, color, width in _LINES:
        x, y = _measured(progress, column)
        if not len(y):
            continue
        champion = column == "champion_score"
        if champion:
            ax.plot(x, y, color=color, alpha=0.3, linewidth=0.6, solid_joinstyle="round")
        mean = running_mean(y, WINDOW)
        ax.plot(x, mean, color=color, linewidth=width, solid_joinstyle="round")
        ax.plot(x[-1], mean[-1], "o", color=color, markersize=2.0 + width, clip_on=False)
        labels.append(Label(mean[-1], f"{name} {number(mean[-1])}", color, champion))
        drawn += [y] if champion else [mean]
    if not drawn:
        raise UserError("The run has no score to draw yet; let it finish a generation first.")
    if published is not None:
        ax.axhline(published, color=style.INK, linewidth=0.9, dashes=(4, 3))
        labels.append(Label(published, f"{published_label} {number(published)}", style.INK))
        drawn.append(np.array([published]))
    _set_axes(ax, float(np.max(progress["frames"])), np.concatenate(drawn))
    style.title(ax, title)
    write_labels(fig, {ax: labels})
    style.save(fig, out)


def _measured(progress: dict[str, np.ndarray], column: str) -> tuple[np.ndarray, np.ndarray]:
    x, y = np.asarray(progress["frames"], float), np.asarray(progress[column], float)
    known = np.isfinite(y)
    return x[known], y[known]


def _set_axes(ax: Axes, frames: float, values: Float[np.ndarray, " n"]) -> None:
    unit, letter = next(((u, c) for u, c in ((1e6, "M"), (1e3, "k")) if frames >= u), (1.0, ""))
    ax.set_xlim(0, max(frames, 1.0))
    ax.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x / unit:g}{letter}" if x else "0"))
    ax.set_xlabel("frames", fontsize=style.TEXT, color=style.INK)
    ax.set_ylabel("team score", fontsize=style.TEXT, color=style.INK)
    if values.min() >= 0.0 and values.max() <= 1.0:
        ax.set_ylim(-0.02, 1.02)
