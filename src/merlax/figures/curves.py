"""How a run learns: scores over frames."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator

from merlax.figures import style
from merlax.figures.labels import Label, number, write_labels
from merlax.figures.series import running_mean
from merlax.types import UserError

WINDOW = 10  # tests in one running mean

# Column, its name in the figure, colour, line width: what is drawn last lies on top.
_LINES = (
    ("mean_fitness", "mean fitness", style.GREEN, 0.9),
    ("learner_score", "learner", style.VERMILLION, 0.9),
    ("champion_score", "champion", style.BLUE, 1.7),
)
_OPPONENT = ("opponent_score", "opponent", style.PURPLE, 1.7)


def learning_curve(
    progress: dict[str, np.ndarray],
    out: Path,
    *,
    title: str,
    references: Mapping[str, float] | None = None,
) -> None:
    """Draw the champion's score (raw, and its running mean), the learner's and the population's mean fitness.

    `progress` holds the columns of `progress.csv`; NaN marks what was not measured. The running means reach back
    over `WINDOW` measurements, so the value at the end of a line is the mean of the last ones. An opponent's score, on
    a scale of its own, has a panel of its own. `references` are scores to compare with, by name: dashed lines.
    """
    style.check_suffix(out, style.STILLS)
    opponent = len(_measured(progress, "opponent_score")[1]) > 0
    fig, axes = style.panels(2 if opponent else 1, style.COLUMN_WIDTH, 3.6 if opponent else 2.4)
    labels, drawn = [], []
    for line in _LINES:
        if len(_measured(progress, line[0])[1]):
            label, values = _draw(axes[0], progress, *line)
            labels.append(label)
            drawn.append(values)
    if not drawn:
        raise UserError("The run has no score to draw yet; let it finish a generation first.")
    for name, score in (references or {}).items():
        axes[0].axhline(score, color=style.INK, linewidth=0.9, dashes=(4, 3))
        labels.append(Label(score, f"{name} {number(score)}", style.INK))
        drawn.append(np.array([score]))
    frames = float(np.max(progress["frames"]))
    _set_axes(axes[0], frames, np.concatenate(drawn), "team score")
    style.title(axes[0], title)
    everything = {axes[0]: labels}
    if opponent:
        label, values = _draw(axes[1], progress, *_OPPONENT)
        _set_axes(axes[1], frames, values, "opponent's score")
        axes[0].set_xlabel("")
        everything[axes[1]] = [label]
    write_labels(fig, everything)
    style.save(fig, out)


def _draw(ax: Axes, progress: dict[str, np.ndarray], column: str, name: str, color: str, width: float) -> Any:
    """Draw a running mean, above the raw values where they are single tests; return its label and what was drawn."""
    x, y = _measured(progress, column)
    tested = column in ("champion_score", "opponent_score")
    if tested:
        ax.plot(x, y, color=color, alpha=0.3, linewidth=0.6, solid_joinstyle="round")
    mean = running_mean(y, WINDOW)
    ax.plot(x, mean, color=color, linewidth=width, solid_joinstyle="round")
    ax.plot(x[-1], mean[-1], "o", color=color, markersize=2.0 + width, clip_on=False)
    return Label(mean[-1], f"{name} {number(mean[-1])}", color, tested), y if tested else mean


def _measured(progress: dict[str, np.ndarray], column: str) -> tuple[np.ndarray, np.ndarray]:
    x = np.asarray(progress["frames"], float)
    y = np.asarray(progress.get(column, np.full(x.shape, np.nan)), float)
    known = np.isfinite(y)
    return x[known], y[known]


def _set_axes(ax: Axes, frames: float, values: Float[np.ndarray, " n"], name: str) -> None:
    unit, letter = next(((u, c) for u, c in ((1e6, "M"), (1e3, "k")) if frames >= u), (1.0, ""))
    ax.set_xlim(0, max(frames, 1.0))
    ax.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x / unit:g}{letter}" if x else "0"))
    ax.set_xlabel("frames", fontsize=style.TEXT, color=style.INK)
    ax.set_ylabel(name, fontsize=style.TEXT, color=style.INK)
    if values.min() >= 0.0 and values.max() <= 1.0:
        ax.set_ylim(-0.02, 1.02)
