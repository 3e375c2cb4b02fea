"""Runs all jobs of an experiment on an engine, and tells a board how far they are."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from merlax.experiments import jobs
from merlax.experiments.backends import Backend, Local
from merlax.experiments.board import Board, Status
from merlax.experiments.spec import Job
from merlax.runs import process
from merlax.types import UserError

POLL_SECONDS = 0.5


@dataclass(frozen=True)
class Failure:
    """A run that ended with an error, and its last words."""

    job: Job
    reason: str


@dataclass
class Outcome:
    """What became of the jobs; those in none of the lists were not run to their end."""

    finished: list[Job] = field(default_factory=list)
    failed: list[Failure] = field(default_factory=list)
    interrupted: bool = False


@dataclass
class _Active:
    """A job that was given away."""

    job: Job
    folder: Path
    ticket: Any
    """The engine's; nothing where a process works there which an earlier runner has left behind."""
    began: float | None = None
    """When it was first seen at work."""


def run(
    wanted: Sequence[Job],
    root: Path,
    board: Board,
    backend: Backend | None = None,
    hear: Callable[[Job], None] | None = None,
) -> Outcome:
    """Run what is not finished yet; a failed run does not stop the others, Ctrl-C stops all.

    Args:
        wanted: All jobs, in the order in which they are begun.
        root: Folder of all runs.
        board: Is told how far they are.
        backend: The engine; by default this machine's processes.
        hear: Is called with each job that comes to its end.
    """
    backend = backend or Local()
    outcome = Outcome(finished=[job for job in wanted if jobs.is_finished(job, root)])
    waiting = deque(job for job in wanted if job not in outcome.finished)
    most = backend.slots or len(waiting)
    active: list[_Active] = []
    with alone(root), terminable():
        board.start(len(wanted), len(outcome.finished), most)
        try:
            while waiting or active:
                while waiting and len(active) < most:
                    active.append(_start(waiting.popleft(), root, backend))
                time.sleep(POLL_SECONDS)
                known = len(outcome.finished)
                active = [each for each in active if not _ended(each, root, backend, outcome, board, waiting)]
                while waiting and len(active) < most:  # before anybody who hears of it takes time
                    active.append(_start(waiting.popleft(), root, backend))
                if hear is not None:
                    for job in outcome.finished[known:]:
                        hear(job)
                begun = [status for each in active if (status := _status(each)) is not None]
                queued = [each.job for each in active if each.began is None]
                board.update(begun, [*queued, *waiting])
        except KeyboardInterrupt:
            outcome.interrupted = True
        finally:
            backend.stop([each.ticket for each in active if each.ticket is not None])
            board.stop()
    return outcome


def _start(job: Job, root: Path, backend: Backend) -> _Active:
    """Give a job away, unless somebody works on it already."""
    folder = root / job.folder
    if process.is_locked(folder):
        return _Active(job, folder, None)
    return _Active(job, folder, backend.start(jobs.order(job, root)))


def _ended(each: _Active, root: Path, backend: Backend, outcome: Outcome, board: Board, waiting: deque[Job]) -> bool:
    """Whether a job is over; if so, it is booked, or waits for another start where its process was not ours."""
    if each.ticket is None:
        if process.is_locked(each.folder):
            return False
        if not jobs.is_finished(each.job, root):
            waiting.appendleft(each.job)
            return True
        code = 0
    else:
        code = backend.poll(each.ticket)
    if code is None:
        return False
    if code == 0:
        outcome.finished.append(each.job)
        board.finished(_status(each) or Status(each.job, None, 0.0))
        return True
    if process.is_locked(each.folder):  # an earlier runner's process came first
        each.ticket = None
        return False
    reason = _reason(code, each.folder)
    outcome.failed.append(Failure(each.job, reason))
    board.failed(each.job, reason)
    return True


def _reason(code: int, folder: Path) -> str:
    if code == -signal.SIGKILL:
        return "it was killed, perhaps for lack of memory"
    if code < 0:
        return f"it was stopped by {signal.Signals(-code).name}"
    return jobs.last_error(folder) or f"it ended with code {code}"


def _status(each: _Active) -> Status | None:
    """How far a job is, or nothing while it waits in the engine's queue."""
    if each.began is None:
        if each.ticket is not None and not (each.folder / jobs.LOG).exists():
            return None
        each.began = time.monotonic()
    return Status(each.job, jobs.progress(each.folder), time.monotonic() - each.began)


@contextlib.contextmanager
def alone(root: Path) -> Iterator[None]:
    """Refuse to work where another runner works already."""
    process.make_folder(root)
    try:
        held = process.lock(root)
    except OSError as error:
        raise UserError(f"The folder '{root}' cannot be written ({error.strerror}); choose another --out.") from error
    try:
        yield
    finally:
        held.release()


@contextlib.contextmanager
def terminable() -> Iterator[None]:
    """Let SIGTERM stop the children, too, as Ctrl-C does."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
