"""A job as files and a command: what is asked of a run, whether it was done, and how far it is."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import hashlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from merlax import config, envs, files
from merlax.envs.base import Env
from merlax.experiments.backends.base import LOG, Order
from merlax.experiments.spec import Job, Task
from merlax.runs import session, setup
from merlax.runs.progress import newest
from merlax.types import UserError

_REQUEST = "request.json"
_LAST_WORDS = 10_000  # bytes of what a run printed


@dataclasses.dataclass(frozen=True)
class Progress:
    """The newest row of a run."""

    frames: int
    seconds: float
    score: float | None


def request(job: Job) -> dict[str, Any]:
    """What is asked of a run, in the form of `config.json`: what it does not say, the preset has."""
    task, method = job.task, job.method
    asked = {"world": task.world, "env": dict(task.options), "algorithm": method.algorithm, "preset": method.preset}
    asked |= {"opponent": {"settings": dict(task.opponent_settings)}} if task.opponent_settings else {}
    return asked | {"settings": dict(method.changes), "frames": job.frames, "seed": job.seed}


def env_of(task: Task) -> Env:
    """The world of a task."""
    return config.merge(envs.make(task.world), dict(task.options), "env") if task.options else envs.make(task.world)


def record(job: Job) -> dict[str, Any] | None:
    """All that decides a run's outcome, as its `config.json` will say it; nothing if it cannot be run.

    Defaults are included, so that a changed one is noticed.
    """
    task, method = job.task, job.method
    with contextlib.suppress(UserError):  # what is wrong with it, the run itself will say
        planned = setup.plan(
            env_of(task), method.algorithm, frames=job.frames, seed=job.seed, preset=method.preset,
            settings=dict(method.changes), opponent=task.opponent, opponent_settings=dict(task.opponent_settings),
            start=task.start, world=task.world,
        )  # fmt: skip
        return json.loads(json.dumps(planned.record()))
    return None


def is_finished(job: Job, root: Path) -> bool:
    """Whether the run is there to its last frame, with exactly these settings."""
    return session.standing(record(job), root / job.folder) == "finished"


def can_resume(job: Job, root: Path) -> bool:
    """Whether a run with exactly these settings was interrupted, so that it goes on where there are as many devices."""
    return session.standing(record(job), root / job.folder) == "interrupted"


def order(job: Job, root: Path) -> Order:
    """What an engine is given."""
    text, folder = json.dumps(request(job), indent=2) + "\n", root / job.folder
    digest = hashlib.sha256(f"{folder.resolve()}\n{text}".encode()).hexdigest()
    prepare = functools.partial(_prepare, folder, text, functools.partial(can_resume, job, root))
    return Order(f"merlax-{digest[:16]}", folder, tuple(command(job, root)), prepare)


def command(job: Job, root: Path) -> list[str]:
    """What makes a run, or goes on with it: the same, however often it is called."""
    folder = root / job.folder
    words = [sys.executable, "-m", "merlax.cli", "train", "--config", str(folder / _REQUEST), *_named(job)]
    return [*words, "--out", str(folder), "--force", "--go-on", "--no-keep-checkpoint", "--no-pictures", "--quiet"]


def _named(job: Job) -> list[str]:
    """What no file may name for a run: code of the user's own, and other runs."""
    task, algorithm = job.task, job.method.algorithm
    words = [task.world] if ":" in task.world and not envs.is_known(task.world) else []
    words += ["--algorithm", algorithm] if ":" in algorithm else []
    words += ["--opponent", task.opponent] if task.opponent is not None else []
    return words + (["--from", task.start] if task.start is not None else [])


def _prepare(folder: Path, text: str, resumes: Callable[[], bool]) -> None:
    """Write down what is asked, and remove what an older run in its place would make the reader believe."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("final.json", LOG, *(() if resumes() else ("progress.csv",))):
            (folder / name).unlink(missing_ok=True)
        (folder / _REQUEST).write_text(text)
    except OSError as error:
        raise UserError(f"The folder '{folder}' cannot be written ({error.strerror}); choose another --out.") from error


def progress(folder: Path) -> Progress | None:
    """How far a run is: the last complete row of its progress.csv, or nothing yet."""
    row = newest(folder / "progress.csv")
    if row is None:
        return None
    try:
        score = float(row["champion_score"]) if row["champion_score"] else None
        return Progress(int(row["frames"]), float(row["seconds"]), score)
    except (KeyError, TypeError, ValueError):
        return None


def last_error(folder: Path) -> str:
    """The last line that a run printed, which is the sentence that names its error."""
    try:
        lines = files.read_tail(folder / LOG, _LAST_WORDS).splitlines()
    except files.Unreadable:
        return ""
    return next((line.strip().removeprefix("merlax: ") for line in reversed(lines) if line.strip()), "")
