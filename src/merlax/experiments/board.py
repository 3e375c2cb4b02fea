"""One display for all runs of an experiment: a bar each on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import rich.progress
from rich.console import Console

from merlax.experiments.jobs import Progress
from merlax.experiments.spec import Job
from merlax.runs.terminal import clock

PLAIN_SECONDS = 30.0  # between two plain lines about the active runs


@dataclass(frozen=True)
class Status:
    """An active run, or one that has just ended."""

    job: Job
    progress: Progress | None
    seconds: float

    @property
    def share(self) -> float:
        """How much of its frames it has done."""
        return min(1.0, self.progress.frames / self.job.frames) if self.progress else 0.0

    def __str__(self) -> str:
        if self.progress is None:
            return "starting"
        score = "–" if self.progress.score is None else f"{self.progress.score:.2f}"
        unit, letter = (1e6, "M") if self.job.frames >= 1e5 else (1e3, "k")
        return f"{self.progress.frames / unit:.2f} / {self.job.frames / unit:.2f} {letter} frames, score {score}"


@runtime_checkable
class Board(Protocol):
    """What the runner reports to."""

    def start(self, total: int, finished: int, workers: int) -> None: ...

    def update(self, active: Sequence[Status], waiting: Sequence[Job]) -> None: ...

    def finished(self, status: Status) -> None: ...

    def failed(self, job: Job, reason: str) -> None: ...

    def stop(self) -> None: ...


class Clock:
    """Estimates the time left: a run takes as long as others of its world and method, or as runs on average."""

    def __init__(self, workers: int):
        self._workers = workers
        self._took: dict[tuple[str, str], float] = {}

    def finished(self, status: Status) -> None:
        self._took[_kind(status.job)] = status.seconds

    def left(self, active: Sequence[Status], waiting: Sequence[Job]) -> float | None:
        """Seconds until all is done, or nothing while nothing is known."""
        guesses = {_kind(s.job): s.seconds / s.share for s in active if s.share > 0.02} | self._took
        if not guesses:
            return None
        typical = sum(guesses.values()) / len(guesses)
        each = [guesses.get(_kind(s.job), typical) * (1.0 - s.share) for s in active]
        each += [guesses.get(_kind(job), typical) for job in waiting]
        return max(sum(each) / self._workers, max(each, default=0.0))


class Bars:
    """A line for each active run, and one for all."""

    def __init__(self, console: Console):
        self._bars = rich.progress.Progress(
            rich.progress.TextColumn("{task.description}"),
            rich.progress.BarColumn(bar_width=24),
            rich.progress.TextColumn("{task.fields[status]}"),
            console=console,
        )

    def start(self, total: int, finished: int, workers: int) -> None:
        self._clock, self._total, self._done, self._failed = Clock(workers), total, finished, 0
        self._tasks: dict[str, rich.progress.TaskID] = {}
        self._all = self._bars.add_task("[bold]all runs", total=total, completed=finished, status="")
        self._bars.start()

    def update(self, active: Sequence[Status], waiting: Sequence[Job]) -> None:
        names = [status.job.name for status in active]
        for name in [name for name in self._tasks if name not in names]:
            self._bars.remove_task(self._tasks.pop(name))
        for status in active:
            name = status.job.name
            if name not in self._tasks:
                self._tasks[name] = self._bars.add_task(name, total=1.0, status="")
            self._bars.update(self._tasks[name], completed=status.share, status=str(status))
        failed = f", [red]{self._failed} failed[/red]" if self._failed else ""
        text = f"{self._done} of {self._total}{failed}{_left(self._clock.left(active, waiting))}"
        share = self._done + self._failed + sum(status.share for status in active)
        self._bars.update(self._all, completed=share, status=text)

    def finished(self, status: Status) -> None:
        self._done += 1
        self._clock.finished(status)

    def failed(self, job: Job, reason: str) -> None:
        self._failed += 1
        self._bars.console.print(f"failed: {job.name}: {reason}", markup=False, highlight=False)

    def stop(self) -> None:
        self._bars.stop()


class Lines:
    """A line for each run that ends, and now and then one for each that is active."""

    def start(self, total: int, finished: int, workers: int) -> None:
        self._clock, self._total, self._done = Clock(workers), total, finished
        self._next = time.monotonic() + PLAIN_SECONDS
        known = f", {finished} finished already" if finished else ""
        print(f"{total} runs{known}; {workers} at a time", flush=True)

    def update(self, active: Sequence[Status], waiting: Sequence[Job]) -> None:
        if not active or time.monotonic() < self._next:
            return
        self._next = time.monotonic() + PLAIN_SECONDS
        print(f"{self._done} of {self._total} runs finished{_left(self._clock.left(active, waiting))}", flush=True)
        for status in active:
            print(f"  {status.job.name}: {status}", flush=True)

    def finished(self, status: Status) -> None:
        self._done += 1
        self._clock.finished(status)
        print(f"[{self._done}/{self._total}] {status.job.name}: {status}, {clock(status.seconds)}", flush=True)

    def failed(self, job: Job, reason: str) -> None:
        print(f"failed: {job.name}: {reason}", flush=True)

    def stop(self) -> None: ...


class Silence:
    """Shows nothing."""

    def start(self, total: int, finished: int, workers: int) -> None: ...

    def update(self, active: Sequence[Status], waiting: Sequence[Job]) -> None: ...

    def finished(self, status: Status) -> None: ...

    def failed(self, job: Job, reason: str) -> None: ...

    def stop(self) -> None: ...


def choose(quiet: bool = False) -> Board:
    """Bars on a terminal, lines in a file or a pipe, nothing if it is to be quiet."""
    if quiet:
        return Silence()
    return Bars(Console()) if sys.stdout.isatty() else Lines()


def _kind(job: Job) -> tuple[str, str]:
    return job.task.label, job.method.label


def _left(seconds: float | None) -> str:
    return "" if seconds is None else f", {clock(seconds)} left"
