"""What a world may say of its looks: points, circles, trails and labels, for pictures, animations and pages alike.

A world that has a method `draw(states)` is drawn by it; without one, merlax draws the positions that it finds in the
state, or shows its numbers. `states` is the world's state as NumPy arrays with a leading time axis, one entry for the
start of an episode and one for each step. What does not move may leave the time axis out.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np

from merlax.envs.base import State

Numbers: TypeAlias = Any  # whatever NumPy takes for an array

# One colour for each thing ("team"), one that means something wherever it is used, or any "#rrggbb".
COLORS = TEAM, OPPONENT, INK, GREY, FAINT, GOLD = "team", "opponent", "ink", "grey", "faint", "gold"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Points:
    """Dots of one size on every screen, or arrows where a heading is given.

    Examples:
        >>> poles = merlax.Points(position=[[0.0, 0.0], [1.0, 0.0]], name="pole", color="ink")
        >>> poles.trail
        False
    """

    position: Numbers
    """[time, thing, 2], or [thing, 2] of what never moves."""
    name: str = ""
    """What one of them is, for the legend: "rover"."""
    color: str = TEAM
    """One of "team", "opponent", "ink", "grey", "faint", "gold", or any "#rrggbb"."""
    heading: Numbers | None = None
    """[time, thing]: radians from +x, counter-clockwise."""
    lit: Numbers | None = None
    """[time, thing]: which of them are gold, such as those that are reached."""
    lit_name: str = ""
    """What one that is lit is, for the legend: "observed POI"."""
    side: int | None = None
    """The side whose agents these are, in their order: whoever points at one sees what it saw, did and was paid."""
    trail: bool = False
    """Whether they leave trails."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Circles(Points):
    """Round things with a radius in the world's own units: bodies, landmarks, regions. Who is lit has a golden rim.

    Examples:
        >>> goal = merlax.Circles(position=[[0.5, 0.5]], radius=0.1, name="goal", style="ring")
        >>> goal.radius
        0.1
    """

    radius: Numbers
    """One for all, or [thing]."""
    style: Literal["solid", "ring", "dashed"] = "solid"
    """Filled, a line, or a dashed one."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Labels:
    """A few letters at places.

    Examples:
        >>> signs = merlax.Labels(position=[[0.0, 0.0]], text=[["start"]])
        >>> signs.text
        [['start']]
    """

    position: Numbers
    """[time, thing, 2]"""
    text: Numbers
    """[time, thing]: what is written there."""


Mark: TypeAlias = Points | Circles | Labels


@dataclasses.dataclass(frozen=True, kw_only=True)
class Sectors:
    """A part of an agent's observation that tells of directions: sector 0 begins at +y, the next is clockwise of it.

    Examples:
        >>> seen = merlax.Sectors(name="others", first=0, count=4)
        >>> seen.side
        0
    """

    name: str
    """What it tells of."""
    first: int
    """Its place in the observation."""
    count: int
    """How many sectors there are."""
    color: str = INK
    """As for points."""
    side: int = 0
    """The side whose agents see so."""
    power: float = 1.0
    """A sector is drawn as long as its value, where that is positive, to this power; 1 is the longest."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Drawing:
    """How one episode looks; what comes later lies on top.

    Examples:
        >>> merlax.Drawing(marks=[merlax.Points(position=[[0.0, 0.0]])], title="one point").title
        'one point'
    """

    marks: Sequence[Mark]
    """What there is to see."""
    title: str = ""
    """The world in a few words."""
    score: Numbers | None = None
    """[time]: how the team stands; by default what it has been paid so far."""
    caption: Sequence[str] | None = None
    """[time]: the same in words."""
    box: tuple[tuple[float, float], tuple[float, float]] | None = None
    """Two corners of the world's own ground."""
    sectors: Sequence[Sectors] = ()
    """What an agent sees around itself, shown when somebody points at it."""


@runtime_checkable
class Drawn(Protocol):
    """A world that says how it looks."""

    def draw(self, states: State) -> Drawing: ...


@runtime_checkable
class Filmed(Protocol):
    """A world of another library, which may make pictures of itself."""

    name: ClassVar[str]

    def film(self, states: State) -> np.ndarray | None:
        """[time, height, width, 3], or nothing."""
        ...
