"""Figures: they read results and never train."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

from merlax.core.rollout import Trace
from merlax.envs import Rover
from merlax.figures import particles, rovers, style
from merlax.figures.arena import Particles
from merlax.figures.comparison import compare, selection_rate
from merlax.figures.curves import learning_curve
from merlax.figures.diagnosis import draw_diagnosis
from merlax.figures.finals import draw_finals
from merlax.figures.heatmap import heat_map
from merlax.figures.sweep import draw_sweep
from merlax.figures.trajectories import side_by_side
from merlax.types import UserError

__all__ = [
    "can_draw",
    "compare",
    "draw_diagnosis",
    "draw_finals",
    "draw_sweep",
    "heat_map",
    "learning_curve",
    "render",
    "selection_rate",
    "side_by_side",
]


def can_draw(env: Any) -> bool:
    """Whether `render` knows this kind of world."""
    return isinstance(env, (Rover, *get_args(Particles)))


def render(env: Any, trace: Trace, out: Path) -> None:
    """Draw one episode: an animation if the file's name ends in .gif, else a picture (.png, .pdf, .svg)."""
    suffix = style.check_suffix(out, (".gif", *style.STILLS))
    if not can_draw(env):
        raise UserError(
            f"There is no drawing of the world {type(env).__name__} yet; only rover and particle worlds can be drawn."
        )
    animated = suffix == ".gif"
    if isinstance(env, Rover):
        (rovers.animate if animated else rovers.picture)(env, trace, out)
    else:
        (particles.animate if animated else particles.picture)(env, trace, out)
