"""A table of scores as coloured cells."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Float

from merlax.figures import style


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
    low, high = min(scores.min(), 0.0), max(scores.max(), 1e-9)
    ax.imshow(scores, cmap="Blues", aspect="auto", vmin=low, vmax=high)
    ax.grid(False)
    ax.spines[:].set_visible(False)
    ax.set_xticks(range(len(columns)), columns, rotation=30, ha="right", rotation_mode="anchor")
    ax.set_yticks(range(len(rows)), rows)
    ax.tick_params(length=0)
    ax.set_xlabel(column_name, fontsize=style.TEXT, color=style.INK)
    ax.set_ylabel(row_name, fontsize=style.TEXT, color=style.INK)
    for (row, column), score in np.ndenumerate(scores):
        ink = "white" if score > (low + high) / 2 else style.INK
        ax.text(column, row, f"{score:.2f}", ha="center", va="center", fontsize=style.SMALL, color=ink)
    style.headline(fig, title)
    style.save(fig, out)
