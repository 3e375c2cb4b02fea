"""How a run learns: scores over frames."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from merlax.figures import style
from merlax.types import UserError

WINDOW = 10  # tests in one running mean

# Column, its name in the figure, colour, line width: what is drawn last lies on top.
_LINES = (
    ("mean_fitness", "mean fitness", style.GREEN, 0.9),
    ("learner_score", "learner", style.VERMILLION, 0.9),
    ("champion_score", "champion", style.BLUE, 1.7),
)


@dataclass(frozen=True)
class _Label:
    """What stands at the right end of a line: it belongs at height `y`, in the units of the data."""

    y: float
    text: str
    color: str
    bold: bool = False


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
        labels.append(_Label(mean[-1], f"{name} {_number(mean[-1])}", color, champion))
        drawn += [y] if champion else [mean]
    if not drawn:
        raise UserError("The run has no score to draw yet; let it finish a generation first.")
    if published is not None:
        ax.axhline(published, color=style.INK, linewidth=0.9, dashes=(4, 3))
        labels.append(_Label(published, f"{published_label} {_number(published)}", style.INK))
        drawn.append(np.array([published]))
    _set_axes(ax, float(np.max(progress["frames"])), np.concatenate(drawn))
    style.title(ax, title)
    _write_labels(fig, ax, labels)
    style.save(fig, out)


def running_mean(y: Float[np.ndarray, " n"], window: int) -> Float[np.ndarray, " n"]:
    """The mean of each value and those before it, `window` in all, or as many as there are."""
    total = np.concatenate([[0.0], np.cumsum(y)])
    last = np.arange(1, len(y) + 1)
    first = np.maximum(last - window, 0)
    return (total[last] - total[first]) / (last - first)


def spread(wanted: Float[np.ndarray, " n"], gap: float) -> Float[np.ndarray, " n"]:
    """Move heights in [0, 1] as little as needed for neighbours to be `gap` apart, keeping their order."""
    order = np.argsort(wanted, kind="stable")
    height = wanted[order].astype(float)
    # Neighbours that touch form one block, centred where its members would be on average; blocks may touch again.
    blocks: list[list[float]] = []
    for value in height:
        blocks.append([value])
        while len(blocks) > 1 and _bottom(blocks[-1], gap) < _bottom(blocks[-2], gap) + gap * len(blocks[-2]):
            last = blocks.pop()
            blocks[-1] += last
    placed = np.concatenate([_bottom(block, gap) + gap * np.arange(len(block)) for block in blocks])
    result = np.empty_like(placed)
    result[order] = placed
    return result


def _bottom(block: list[float], gap: float) -> float:
    size = gap * (len(block) - 1)
    return float(np.clip(np.mean(block) - size / 2, 0.0, max(0.0, 1.0 - size)))


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


def _write_labels(fig: Figure, ax: Axes, labels: list[_Label]) -> None:
    """Write each label right of the axes, at the height of its line or as near to it as the others allow."""
    x = 1.04
    texts = [
        ax.text(x, 0.5, label.text, transform=ax.transAxes, va="center", color=label.color,
                fontsize=style.SMALL, fontweight="bold" if label.bold else "normal", parse_math=False)
        for label in labels
    ]  # fmt: skip
    fig.draw_without_rendering()  # the layout settles here: it makes room for the labels, whatever their height
    points = ax.get_window_extent().height * 72 / fig.dpi
    low, high = ax.get_ylim()
    wanted = np.array([(label.y - low) / (high - low) for label in labels])
    for text, label, at, y in zip(texts, labels, wanted, spread(wanted, 1.3 * style.SMALL / points), strict=True):
        text.set_y(y)
        ax.plot([1.005, x - 0.008], [at, y], transform=ax.transAxes, color=label.color, linewidth=0.6, clip_on=False)


def _number(value: float) -> str:
    text = f"{value:.2f}" if abs(value) < 100 else f"{value:.0f}"
    return text.replace("-", "\N{MINUS SIGN}")
