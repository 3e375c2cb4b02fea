"""Names at the ends of lines instead of a legend, moved apart where they would overlap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from merlax.figures import style

_X = 1.04  # where labels begin, in widths of the axes


@dataclass(frozen=True)
class Label:
    """What stands at the right end of a line: it belongs at height `y`, in the units of the data."""

    y: float
    text: str
    color: str
    bold: bool = False


def write_labels(fig: Figure, labels: Mapping[Axes, Sequence[Label]]) -> None:
    """Write each label right of its axes, at the height of its line or as near to it as the others allow."""
    texts = {
        ax: [
            ax.text(_X, 0.5, label.text, transform=ax.transAxes, va="center", color=label.color,
                    fontsize=style.SMALL, fontweight="bold" if label.bold else "normal", parse_math=False)
            for label in own
        ]
        for ax, own in labels.items()
    }  # fmt: skip
    fig.draw_without_rendering()  # the layout settles here: it makes room for the labels, whatever their height
    for ax, own in labels.items():
        points = ax.get_window_extent().height * 72 / fig.dpi
        low, high = ax.get_ylim()
        wanted = np.clip([(label.y - low) / (high - low) for label in own], 0.0, 1.0)
        placed = spread(wanted, 1.3 * style.SMALL / points)
        for text, label, at, y in zip(texts[ax], own, wanted, placed, strict=True):
            text.set_y(y)
            ends = [1.005, _X - 0.008], [at, y]
            ax.plot(*ends, transform=ax.transAxes, color=label.color, linewidth=0.6, clip_on=False)


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


def number(value: float) -> str:
    """A score as labels show it."""
    text = f"{value:.2f}" if abs(value) < 100 else f"{value:.0f}"
    return text.replace("-", "\N{MINUS SIGN}")


def _bottom(block: list[float], gap: float) -> float:
    size = gap * (len(block) - 1)
    return float(np.clip(np.mean(block) - size / 2, 0.0, max(0.0, 1.0 - size)))
