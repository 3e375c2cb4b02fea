"""A method's final score by one of its settings."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from merlax.figures import style
from merlax.figures.comparison import draw_references, unit_scale
from merlax.figures.labels import Label, number, write_labels
from merlax.figures.series import Point, Reference, Sweep, color
from merlax.types import UserError


def draw_sweep(sweep: Sweep, out: Path) -> None:
    """Draw mean and 95% interval over the setting, on a logarithmic axis (0 left of it); MERL is a band."""
    style.check_suffix(out, style.STILLS)
    if not sweep.points:
        raise UserError("There is nothing to draw yet; let a run of the sweep finish first.")
    fig, ax = style.figure(height=2.5)
    _axes(ax, sweep)
    labels = [_draw_points(ax, sweep)]
    if sweep.beside is not None:
        labels.append(_draw_band(ax, sweep.beside))
    labels += draw_references(ax, [r for r in sweep.references if r.at is None])
    labels += [_draw_published_point(ax, r.at, r) for r in sweep.references if r.at is not None]
    style.headline(fig, sweep.title)
    write_labels(fig, {ax: labels})
    style.save(fig, out)


def _axes(ax: Axes, sweep: Sweep) -> None:
    at = [point.at for point in sweep.points]
    margin, least = 1.35, min((x for x in at if x), default=1.0)
    if 0 in at:
        ax.set_xscale("symlog", linthresh=least)
        left = -0.15 * least
    else:
        ax.set_xscale("log")
        left = least / margin
    ax.set_xlim(left, max(at) * margin)
    ax.xaxis.set_major_locator(FixedLocator(at))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xlabel(sweep.parameter, fontsize=style.TEXT, color=style.INK)
    ax.set_ylabel("team score", fontsize=style.TEXT, color=style.INK)
    unit_scale(ax, [np.array(point.runs) for point in (*sweep.points, *([sweep.beside] if sweep.beside else []))])


def _draw_points(ax: Axes, sweep: Sweep) -> Label:
    hue = color(sweep.method)
    points = sorted(sweep.points, key=lambda point: point.at)
    at, mean = [point.at for point in points], [point.mean for point in points]
    ax.plot(at, mean, "-o", color=hue, linewidth=1.2, markersize=3.5, zorder=3)
    for point in points:
        ax.plot([point.at] * len(point.runs), point.runs, "o", color=hue, alpha=0.35, markersize=2.2, markeredgewidth=0)
        if math.isfinite(point.low):
            ax.plot([point.at] * 2, [point.low, point.high], color=hue, linewidth=1.0, zorder=2)
    return Label(mean[-1], sweep.method, hue)


def _draw_band(ax: Axes, merl: Point) -> Label:
    hue = color("MERL")
    if math.isfinite(merl.low):
        ax.axhspan(merl.low, merl.high, color=hue, alpha=0.18, linewidth=0)
    ax.axhline(merl.mean, color=hue, linewidth=1.7)
    return Label(merl.mean, f"MERL {number(merl.mean)}", hue, bold=True)


def _draw_published_point(ax: Axes, at: float, reference: Reference) -> Label:
    ax.plot(at, reference.value, "D", markersize=5, markerfacecolor="none", markeredgecolor=style.INK, zorder=4)
    return Label(reference.value, f"◇ paper: {reference.label} {number(reference.value)}", style.INK)
