"""Small jobs, and a stand-in for training: a process that writes a run folder at once."""

import contextlib
import csv
import json
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from merlax.experiments import jobs
from merlax.experiments.board import Status
from merlax.experiments.spec import Experiment, Job, Method, Quick, Task
from tests.support.settings import TINY

GENERATION = (6 * 2 + 2) * 30

PROGRESS = """generation,frames,seconds,champion_score,best_fitness,mean_fitness,learner_score,migrant_fate,fitness
1,100,0.5,0.5,0.5,0.25,0.0,discarded,0.5 0.0
2,200,1.0,,0.5,0.25,0.5,elite,0.5 0.0
3,300,1.5,1.0,1.0,0.5,0.5,selected,1.0 0.0
"""
FINAL = '{"mean": 0.75, "interval95": 0.1, "episodes": 200, "finished": true, "peak_memory_mb": 300}'

_WRITE = """
import os, pathlib, sys, time
folder, config, progress, final, body = sys.argv[1:]
(pathlib.Path(folder) / "config.json").write_text(config)
(pathlib.Path(folder) / "progress.csv").write_text(progress)
exec(body)
(pathlib.Path(folder) / "final.json").write_text(final)
"""


def job(
    seed: int = 1,
    *,
    label: str = "MERL",
    frames: int = 300,
    changes: dict[str, Any] | None = None,
    algorithm: str = "merl",
) -> Job:
    return Job(Task("two-rovers"), Method(label, algorithm, TINY if changes is None else changes), seed, frames)


def command(job: Job, root: Path, body: str = "") -> list[str]:
    """Instead of training: write the configuration and the progress, do what `body` says, write the end."""
    config = json.dumps(jobs.record(job))
    return [sys.executable, "-c", _WRITE, str(root / job.folder), config, PROGRESS, FINAL, body]


def write_run(job: Job, root: Path) -> Path:
    """The folder of a run that is finished."""
    folder = root / job.folder
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(jobs.record(job)))
    (folder / "progress.csv").write_text(PROGRESS)
    (folder / "final.json").write_text(FINAL)
    return folder


def experiment(
    *,
    worlds: Sequence[str] = ("two-rovers",),
    methods: Sequence[str | Method] = ("MERL", "EA"),
    seeds: tuple[int, ...] = (1, 2),
    **changes: Any,
) -> Experiment:
    fields: dict[str, Any] = {
        "name": "motivating",
        "title": "A title",
        "shows": "",
        "figure": "curves",
        "tasks": tuple(map(Task, worlds)),
        "methods": tuple(m if isinstance(m, Method) else Method(m, m.lower()) for m in methods),
        "frames": 300,
        "quick": Quick(100, {}),
        "seeds": seeds,
    }
    return Experiment(**(fields | changes))


class SilentBoard:
    """Keeps what it was told."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.lost: list[tuple[str, str]] = []
        self.most = 0

    def start(self, total: int, finished: int, workers: int) -> None: ...

    def update(self, active: Sequence[Status], waiting: Sequence[Job]) -> None:
        del waiting
        self.most = max(self.most, len(active))

    def finished(self, status: Status) -> None:
        self.done.append(status.job.name)

    def failed(self, job: Job, reason: str) -> None:
        self.lost.append((job.name, reason))

    def stop(self) -> None: ...


def rows(folder: Path) -> list[dict[str, str]]:
    """What progress.csv says, but for the clock."""
    with (folder / "progress.csv").open(newline="") as file:
        return [{name: cell for name, cell in row.items() if name != "seconds"} for row in csv.DictReader(file)]


def process_of(folder: Path) -> int:
    """The process that makes the run in a folder."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            words = path.read_bytes().split(b"\0")
            if os.fsencode(folder) in words and b"-I" not in words:  # else the shell around it
                return int(path.parent.name)
    raise AssertionError(f"nobody works in {folder}")


def kill(process: int) -> int:
    """As the system does where memory is short."""
    os.kill(process, signal.SIGKILL)
    return process


def parent(process: int) -> int:
    """Who started it."""
    return int(Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[1])
