"""Several methods on one or more worlds: their scores over frames, and how often their migrants are selected."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator

from merlax.figures import style
from merlax.figures.labels import Label, number, write_labels
from merlax.figures.series import Line, Panel, Reference, are_shares, color
from merlax.types import UserError

_ROW, _MOST_ROWS = 1.75, 5  # inches per panel; panels below each other
DASHES = (4, 3)  # a published number
_FIRST = 0.1  # of a run: what need not be seen whole


def compare(panels: Sequence[Panel], out: Path, *, title: str, measure: str = "team score") -> None:
    """Draw a panel per world: a line per method in its 95% band, published numbers and hand rules dashed."""
    style.check_suffix(out, style.STILLS)
    _refuse_nothing(panels)
    columns = 1 if len(panels) <= _MOST_ROWS else 2
    rows = -(-len(panels) // columns)
    fig, axes = style.panels(rows, columns * style.COLUMN_WIDTH, 0.65 + _ROW * rows, columns=columns)
    for ax in axes[len(panels) :]:
        ax.set_visible(False)
    labels = {}
    for ax, panel in zip(axes, panels, strict=False):
        labels[ax] = [draw_line(ax, line) for line in panel.lines] + draw_references(ax, panel.references)
        labels[ax] += draw_references(ax, panel.hand_rules, "")
        style.title(ax, panel.title)
        ax.set_ylabel(measure, fontsize=style.TEXT, color=style.INK)
        if not unit_scale(ax, [line.mean for line in panel.lines]):
            _see_what_lasts(ax, panel)
    longest = max(line.frames[-1] for panel in panels for line in panel.lines)
    for bottom in (axes[rows - 1], axes[len(panels) - 1]):
        frames_axis(bottom, longest)
        bottom.tick_params(labelbottom=True)
    style.headline(fig, title)
    write_labels(fig, labels)
    style.save(fig, out)


def selection_rate(lines: Sequence[Line], out: Path, *, title: str, expected: float) -> None:
    """Draw the share of migrants that survive selection, a line per world, over the share of training done."""
    style.check_suffix(out, style.STILLS)
    _refuse_nothing([Panel("", tuple(lines))])
    fig, ax = style.figure(height=2.5)
    labels = [draw_line(ax, _in_percent(line)) for line in lines]
    ax.axhline(expected, color=style.INK, linewidth=0.9, dashes=DASHES)
    labels.append(Label(expected, f"by chance {number(expected)}", style.INK))
    ax.set(xlim=(0, 100), ylim=(-0.02, 1.02))
    ax.set_xlabel("training done (%)", fontsize=style.TEXT, color=style.INK)
    ax.set_ylabel("migrants selected", fontsize=style.TEXT, color=style.INK)
    style.headline(fig, title)
    write_labels(fig, {ax: labels})
    style.save(fig, out)


def draw_line(ax: Axes, line: Line) -> Label:
    """Draw one method, and return the name for the end of its line."""
    hue, merl = line.hue or color(line.label), line.label == "MERL"
    ax.fill_between(line.frames, line.low, line.high, color=hue, alpha=0.18, linewidth=0)
    dashes = (0, (2, 1.2)) if line.label.endswith("-global") else "-"
    width, order = (1.7, 3.0) if merl else (1.2, 2.5 if dashes != "-" else 2.0)  # dashes show what lies below them
    ax.plot(line.frames, line.mean, color=hue, linestyle=dashes, linewidth=width, zorder=order)
    ax.plot(line.frames[-1], line.mean[-1], "o", color=hue, markersize=3.5 if merl else 2.8, clip_on=False, zorder=4)
    return Label(float(line.mean[-1]), f"{line.label} {number(line.mean[-1])}", hue, merl)


def draw_references(ax: Axes, references: Sequence[Reference], source: str = "paper: ") -> list[Label]:
    """Draw numbers, published ones unless told, as dashed lines, and return their names; equal ones share a line."""
    labels = []
    for value, same in groupby(sorted(references, key=lambda r: r.value), key=lambda r: r.value):
        ax.axhline(value, color=style.INK, linewidth=0.9, dashes=DASHES, zorder=1)
        names = ", ".join(reference.label for reference in same)
        labels.append(Label(value, f"{source}{names} {number(value)}", style.INK))
    return labels


def frames_axis(ax: Axes, frames: float) -> None:
    """Frames in millions, or in thousands if there are few."""
    unit, name = (1e6, "million") if frames >= 1e5 else (1e3, "thousand")
    ax.set_xlim(0, max(frames, 1.0))
    ax.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x / unit:g}"))
    ax.set_xlabel(f"{name} frames", fontsize=style.TEXT, color=style.INK)


def unit_scale(ax: Axes, values: Sequence[np.ndarray]) -> bool:
    """The whole scale for scores that are shares; others keep what they need. Whether they are."""
    shares = are_shares(np.concatenate([np.atleast_1d(v) for v in values]))
    if shares:
        ax.set_ylim(-0.02, 1.02)
    return shares


def _see_what_lasts(ax: Axes, panel: Panel) -> None:
    """A scale for all but the first tenth: in a contest the first scores, when nobody has learned yet, dwarf it."""
    seen = [np.array([reference.value for reference in (*panel.references, *panel.hand_rules)])]
    for line in panel.lines:
        late = line.frames >= _FIRST * line.frames[-1]
        seen += [line.mean[late], line.low[late], line.high[late]]  # a single seed has no band
    low, high = float(np.nanmin(np.concatenate(seen))), float(np.nanmax(np.concatenate(seen)))
    margin = 0.05 * max(high - low, 1e-9)
    ax.set_ylim(low - margin, high + margin)


def _in_percent(line: Line) -> Line:
    return Line(line.label, 100.0 * line.frames / line.frames[-1], line.mean, line.low, line.high)


def _refuse_nothing(panels: Sequence[Panel]) -> None:
    if not panels or not all(panel.lines for panel in panels):
        raise UserError("There is nothing to draw yet; let a run finish first.")
