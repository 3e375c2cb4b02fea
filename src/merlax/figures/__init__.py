"""Figures: they read results and never train."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from merlax.envs.drawing import Drawn
from merlax.envs.outside import Outside
from merlax.figures import episode, film, page, style
from merlax.figures.comparison import compare, selection_rate
from merlax.figures.curves import learning_curve
from merlax.figures.diagnosis import draw_diagnosis
from merlax.figures.finals import draw_finals
from merlax.figures.heatmap import heat_map, heat_maps
from merlax.figures.replay import Episode, Replay, make_replay, replay_data
from merlax.figures.scene import Scene, scene
from merlax.figures.sweep import draw_sweep

__all__ = [
    "Episode",
    "Replay",
    "Scene",
    "compare",
    "draw_diagnosis",
    "draw_finals",
    "draw_sweep",
    "heat_map",
    "heat_maps",
    "is_drawn",
    "learning_curve",
    "make_replay",
    "render",
    "replay_data",
    "scene",
    "selection_rate",
]

SUFFIXES = (page.SUFFIX, *film.MOVING, *style.STILLS)


def is_drawn(env: Any) -> bool:
    """Whether a world says how it looks."""
    return isinstance(env, Drawn) or (isinstance(env, Outside) and env.draws)


def render(scenes: Sequence[Scene], out: Path, title: str = "") -> None:
    """Draw one instance as teams played it, side by side: a film (.gif, .mp4) or a picture (.png, .pdf, .svg)."""
    moving = style.check_suffix(out, (*film.MOVING, *style.STILLS)) in film.MOVING
    if moving:
        episode.animate(scenes, out)
    else:
        episode.picture(scenes, out, title)
