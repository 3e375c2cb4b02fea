"""What is left of several figures, and how long it takes: every kind of run with its rate on this machine."""

from __future__ import annotations

import dataclasses
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from merlax.experiments import jobs, runner
from merlax.experiments.backends import Backend, Local
from merlax.experiments.spec import Job
from merlax.experiments.whole import Part, in_turns
from merlax.runs import process, progress
from merlax.types import UserError

# A rate is known after so many generations and seconds, or fewer generations and more seconds, once all is compiled.
ENOUGH = ((60, 8.0), (4, 25.0))
PATIENCE = 240.0  # seconds in which a run must have begun to train


@dataclasses.dataclass(frozen=True)
class Kind:
    """Runs that differ in nothing but their seed."""

    jobs: tuple[Job, ...]
    figures: tuple[str, ...]
    """Who asks for them."""

    @property
    def folder(self) -> Path:
        return self.jobs[0].folder.parent


@dataclasses.dataclass(frozen=True)
class Line:
    """What is left of one kind."""

    kind: Kind
    finished: int
    frames_left: int
    rate: float | None
    """Frames per second of one run, while as many run as will; nothing if no run of it could be begun."""

    @property
    def hours(self) -> float:
        """Of one run after the other."""
        return self.frames_left / self.rate / 3600 if self.rate else 0.0


def kinds(parts: Sequence[Part]) -> list[Kind]:
    """All runs of these figures by kind, in the order in which they begin."""
    found: dict[Path, list[Job]] = {}
    for job in in_turns(parts):
        found.setdefault(job.folder.parent, []).append(job)
    asking = {
        folder: tuple(part.name for part in parts if any(job.folder.parent == folder for job in part.jobs))
        for folder in found
    }
    return [Kind(tuple(own), asking[folder]) for folder, own in found.items()]


def lines(parts: Sequence[Part], root: Path) -> list[Line]:
    """What is left of every kind, as the folders tell."""
    return [_line(kind, root) for kind in kinds(parts)]


def _line(kind: Kind, root: Path) -> Line:
    done = [job for job in kind.jobs if jobs.is_finished(job, root)]
    left = sum(job.frames - _reached(job, root) for job in kind.jobs if job not in done)
    return Line(kind, len(done), left, rate(kind, root))


def _reached(job: Job, root: Path) -> int:
    """Frames that need not be played again."""
    found = jobs.progress(root / job.folder) if jobs.can_resume(job, root) else None
    return min(found.frames, job.frames) if found else 0


def rate(kind: Kind, root: Path) -> float | None:
    """Frames per second of the kind's runs that are there: the mean of those that are finished, else of those begun."""
    done = [job for job in kind.jobs if jobs.is_finished(job, root)]
    begun = done or [job for job in kind.jobs if jobs.can_resume(job, root)]
    known = [found for job in begun if (found := _steady(root / job.folder, enough=not done)) is not None]
    return float(np.mean(known)) if known else None


def _steady(folder: Path, *, enough: bool) -> float | None:
    """Frames per second over the later half of a run, whose first generations compile and do not learn yet."""
    try:
        found = progress.columns(folder / "progress.csv")
    except UserError:
        return None
    frames, seconds = found["frames"], found.get("seconds")
    if seconds is None or len(frames) < 2:
        return None
    trained = float(seconds[-1] - seconds[0])  # the first generation compiles
    if enough and not any(len(frames) >= generations and trained >= least for generations, least in ENOUGH):
        return None
    half = (len(frames) - 1) // 2
    took = float(seconds[-1] - seconds[half])
    return float(frames[-1] - frames[half]) / took if took > 0 else None


def measure(parts: Sequence[Part], root: Path, backend: Backend | None = None) -> None:
    """Begin a run of every kind whose rate is not known, as many at a time as will run, until it is.

    Nothing of it is lost: it ends with a checkpoint, from which the run goes on when its turn comes.
    """
    backend = backend or Local()
    waiting = deque(
        kind.jobs[0]
        for kind in kinds(parts)
        if rate(kind, root) is None and not process.is_locked(root / kind.jobs[0].folder)
    )
    total, active = len(waiting), list[tuple[Job, Any, float]]()
    with runner.alone(root), runner.terminable():
        try:
            while waiting or active:
                while waiting and len(active) < (backend.slots or total):
                    job = waiting.popleft()
                    print(f"measuring {total - len(waiting)} of {total}: {job.name}", flush=True)
                    active.append((job, backend.start(jobs.order(job, root)), time.monotonic()))
                time.sleep(runner.POLL_SECONDS)
                for each in list(active):
                    if _is_known(*each, root, backend):
                        active.remove(each)
        finally:
            backend.stop([ticket for _, ticket, _ in active])


def _is_known(job: Job, ticket: Any, began: float, root: Path, backend: Backend) -> bool:
    """Whether a run has told its rate; if so, it is stopped."""
    if backend.poll(ticket) is not None:
        return True
    if _steady(root / job.folder, enough=True) is None and time.monotonic() - began < PATIENCE:
        return False
    backend.stop([ticket])
    backend.poll(ticket)  # its cores are free again
    return True


def table(found: Sequence[Line]) -> Table:
    """All kinds of runs: who asks for them, how many there are, how fast they are, and how long the rest takes."""
    made = Table("world", "method", "figures", "runs", "finished", "million frames", "frames/s", "hours left",
                 box=None, pad_edge=False)  # fmt: skip
    for line in found:
        job = line.kind.jobs[0]
        known = "?" if line.rate is None else f"{line.rate:,.0f}"
        left = "?" if line.rate is None and line.frames_left else f"{line.hours:.2f}"
        made.add_row(
            job.task.label, job.method.label, ", ".join(line.kind.figures), str(len(line.kind.jobs)),
            str(line.finished), f"{job.frames / 1e6:g}", known, left,
        )  # fmt: skip
    return made


def summary(found: Sequence[Line], slots: int) -> str:
    """How long all that is left takes, with so many runs at a time."""
    hours = sum(line.hours for line in found) / slots
    runs, finished = sum(len(line.kind.jobs) for line in found), sum(line.finished for line in found)
    unknown = sum(line.rate is None and line.frames_left > 0 for line in found)
    more = f", and what {unknown} kinds of runs take whose rate could not be measured" if unknown else ""
    return f"{finished} of {runs} runs are finished; {hours:.1f} hours left with {slots} at a time{more}"


def print_plan(parts: Sequence[Part], root: Path, backend: Backend) -> int:
    """Measure what is not known, and print what is left; the exit code."""
    from merlax.experiments.reproduce import console

    measure(parts, root, backend)
    found = lines(parts, root)
    console().print(table(found), markup=False)
    print(summary(found, backend.slots or 1))
    return 0
