"""How a team fails, in one figure: the scores of its episodes, and bars for everything else that was measured."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from merlax.figures import style
from merlax.figures.labels import number
from merlax.figures.series import Bars

_COLUMNS, _WIDTH, _ROW = 2, 3.4, 1.75  # panels beside each other; inches of one
_TITLE = 52  # letters in a line
_MANY = 8  # classes: beyond, values are not written, for they would not fit


def draw_diagnosis(scores: Sequence[float], findings: Sequence[Bars], out: Path, *, title: str) -> None:
    """Draw a panel for the scores of all episodes and one for each finding."""
    style.check_suffix(out, style.STILLS)
    rows = -(-(1 + len(findings)) // _COLUMNS)
    fig = Figure(figsize=(_COLUMNS * _WIDTH, 0.4 + rows * _ROW), layout="constrained")
    FigureCanvasAgg(fig)
    axes = list(fig.subplots(rows, _COLUMNS, squeeze=False).flat)
    for ax in axes[1 + len(findings) :]:
        ax.set_axis_off()
    _histogram(axes[0], np.asarray(scores, float))
    for ax, bars in zip(axes[1:], findings, strict=False):
        _bars(ax, bars)
    style.headline(fig, textwrap.fill(title, 110))
    style.save(fig, out)


def _histogram(ax: Axes, scores: np.ndarray) -> None:
    _title(ax, "scores of the episodes")
    values = np.unique(scores.round(6))
    if len(values) <= _MANY:  # such as shares of four POIs
        shares = [float(np.mean(np.isclose(scores, value, atol=1e-5))) for value in values]
        _bars(ax, Bars("scores of the episodes", tuple(map(number, values)), tuple(shares), percent=True))
        return
    style.dress(ax)
    whole = np.allclose(scores, scores.round()) and np.ptp(scores) <= 40  # such as touches: a bar for each number
    bins = np.arange(scores.min() - 0.5, scores.max() + 1.0) if whole else 20
    ax.hist(scores, bins=bins, weights=np.full(scores.shape, 1 / len(scores)), color=style.BLUE, alpha=0.85)
    ax.axvline(scores.mean(), color=style.INK, linewidth=0.9, dashes=(4, 3))
    ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))


def _bars(ax: Axes, bars: Bars) -> None:
    style.dress(ax)
    _title(ax, bars.title)
    at = np.arange(len(bars.classes))
    values = np.array([math.nan if value is None else value for value in bars.values])
    half = [0.0 if half is None else half for half in bars.half_widths] if bars.half_widths else None
    ax.bar(at, values, 0.72, color=style.BLUE if bars.percent else style.SKY, yerr=half,
           error_kw={"elinewidth": 0.8, "ecolor": style.INK})  # fmt: skip
    long = max(map(len, bars.classes)) * len(at) > 48
    names = [name.removeprefix("agent ") if len(at) > _MANY else name for name in bars.classes]
    if long and len(at) <= _MANY:
        ax.set_xticks(at, [textwrap.fill(name, 11) for name in names])
    else:
        ax.set_xticks(at, names)
    ax.grid(False, axis="x")
    ax.axhline(0.0, color=style.GREY, linewidth=0.6)
    if bars.percent:
        ax.set_ylim(0.0, 1.12)
        ax.set_yticks([0.0, 0.5, 1.0])
        ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    else:
        ax.margins(y=0.18)
    if len(at) <= _MANY:
        _write(ax, at, values, half, bars.percent)


def _write(ax: Axes, at: np.ndarray, values: np.ndarray, half: Sequence[float] | None, percent: bool) -> None:
    """Every bar's value at its end."""
    for x, value, more in zip(at, values, half or [0.0] * len(at), strict=True):
        if math.isfinite(value):
            text = f"{value:.0%}" if percent else number(value)
            end, where = (value + more, "bottom") if value >= 0 else (value - more, "top")
            ax.text(x, end, text, ha="center", va=where, fontsize=style.SMALL - 1, color=style.INK)


def _title(ax: Axes, text: str) -> None:
    ax.set_title(textwrap.fill(text, _TITLE), loc="left", fontsize=style.SMALL, color=style.INK, parse_math=False)
