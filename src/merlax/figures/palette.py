"""The colours of what is drawn of an episode."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from matplotlib import colormaps
from matplotlib.colors import to_hex, to_rgb

from merlax.envs.drawing import FAINT, GOLD, GREY, INK, OPPONENT, TEAM
from merlax.figures import style

MEANT = {OPPONENT: style.VERMILLION, INK: "#111111", GREY: "#8C8C8C", FAINT: "#C9C9C9", GOLD: "#FFC20E"}
GOLDEN = to_rgb(MEANT[GOLD])
_FEW = (style.BLUE, style.VERMILLION, style.GREEN, style.PURPLE, style.SKY, "#7B4B2A")


def colors(name: str, number: int, *, contest: bool = False) -> Float[np.ndarray, "thing 3"]:
    """A colour for each of so many things; in a contest, none of the team's is near the opponent's."""
    if name == TEAM:
        return _team(number, contest)
    return np.tile(to_rgb(MEANT.get(name, name)), (number, 1))


def _team(number: int, contest: bool) -> Float[np.ndarray, "thing 3"]:
    """One for each agent, none of them near the gold of what is lit."""
    few = [color for color in _FEW if not (contest and color == style.VERMILLION)]
    if number <= len(few):
        return np.array([to_rgb(color) for color in few[:number]]).reshape(-1, 3)
    if contest:
        return colormaps["viridis"](np.linspace(0.0, 0.72, number))[:, :3]
    yellow = 0.5, 0.74  # the part of the colour map that is left out
    at = np.linspace(0.09, 0.93 - (yellow[1] - yellow[0]), number)
    at = np.where(at > yellow[0], at + yellow[1] - yellow[0], at)
    neighbours_differ = np.where(np.arange(number) % 2, 0.62, 1.0)[:, None]
    return colormaps["turbo"](at)[:, :3] * neighbours_differ


def hexes(name: str, number: int, *, contest: bool = False) -> list[str]:
    """The same colours for a page."""
    return [to_hex(color) for color in colors(name, number, contest=contest)]
