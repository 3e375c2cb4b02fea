"""What the figures of an experiment draw: numbers only, measured elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle

import numpy as np
from jaxtyping import Float

from merlax.figures import style


@dataclass(frozen=True)
class Line:
    """The mean of one method's runs over frames, with its 95% interval; NaN where one run alone gives none."""

    label: str
    frames: Float[np.ndarray, " time"]
    mean: Float[np.ndarray, " time"]
    low: Float[np.ndarray, " time"]
    high: Float[np.ndarray, " time"]
    hue: str = ""
    """Its colour; by default the one that its label has in every figure."""


@dataclass(frozen=True)
class Reference:
    """A published number, or a hand rule's score."""

    label: str
    value: float
    at: float | None = None
    """Its place on the axis of a sweep; none: it holds for all of it."""


@dataclass(frozen=True)
class Panel:
    """The lines of one world."""

    title: str
    lines: tuple[Line, ...]
    references: tuple[Reference, ...] = ()
    hand_rules: tuple[Reference, ...] = ()
    """Scores of hand rules."""


@dataclass(frozen=True)
class Point:
    """The final scores of one setting of a sweep: mean, interval, and each run's."""

    at: float
    mean: float
    low: float
    high: float
    runs: tuple[float, ...]


@dataclass(frozen=True)
class Sweep:
    """A method by one of its settings, beside one that does not have it."""

    title: str
    parameter: str
    method: str
    points: tuple[Point, ...]
    beside: Point | None = None
    """MERL's scores; `at` means nothing."""
    references: tuple[Reference, ...] = field(default=())


@dataclass(frozen=True)
class Finals:
    """What was measured at the end of the runs on one world."""

    title: str
    methods: tuple[str, ...]
    points: Mapping[str, tuple[Point, ...]]
    """By measure; `at` is a method's place among the methods."""
    hand_rules: tuple[Reference, ...] = ()
    """Scores of hand rules, which are rows of their own."""


@dataclass(frozen=True)
class Bars:
    """A number for each class; none where nothing is known."""

    title: str
    classes: tuple[str, ...]
    values: tuple[float | None, ...]
    percent: bool = False
    half_widths: tuple[float | None, ...] | None = None


# Methods and worlds keep their colour in every figure; lines of the `global` reward are dashed, too.
COLORS = {
    "MERL": style.BLUE,
    "EA": style.GREEN,
    "ES": style.SKY,
    "TD3-mixed": style.VERMILLION,
    "TD3-global": style.ORANGE,
    "learner alone": style.ORANGE,
    "team's learner alone": style.BROWN,
    "MATD3": style.VERMILLION,
    "MATD3-mixed": style.VERMILLION,
    "MATD3-global": style.ORANGE,
    "MADDPG": style.PURPLE,
    "MADDPG-mixed": style.PURPLE,
    "MADDPG-global": style.BROWN,
    "the learner's team": style.VERMILLION,
    "the tuned team": style.BLUE,
    "rover-1": style.SKY,
    "rover-3": style.BLUE,
    "rover-7": style.BLACK,
    "predator-prey": style.VERMILLION,
    "predator-prey-hard": style.ORANGE,
    "physical-deception": style.GREEN,
    "keep-away": style.PURPLE,
}


_FREE = (style.BLUE, style.VERMILLION, style.GREEN, style.PURPLE, style.ORANGE, style.SKY, style.BROWN, style.BLACK)


def color(label: str) -> str:
    """The colour of a method or world; what follows a comma or a bracket in its label does not change it."""
    return COLORS.get(label.split(",")[0].split(" (")[0], style.GREY)


def distinct(labels: Sequence[str]) -> dict[str, str]:
    """A colour for each of these methods: its own, if it has one, else one that no other has, as far as they go."""
    known = {label: COLORS[label] for label in labels if label in COLORS}
    free = cycle([hue for hue in _FREE if hue not in known.values()] or [style.GREY])
    return {label: known.get(label) or next(free) for label in labels}


def are_shares(scores: Float[np.ndarray, " n"]) -> bool:
    """Whether scores are all from 0 to 1; touches and distances are not."""
    return bool(np.all((scores >= 0.0) & (scores <= 1.0)))


def running_mean(y: Float[np.ndarray, " n"], window: int) -> Float[np.ndarray, " n"]:
    """The mean of each value and those before it, `window` in all, or as many as there are."""
    total = np.concatenate([[0.0], np.cumsum(y)])
    last = np.arange(1, len(y) + 1)
    first = np.maximum(last - window, 0)
    return (total[last] - total[first]) / (last - first)
