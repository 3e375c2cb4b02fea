"""What an experiment is: tasks × methods × seeds, what is measured of them, and the figure that shows them."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

from merlax.runs.published import Published
from merlax.types import UserError

Figure = Literal["curves", "sweep", "selection", "trajectories", "finals", "losses", "map"]
REFERENCE = "MERL"  # the method that all others are compared with


@dataclasses.dataclass(frozen=True)
class Task:
    """A named world, with options other than its own defaults."""

    world: str
    """Its name."""
    options: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    frames: int | None = None
    """A budget of its own."""
    opponent: str | None = None
    """In a contest "scripted", or a run folder whose opponent to meet; by default one that learns."""
    opponent_settings: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """Changes to the settings of an opponent that learns."""
    start: str | None = None
    """A run folder whose champion to begin with."""

    @property
    def label(self) -> str:
        """The name with the options: "rover-3 (speed pinned)"."""
        told = [f"{name} {value}" for name, value in self.options.items()]
        told += [] if self.opponent is None else [f"opponent {Path(self.opponent).name}"]
        return f"{self.world} ({', '.join(told)})" if told else self.world


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
    """Names of the worlds, or labels of the tasks; none: all."""


@dataclasses.dataclass(frozen=True)
class Claim:
    """A score that the paper gives for a method on a world."""

    world: str
    """The world's name; with options, as a task's label has them, it holds only for these."""
    method: str
    published: Published


@dataclasses.dataclass(frozen=True)
class Job:
    """One run, with everything that decides its outcome."""

    task: Task
    method: Method
    seed: int
    frames: int
    place: Path | None = None
    """A folder other than its own, below that of all runs; figures that share runs give it (`whole.py`)."""

    @property
    def name(self) -> str:
        return f"{self.task.label}, {self.method.label}, seed {self.seed}"

    @property
    def folder(self) -> Path:
        """Where its run lies, below the folder of all runs."""
        return self.place or Path(slug(self.task.label), slug(self.method.label), str(self.seed))


# Takes finished jobs and the folder that theirs are in; gives numbers of them: the job, what was measured, its value.
Measure: TypeAlias = Callable[[Sequence[Job], Path], Iterable[tuple[Job, str, float]]]


@dataclasses.dataclass(frozen=True)
class Experiment:
    """One figure, as data."""

    name: str
    title: str
    shows: str
    """What the paper's figure shows, or what ours asks, in one sentence."""
    figure: Figure
    tasks: tuple[Task, ...]
    methods: tuple[Method, ...]
    frames: int
    quick: Quick
    seeds: tuple[int, ...] = (2019, 2020, 2021, 2022, 2023)
    parameter: str = ""
    """What a sweep varies: the name of its axis."""
    axes: tuple[tuple[str, str], ...] = ()
    """Which two options of its worlds a map varies, across and downwards: each with what it means."""
    claims: tuple[Claim, ...] = ()
    """Numbers to draw in."""
    short: int | None = None
    """Frames per run that answer its question, if that is fewer than the paper's."""
    measure: Measure | None = None
    """What else to measure once the runs are finished (`measures.py`)."""

    def jobs(self) -> Iterator[Job]:
        """All runs, seed by seed, so that whatever is finished early compares all methods."""
        for seed in self.seeds:
            for task in self.tasks:
                for method in self.methods:
                    yield Job(task, method, seed, method.frames or task.frames or self.frames)

    def quickened(self) -> Experiment:
        """The same experiment, small enough to end in a minute or two."""
        quick = self.quick
        part = self.only(quick.worlds, quick.methods).with_budget(quick.frames)
        methods = tuple(
            dataclasses.replace(m, changes=combine(quick.changes.get(m.algorithm, {}), m.changes)) for m in part.methods
        )
        return dataclasses.replace(part, methods=methods, seeds=quick.seeds)

    def only(self, worlds: Sequence[str] = (), methods: Sequence[str] = ()) -> Experiment:
        """The part of it with these worlds, by name or label, and these methods; all, where none is named."""
        names = [{task.world, task.label} for task in self.tasks]
        _check_known("world", worlds, set().union(*names), [task.label for task in self.tasks], self.name)
        labels = [method.label for method in self.methods]
        _check_known("method", methods, set(labels), labels, self.name)
        tasks = tuple(task for task, own in zip(self.tasks, names, strict=True) if not worlds or own & {*worlds})
        chosen = tuple(method for method in self.methods if not methods or method.label in methods)
        return dataclasses.replace(self, tasks=tasks, methods=chosen)

    def with_budget(self, frames: int) -> Experiment:
        """The same experiment with one budget for all its runs."""
        methods = tuple(dataclasses.replace(method, frames=None) for method in self.methods)
        tasks = tuple(dataclasses.replace(task, frames=None) for task in self.tasks)
        return dataclasses.replace(self, tasks=tasks, methods=methods, frames=frames)

    def shortened(self) -> Experiment:
        """The same experiment, no run of which takes more frames than its question needs."""
        most = self.short
        if most is None:
            return self
        shorter = lambda own: own and min(own, most)  # noqa: E731
        methods = tuple(dataclasses.replace(method, frames=shorter(method.frames)) for method in self.methods)
        tasks = tuple(dataclasses.replace(task, frames=shorter(task.frames)) for task in self.tasks)
        return dataclasses.replace(self, tasks=tasks, methods=methods, frames=min(self.frames, most))

    @property
    def has_speed(self) -> bool:
        """Whether it leaves the rovers' speed to choose."""
        return len({task.options["speed"] for task in self.tasks if "speed" in task.options}) == 1

    def at_speed(self, speed: str) -> Experiment:
        """The same experiment with the rovers' speed free or pinned."""
        if not self.has_speed:
            raise UserError(f"The experiment '{self.name}' leaves no speed to choose; drop --speed.")
        tasks = tuple(
            dataclasses.replace(task, options={**task.options, "speed": speed}) if "speed" in task.options else task
            for task in self.tasks
        )
        return dataclasses.replace(self, tasks=tasks)

    def published(self, world: str, method: str) -> float | None:
        """What the paper claims for a method on a world, which is named by its task's label."""
        claims = {(claim.world, claim.method): claim.published.score for claim in self.claims}
        return claims.get((world, method), claims.get((bare(world), method)))


def _check_known(what: str, named: Sequence[str], known: set[str], shown: Sequence[str], experiment: str) -> None:
    for name in named:
        if name not in known:
            raise UserError(f"The experiment '{experiment}' has no {what} '{name}'; choose from {'; '.join(shown)}.")


def combine(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Nested settings in one, lists of them (MERL's learners) place by place: what `above` says wins."""
    return {**below, **{name: _combined(below.get(name), value) for name, value in above.items()}}


def _combined(below: Any, above: Any) -> Any:
    if isinstance(below, Mapping) and isinstance(above, Mapping):
        return combine(below, above)
    if isinstance(below, list) and isinstance(above, list) and len(below) == len(above):
        return [_combined(*both) for both in zip(below, above, strict=True)]
    return above


def bare(label: str) -> str:
    """A task's label without the options: the world's name."""
    return label.split(" (")[0]


def slug(label: str) -> str:
    """A label as the name of a folder."""
    return re.sub(r"[^\w.]+", "-", label.lower()).strip("-")
