"""Runs all jobs of an experiment, several at a time, each in a process of its own."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from merlax.experiments import cores, jobs
from merlax.experiments.board import Board, Status
from merlax.experiments.spec import Job
from merlax.runs import process
from merlax.types import UserError

POLL_SECONDS = 0.5
GRACE_SECONDS = 10.0  # for a process to end before it is killed


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


@dataclass(frozen=True)
class _Worker:
    job: Job
    folder: Path
    process: subprocess.Popen[bytes]
    cores: list[int]
    started: float


def run(wanted: Sequence[Job], root: Path, board: Board, workers: int | None = None) -> Outcome:
    """Run what is not finished yet; a failed run does not stop the others, Ctrl-C stops all."""
    slots = cores.groups(workers, cores.available())
    outcome = Outcome(finished=[job for job in wanted if jobs.is_finished(job, root)])
    waiting = deque(job for job in wanted if not jobs.is_finished(job, root))
    active: list[_Worker] = []
    with _alone(root), _terminable():
        board.start(len(wanted), len(outcome.finished), len(slots))
        try:
            while waiting or active:
                while waiting and len(active) < len(slots):
                    taken = [worker.cores for worker in active]
                    free = next(slot for slot in slots if slots.count(slot) > taken.count(slot))
                    active.append(_start(waiting.popleft(), root, free))
                time.sleep(POLL_SECONDS)
                active = [worker for worker in active if not _ended(worker, outcome, board)]
                board.update([_status(worker) for worker in active], list(waiting))
        except KeyboardInterrupt:
            outcome.interrupted = True
        finally:
            _stop(active)
            board.stop()
    return outcome


def _start(job: Job, root: Path, own_cores: list[int]) -> _Worker:
    """Start a job; its process locks its own folder, so that nobody takes it over should this one be killed."""
    folder = root / job.folder
    if jobs.can_resume(job, root, len(own_cores)):
        command = jobs.resume(job, root)
    else:
        command = jobs.prepare(job, root)
        (folder / "progress.csv").unlink(missing_ok=True)
    environment = os.environ | {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}  # several processes may share one GPU
    with (folder / jobs.LOG).open("wb") as log:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, env=environment
        )
    cores.pin(process.pid, own_cores)
    return _Worker(job, folder, process, own_cores, time.monotonic())


def _ended(worker: _Worker, outcome: Outcome, board: Board) -> bool:
    """Whether a worker's process is over; if so, its job is booked."""
    code = worker.process.poll()
    if code is None:
        return False
    if code == 0:
        outcome.finished.append(worker.job)
        board.finished(_status(worker))
        return True
    reason = _reason(code, worker.folder)
    outcome.failed.append(Failure(worker.job, reason))
    board.failed(worker.job, reason)
    return True


def _reason(code: int, folder: Path) -> str:
    if code == -signal.SIGKILL:
        return "it was killed, perhaps for lack of memory"
    if code < 0:
        return f"it was stopped by {signal.Signals(-code).name}"
    return jobs.last_error(folder) or f"it ended with code {code}"


def _status(worker: _Worker) -> Status:
    return Status(worker.job, jobs.progress(worker.folder), time.monotonic() - worker.started)


def _stop(workers: Sequence[_Worker]) -> None:
    """End the processes: what they have not finished goes on from its last checkpoint the next time."""
    for worker in workers:
        worker.process.terminate()
    deadline = time.monotonic() + GRACE_SECONDS
    for worker in workers:
        try:
            worker.process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            worker.process.kill()
            worker.process.wait()


@contextlib.contextmanager
def _alone(root: Path) -> Iterator[None]:
    """Refuse to work where another runner works already."""
    try:
        root.mkdir(parents=True, exist_ok=True)
        held = process.lock(root)
    except OSError as error:
        raise UserError(f"The folder '{root}' cannot be written ({error.strerror}); choose another --out.") from error
    try:
        yield
    finally:
        held.release()


@contextlib.contextmanager
def _terminable() -> Iterator[None]:
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
