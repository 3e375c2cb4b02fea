"""What an experiment is: worlds × methods × seeds, and the figure that shows them."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from merlax.runs.published import Published
from merlax.types import UserError

Figure = Literal["curves", "sweep", "selection", "trajectories"]
REFERENCE = "MERL"  # the method that all others are compared with


@dataclasses.dataclass(frozen=True)
class World:
    """A named world, with options other than its own defaults."""

    name: str
    options: Mapping[str, str] = dataclasses.field(default_factory=dict)
    frames: int | None = None
    """A budget of its own."""

    @property
    def label(self) -> str:
        """The name with the options: "rover-3 (speed pinned)"."""
        options = ", ".join(f"{name} {value}" for name, value in self.options.items())
        return f"{self.name} ({options})" if options else self.name


@dataclasses.dataclass(frozen=True)
class Method:
    """One line of a figure: an algorithm with changes to its preset."""

    label: str
    algorithm: str
    changes: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    preset: str = "fast"
    frames: int | None = None
    """A budget of its own, before the world's and the experiment's."""
    value: float | None = None
    """What it stands for on the axis of a sweep."""


@dataclasses.dataclass(frozen=True)
class Quick:
    """How to see an experiment end to end in a minute or two; its scores mean nothing."""

    frames: int
    changes: Mapping[str, Mapping[str, Any]]
    """Changes per algorithm, on top of a method's own."""
    seeds: tuple[int, ...] = (2019,)
    methods: tuple[str, ...] = ()
    """Labels of the methods to run; none: all."""
    worlds: tuple[str, ...] = ()
    """Names of the worlds; none: all."""


@dataclasses.dataclass(frozen=True)
class Claim:
    """A score that the paper gives for a method on a world."""

    world: str
    method: str
    published: Published


@dataclasses.dataclass(frozen=True)
class Job:
    """One run, with everything that decides its outcome."""

    world: World
    method: Method
    seed: int
    frames: int

    @property
    def name(self) -> str:
        return f"{self.world.label}, {self.method.label}, seed {self.seed}"

    @property
    def folder(self) -> Path:
        """Where its run lies, below the experiment's own folder."""
        return Path(slug(self.world.label), slug(self.method.label), str(self.seed))


@dataclasses.dataclass(frozen=True)
class Experiment:
    """One figure of the paper, as data."""

    name: str
    title: str
    shows: str
    """What the paper's figure shows, in one sentence."""
    figure: Figure
    worlds: tuple[World, ...]
    methods: tuple[Method, ...]
    frames: int
    quick: Quick
    seeds: tuple[int, ...] = (2019, 2020, 2021, 2022, 2023)
    parameter: str = ""
    """What a sweep varies: the name of its axis."""
    claims: tuple[Claim, ...] = ()
    """Numbers to draw in."""

    def jobs(self) -> Iterator[Job]:
        """All runs, seed by seed, so that whatever is finished early compares all methods."""
        for seed in self.seeds:
            for world in self.worlds:
                for method in self.methods:
                    yield Job(world, method, seed, method.frames or world.frames or self.frames)

    def quickened(self) -> Experiment:
        """The same experiment, small enough to end in a minute or two."""
        quick = self.quick
        methods = tuple(
            dataclasses.replace(m, frames=None, changes=combine(quick.changes.get(m.algorithm, {}), m.changes))
            for m in self.methods
            if not quick.methods or m.label in quick.methods
        )
        worlds = tuple(
            dataclasses.replace(world, frames=None)
            for world in self.worlds
            if not quick.worlds or world.name in quick.worlds
        )
        return dataclasses.replace(self, worlds=worlds, methods=methods, frames=quick.frames, seeds=quick.seeds)

    def with_budget(self, frames: int) -> Experiment:
        """The same experiment with one budget for all its runs."""
        methods = tuple(dataclasses.replace(method, frames=None) for method in self.methods)
        worlds = tuple(dataclasses.replace(world, frames=None) for world in self.worlds)
        return dataclasses.replace(self, worlds=worlds, methods=methods, frames=frames)

    def at_speed(self, speed: str) -> Experiment:
        """The same experiment with the rovers' speed free or pinned."""
        if not any("speed" in world.options for world in self.worlds):
            raise UserError(f"The experiment '{self.name}' leaves no speed to choose; drop --speed.")
        worlds = tuple(dataclasses.replace(world, options={**world.options, "speed": speed}) for world in self.worlds)
        return dataclasses.replace(self, worlds=worlds)


def combine(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Nested settings in one: what `above` says wins."""
    result = dict(below)
    for name, value in above.items():
        both = isinstance(value, Mapping) and isinstance(result.get(name), Mapping)
        result[name] = combine(result[name], value) if both else value
    return result


def slug(label: str) -> str:
    """A label as the name of a folder."""
    return re.sub(r"[^\w.]+", "-", label.lower()).strip("-")
