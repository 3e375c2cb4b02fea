"""A job as files and a command: what is asked of a run, whether it was done, and how far it is."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import sys
from pathlib import Path
from typing import Any

from merlax import envs, files
from merlax.experiments.spec import Job
from merlax.runs import checkpoints, reader, setup
from merlax.runs.progress import newest
from merlax.types import UserError

LOG = "output.log"
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
    return asked | {"settings": dict(method.changes), "frames": job.frames, "seed": job.seed}


def record(job: Job) -> dict[str, Any] | None:
    """All that decides a run's outcome, as its `config.json` will say it; nothing if it cannot be run.

    Defaults are included, so that a changed one is noticed.
    """
    task, method = job.task, job.method
    with contextlib.suppress(UserError):  # what is wrong with it, the run itself will say
        env = envs.make(task.world, **task.options)
        planned = setup.plan(
            env, method.algorithm, frames=job.frames, seed=job.seed, preset=method.preset,
            settings=dict(method.changes), world=task.world,
        )  # fmt: skip
        return json.loads(json.dumps(planned.record()))
    return None


def _is_the_same(job: Job, folder: Path) -> bool:
    """Whether the folder holds a run with exactly these settings."""
    asked, found = record(job), _read_config(folder)
    return asked is not None and {name: found.get(name) for name in asked} == asked


def is_finished(job: Job, root: Path) -> bool:
    """Whether the run is there to its last frame, with exactly these settings."""
    folder = root / job.folder
    return reader.is_finished(folder) and _is_the_same(job, folder)


def can_resume(job: Job, root: Path, devices: int) -> bool:
    """Whether a run with exactly these settings was interrupted, and its numbers can be continued on these devices."""
    folder = root / job.folder
    found = checkpoints.all_of(folder / checkpoints.FOLDER)
    return bool(found) and _read_config(folder).get("devices") == devices and _is_the_same(job, folder)


def resume(job: Job, root: Path) -> list[str]:
    """The command that continues a run."""
    return [sys.executable, "-m", "merlax.cli", "resume", str(root / job.folder), "--quiet"]


def prepare(job: Job, root: Path) -> list[str]:
    """Write down what is asked, and return the command that does it; an older run in its place will go."""
    folder = root / job.folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "final.json").unlink(missing_ok=True)
        (folder / _REQUEST).write_text(json.dumps(request(job), indent=2) + "\n")
    except OSError as error:
        raise UserError(f"The folder '{folder}' cannot be written ({error.strerror}); choose another --out.") from error
    command = [sys.executable, "-m", "merlax.cli", "train", "--config", str(folder / _REQUEST)]
    return [*command, "--out", str(folder), "--force", "--quiet"]


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


def _read_config(folder: Path) -> dict[str, Any]:
    """What the folder says of its run; nothing if it holds none."""
    try:
        return reader.read_config(folder)
    except UserError:
        return {}
