"""Tables of scores as coloured cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from merlax.figures import style
from merlax.types import UserError


def heat_map(
    scores: Float[np.ndarray, "row column"],
    rows: Sequence[str],
    columns: Sequence[str],
    out: Path,
    *,
    title: str,
    row_name: str,
    column_name: str,
) -> None:
    """Draw scores with rows and columns named; darker is higher, and every cell says its number."""
    style.check_suffix(out, style.STILLS)
    wide = max(map(len, rows)) * 0.055
    fig, ax = style.figure(width=1.2 + wide + 0.62 * len(columns), height=1.3 + 0.36 * len(rows))
    low, high = scores.min(), scores.max()
    if high > 0.0:  # then the scale begins at 0
        low = min(low, 0.0)
    else:
        high += 1e-9
    _cells(ax, scores, low, high, ".2f")
    ax.set_xticks(range(len(columns)), columns, rotation=30, ha="right", rotation_mode="anchor")
    ax.set_yticks(range(len(rows)), rows)
    ax.set_xlabel(column_name, fontsize=style.TEXT, color=style.INK)
    ax.set_ylabel(row_name, fontsize=style.TEXT, color=style.INK)
    style.headline(fig, title)
    style.save(fig, out)


def heat_maps(
    panels: Mapping[str, Float[np.ndarray, "row column"]],
    rows: Sequence[str],
    columns: Sequence[str],
    out: Path,
    *,
    title: str,
    row_name: str,
    column_name: str,
) -> None:
    """Draw shares of several methods over the same rows and columns, a panel each, two beside each other.

    All have one scale, from 0 to 100%; a cell that is not known (NaN) is left empty.
    """
    style.check_suffix(out, style.STILLS)
    if not panels:
        raise UserError("There is nothing to draw yet; let a run finish first.")
    lines = -(-len(panels) // 2)
    fig = Figure(figsize=(style.COLUMN_WIDTH, 0.8 + (0.42 + 0.27 * len(rows)) * lines), layout="constrained")
    FigureCanvasAgg(fig)
    axes = fig.subplots(lines, 2, sharex=True, sharey=True, squeeze=False)
    for ax, (name, shares) in zip(axes.flat, panels.items(), strict=False):
        style.dress(ax)
        _cells(ax, 100.0 * shares, 0.0, 100.0, ".0f")
        ax.set_xticks(range(len(columns)), columns)
        ax.set_yticks(range(len(rows)), rows)
        ax.set_title(name, loc="left", fontsize=style.TEXT, color=style.INK, pad=3, parse_math=False)
    for ax in list(axes.flat)[len(panels) :]:
        ax.set_visible(False)
        if lines > 1:
            axes[-2, 1].tick_params(labelbottom=True)  # the lowest of its column
    fig.supxlabel(column_name, fontsize=style.TEXT, color=style.INK)
    fig.supylabel(row_name, fontsize=style.TEXT, color=style.INK)
    style.headline(fig, f"{title} (%)")
    style.save(fig, out)


def _cells(ax: Axes, scores: Float[np.ndarray, "row column"], low: float, high: float, form: str) -> None:
    """Coloured cells, each with its number."""
    ax.imshow(scores, cmap="Blues", aspect="auto", vmin=low, vmax=high)
    ax.grid(False)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    for (row, column), score in np.ndenumerate(scores):
        if not np.isnan(score):
            ink = "white" if score > (low + high) / 2 else style.INK
            ax.text(column, row, f"{score:{form}}", ha="center", va="center", fontsize=style.SMALL, color=ink)
