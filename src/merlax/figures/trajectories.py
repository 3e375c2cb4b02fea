"""What several teams of rovers did on the same instance, side by side."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from merlax.core.rollout import Trace
from merlax.envs import Rover
from merlax.figures import style
from merlax.figures.rovers import explain
from merlax.figures.series import color
from merlax.figures.stage import Scene, Stage

_WIDTH, _GAP, _ABOVE, _BELOW = 2.4, 0.15, 0.7, 0.3  # inches: a picture, and the room beside, above and below it
_ASTRAY = 0.3  # sides of the world that rovers are followed beyond its edge


def side_by_side(env: Rover, teams: Mapping[str, Trace], out: Path, *, title: str) -> None:
    """Draw a picture per team, all at one scale: trails from a dot to an arrow, POIs gold when observed, else black."""
    style.check_suffix(out, style.STILLS)
    scenes = {label: Scene.of(trace) for label, trace in teams.items()}
    low, high = _bounds(env, scenes.values())
    picture = _WIDTH * (high[1] - low[1]) / (high[0] - low[0])
    width, height = (_WIDTH + _GAP) * len(teams) - _GAP, _ABOVE + picture + _BELOW
    fig = Figure(figsize=(width, height), facecolor="white")
    FigureCanvasAgg(fig)
    for i, (label, scene) in enumerate(scenes.items()):
        left, top = i * (_WIDTH + _GAP) / width, 1 - 0.3 / height
        ax = fig.add_axes((left, _BELOW / height, _WIDTH / width, picture / height))
        _draw(ax, env, scene, arrow=0.026 * float(high[0] - low[0]))
        ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
        seen = f"{scene.counted[-1].sum()} of {env.num_poi} POIs observed, {int(teams[label].steps)} steps"
        fig.text(left + 0.1 / width, top, label, fontsize=style.TEXT, color=color(label), fontweight="bold", va="top")
        fig.text(left + 0.1 / width, top - 0.16 / height, seen, fontsize=style.SMALL, color=style.INK, va="top")
    fig.text(0.1 / width, 1 - 0.07 / height, title, fontsize=style.TEXT, color=style.INK, va="top")
    explain(fig)
    style.save(fig, out)


def _bounds(env: Rover, scenes: Collection[Scene]) -> tuple[Float[np.ndarray, " 2"], Float[np.ndarray, " 2"]]:
    """The corners of what is shown: all POIs and rovers, but those that stray far are not followed all the way."""
    reach, astray = env.observation_distance, _ASTRAY * env.side
    points = np.concatenate(
        [[[0.0, 0.0], [env.side, env.side]]]
        + [np.clip(scene.position.reshape(-1, 2), -astray, env.side + astray) for scene in scenes]
        + [scene.poi + offset for scene in scenes for offset in (-reach, reach)]
    )
    margin = 0.04 * env.side
    return points.min(axis=0) - margin, points.max(axis=0) + margin


def _draw(ax: Axes, env: Rover, scene: Scene, arrow: float) -> None:
    stage = Stage(ax, env, scene, arrow)
    steps = len(scene.position) - 1
    stage.show(steps, tail=max(steps, 1))
    ax.scatter(*scene.position[0].T, s=16, c=stage.colors, edgecolors="white", linewidths=0.6, zorder=4)
