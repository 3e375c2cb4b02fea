"""A job as files and a command: what is asked of a run, whether it was done, and how far it is."""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import json
import sys
from pathlib import Path
from typing import Any

from merlax import config, envs
from merlax.algorithms import presets
from merlax.experiments.spec import Job
from merlax.runs import checkpoints
from merlax.types import UserError

LOG = "output.log"
_REQUEST, _CHANGES = "request.json", "changes.json"
_TAIL = 100_000  # bytes that surely hold the last row, which may carry a thousand fitnesses


@dataclasses.dataclass(frozen=True)
class Progress:
    """The newest row of a run."""

    frames: int
    seconds: float
    score: float | None


def request(job: Job) -> dict[str, Any]:
    """All that decides a run's outcome, as JSON has it: defaults included, so that a changed one is noticed."""
    world, method = job.world, job.method
    env, settings = dict(world.options), dict(method.changes)
    with contextlib.suppress(UserError):  # what is wrong with them, the run itself will say
        env = dataclasses.asdict(envs.make(world.name, **env))  # type: ignore[call-overload]
        settings = config.to_dict(config.merge(presets.preset(method.preset, world.name, method.algorithm), settings))
    names = {"world": world.name, "algorithm": method.algorithm, "preset": method.preset}
    return json.loads(json.dumps(names | {"env": env, "config": settings, "frames": job.frames, "seed": job.seed}))


def is_finished(job: Job, root: Path) -> bool:
    """Whether the run is there to its last frame, with exactly these settings."""
    folder = root / job.folder
    return _read(folder / _REQUEST) == request(job) and _read(folder / "final.json").get("finished") is True


def can_resume(job: Job, root: Path, devices: int) -> bool:
    """Whether a run with exactly these settings was interrupted, and its numbers can be continued on these devices."""
    folder = root / job.folder
    same = _read(folder / _REQUEST) == request(job) and _read(folder / "config.json").get("devices") == devices
    return same and bool(checkpoints.generations(folder / checkpoints.FOLDER))


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
        (folder / _CHANGES).write_text(json.dumps(dict(job.method.changes), indent=2) + "\n")
    except OSError as error:
        raise UserError(f"The folder '{folder}' cannot be written ({error.strerror}); choose another --out.") from error
    options = [f"--env.{name}={value}" for name, value in job.world.options.items()]
    command = [sys.executable, "-m", "merlax.cli", "train", job.world.name, "--algorithm", job.method.algorithm]
    command += ["--preset", job.method.preset, "--config", str(folder / _CHANGES), *options]
    return [*command, "--frames", str(job.frames), "--seed", str(job.seed), "--out", str(folder), "--force", "--quiet"]


def progress(folder: Path) -> Progress | None:
    """How far a run is: the last complete row of its progress.csv, or nothing yet."""
    try:
        with (folder / "progress.csv").open("rb") as file:
            header = file.readline().decode()
            file.seek(max(len(header.encode()), file.seek(0, 2) - _TAIL))
            lines = file.read().decode().split("\n")[:-1]
    except OSError:
        return None
    if not lines:
        return None
    row = next(csv.DictReader([header, lines[-1]]))
    try:
        score = float(row["champion_score"]) if row["champion_score"] else None
        return Progress(int(row["frames"]), float(row["seconds"]), score)
    except (KeyError, TypeError, ValueError):
        return None


def last_error(folder: Path) -> str:
    """The last line that a run printed, which is the sentence that names its error."""
    try:
        lines = (folder / LOG).read_text(errors="replace").splitlines()
    except OSError:
        return ""
    return next((line.strip().removeprefix("merlax: ") for line in reversed(lines) if line.strip()), "")


def _read(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}
