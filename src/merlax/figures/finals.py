"""What was measured at the end of the runs: a row per method, every run a dot."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes

from merlax.figures import style
from merlax.figures.series import Finals, Point
from merlax.types import UserError

_HUES = (style.BLUE, style.VERMILLION, style.SKY, style.ORANGE)  # of the measures
_ENOUGH = 3  # runs: with two, Student's interval is wider than anything that it could tell


def draw_finals(panels: Sequence[Finals], out: Path, *, title: str) -> None:
    """Draw a panel per world, each on its own scale: mean, 95% interval and runs by method and measure."""
    style.check_suffix(out, style.STILLS)
    if not panels or not all(panel.points for panel in panels):
        raise UserError("There is nothing to draw yet; let a run finish first.")
    measures = list(dict.fromkeys(measure for panel in panels for measure in panel.points))
    hues = {measure: _HUES[i % len(_HUES)] for i, measure in enumerate(measures)}
    heights = [0.1 + (0.12 + 0.08 * len(measures)) * len(_rows(panel)) for panel in panels]
    height = 0.3 + 0.15 * len(measures) + 0.45 * len(panels) + sum(heights)
    fig, axes = style.panels(len(panels), style.COLUMN_WIDTH, height, heights=heights, same_scale=False)
    for ax, panel in zip(axes, panels, strict=True):
        style.title(ax, panel.title)
        rows = _rows(panel)
        ax.set_yticks(range(len(rows)), rows)
        ax.set_ylim(len(rows) - 0.5, -0.5)
        for row, rule in enumerate(panel.hand_rules, len(panel.methods)):
            ax.axvline(rule.value, color=style.INK, linewidth=0.8, dashes=(4, 3), zorder=1)
            ax.plot(rule.value, row, "D", color=style.INK, markersize=3.0, zorder=3)
        for measure, points in panel.points.items():
            shift = (measures.index(measure) + 0.5) / len(measures) - 0.5
            for point in points:
                _draw_point(ax, point, 0.7 * shift, hues[measure])
    handles = [axes[0].plot([], [], "o", color=hue, markersize=3.5, label=name)[0] for name, hue in hues.items()]
    fig.legend(handles=handles, loc="outside lower left", frameon=False, fontsize=style.SMALL, labelcolor=style.INK)
    style.headline(fig, title)
    style.save(fig, out)


def _rows(panel: Finals) -> list[str]:
    """The methods, then the hand rules."""
    return [*panel.methods, *(rule.label for rule in panel.hand_rules)]


def _draw_point(ax: Axes, point: Point, shift: float, hue: str) -> None:
    y = point.at + shift
    ax.plot(point.runs, [y] * len(point.runs), "o", color=hue, alpha=0.35, markersize=2.2, markeredgewidth=0)
    if len(point.runs) >= _ENOUGH:
        ax.plot([point.low, point.high], [y, y], color=hue, linewidth=1.0, zorder=2)
    ax.plot(point.mean, y, "o", color=hue, markersize=3.5, zorder=3)
