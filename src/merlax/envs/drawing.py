"""What a world may say of its looks: points, circles, trails and labels, for pictures, animations and pages alike.

A world that has a method `draw(states)` is drawn by it; without one, merlax draws the positions that it finds in the
state, or shows its numbers. `states` is the world's state as NumPy arrays with a leading time axis, one entry for the
start of an episode and one for each step. What does not move may leave the time axis out.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

from merlax.envs.base import State

Numbers: TypeAlias = Any  # whatever NumPy takes for an array

# One colour for each thing ("team"), one that means something wherever it is used, or any "#rrggbb".
COLORS = TEAM, OPPONENT, INK, GREY, FAINT, GOLD = "team", "opponent", "ink", "grey", "faint", "gold"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Points:
    """Dots of one size on every screen, or arrows where a heading is given."""

    position: Numbers
    """[time, thing, 2]"""
    name: str = ""
    """What one of them is, for the legend: "rover"."""
    color: str = TEAM
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
    """Round things with a radius in the world's own units: bodies, landmarks, regions. Who is lit has a golden rim."""

    radius: Numbers
    """One for all, or [thing]."""
    style: Literal["solid", "ring", "dashed"] = "solid"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Labels:
    """A few letters at places."""

    position: Numbers
    """[time, thing, 2]"""
    text: Numbers
    """[time, thing]: what is written there."""


Mark: TypeAlias = Points | Circles | Labels


@dataclasses.dataclass(frozen=True, kw_only=True)
class Sectors:
    """A part of an agent's observation that tells of directions: sector 0 begins at +y, the next is clockwise of it."""

    name: str
    first: int
    """Its place in the observation."""
    count: int
    color: str = INK
    side: int = 0
    power: float = 1.0
    """A sector is drawn as long as its value, where that is positive, to this power; 1 is the longest."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Drawing:
    """How one episode looks; what comes later lies on top."""

    marks: Sequence[Mark]
    title: str = ""
    """The world in a few words."""
    score: Numbers | None = None
    """[time]: how the team stands; by default what it has been paid so far."""
    caption: Sequence[str] | None = None
    """[time]: the same in words."""
    box: tuple[tuple[float, float], tuple[float, float]] | None = None
    """Two corners of the world's own ground."""
    sectors: Sequence[Sectors] = ()


@runtime_checkable
class Drawn(Protocol):
    """A world that says how it looks."""

    def draw(self, states: State) -> Drawing: ...
