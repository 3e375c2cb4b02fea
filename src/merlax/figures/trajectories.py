"""What several teams of rovers did on the same instance, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from merlax.envs import Rover
from merlax.figures import style
from merlax.figures.rovers import explain
from merlax.figures.series import color
from merlax.figures.stage import Scene, Stage, view
from merlax.rollout import Trace

_SIZE, _ABOVE, _BELOW = 2.4, 0.75, 0.25  # inches: a picture, the room for text above and below


def side_by_side(env: Rover, teams: Mapping[str, Trace], out: Path, *, title: str) -> None:
    """Draw a picture per team, all at one scale: trails from a dot to an arrow, POIs gold when observed, else black."""
    style.check_suffix(out, style.STILLS)
    scenes = {label: Scene.of(trace) for label, trace in teams.items()}
    corners = [(low, low + size) for low, size in (view(env, scene) for scene in scenes.values())]
    low, high = np.min([a for a, _ in corners], axis=0), np.max([b for _, b in corners], axis=0)
    size = float(np.max(high - low))
    low = (low + high - size) / 2
    width, height = _SIZE * len(teams), _ABOVE + _SIZE + _BELOW
    fig = Figure(figsize=(width, height), facecolor="white")
    FigureCanvasAgg(fig)
    for i, (label, trace) in enumerate(teams.items()):
        ax = fig.add_axes((i / len(teams), _BELOW / height, 1 / len(teams), _SIZE / height))
        _draw(ax, env, scenes[label])
        ax.set(xlim=(low[0], low[0] + size), ylim=(low[1], low[1] + size))
        seen = f"{scenes[label].counted[-1].sum()} of {env.num_poi} POIs observed, {int(trace.steps)} steps"
        left, top = (i + 0.04) / len(teams), 1 - 0.34 / height
        fig.text(left, top, label, fontsize=style.TEXT, color=color(label), fontweight="bold", va="top")
        fig.text(left, top - 0.16 / height, seen, fontsize=style.SMALL, color=style.INK, va="top")
    fig.text(0.04 / len(teams), 1 - 0.08 / height, title, fontsize=style.TEXT, color=style.INK, va="top")
    explain(fig)
    style.save(fig, out)


def _draw(ax: Axes, env: Rover, scene: Scene) -> None:
    stage = Stage(ax, env, scene)
    steps = len(scene.position) - 1
    stage.show(steps, tail=max(steps, 1))
    ax.scatter(*scene.position[0].T, s=16, c=stage.colors, edgecolors="white", linewidths=0.6, zorder=4)
