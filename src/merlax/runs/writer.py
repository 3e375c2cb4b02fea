"""The run folder, open for writing: what is reported is on disk, and nobody else writes there."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import filelock

from merlax.core.networks import TeamPolicy
from merlax.runs import policies, process
from merlax.runs.reader import read_config, versions
from merlax.runs.recorders import CsvRecorder, Recorder, file_recorders, write_text
from merlax.types import UserError

FILES = ("config.json", "progress.csv", "final.json", "learning_curve.png", "champion.gif")
FOLDERS = ("champion", "opponent", "events", "checkpoints")


class RunFolder:
    """A run folder, open for writing, by one process."""

    def __init__(self, path: Path, settings: dict[str, Any] | None = None, *, force: bool = False):
        """A new run with these settings; without settings, the run that the folder holds already."""
        self.path = path
        self.csv = CsvRecorder(path / "progress.csv")
        if settings is None:
            self.config = read_config(path)
            self._lock = _locked(path)
            return
        _refuse_taken(path, force)
        _make_writable(path)
        self._lock = _locked(path)
        with self.faults():
            _refuse_taken(path, force)
            _clear(path)
            text = json.dumps(settings | versions(), indent=2) + "\n"
            self.config = json.loads(text)
            write_text(path / "config.json", text)

    def recorders(self) -> list[Recorder]:
        """What writes here: the CSV first, so that what others report is on disk."""
        return [self.csv, *file_recorders(self.path)]

    def save_champion(self, policy: TeamPolicy) -> None:
        """Replace the champion; a reader sees the old one or the new one, never half of one."""
        policies.save(self.path / "champion", policy)

    def save_opponent(self, policy: TeamPolicy) -> None:
        """Replace the opponent; a reader sees the old one or the new one, never half of one."""
        policies.save(self.path / "opponent", policy)

    def write_json(self, name: str, data: dict[str, Any]) -> None:
        """Add a small file of results."""
        write_text(self.path / name, json.dumps(data, indent=2) + "\n")

    def check(self) -> None:
        """Refuse to go on if somebody has taken the folder away: what is written now would be lost."""
        if not self.csv.is_in_place():
            raise UserError(
                f"The run folder '{self.path}' was removed or replaced while the run went on, so training stopped."
            )

    @contextlib.contextmanager
    def faults(self) -> Iterator[None]:
        """Say in one sentence what the disk refused."""
        try:
            yield
        except OSError as error:
            self.check()
            raise UserError(
                f"The run in '{self.path}' cannot be written ({error.strerror or error}), so it stopped; nothing that "
                f"was reported is lost. Make room there and go on with `merlax resume {self.path}`."
            ) from error

    def close(self) -> None:
        """Let others work here."""
        self._lock.release()


def free_path(parent: Path, name: str) -> Path:
    """`parent/name`, or the first of `name-2`, `name-3`, … that is not there yet."""
    path, number = parent / name, 2
    while path.exists():
        path, number = parent / f"{name}-{number}", number + 1
    return path


def _refuse_taken(path: Path, force: bool) -> None:
    if (path / "config.json").exists() and not force:
        raise UserError(f"'{path}' holds a run already; choose another --out, or replace it with --force.")


def _make_writable(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
        probe = path / ".write-test"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise UserError(f"The folder '{path}' cannot be written ({error.strerror}); choose another --out.") from error


def _locked(path: Path) -> filelock.BaseFileLock:
    try:
        return process.lock(path)
    except OSError as error:
        raise UserError(f"The folder '{path}' cannot be written ({error.strerror}).") from error


def _clear(path: Path) -> None:
    """Remove an older run."""
    for old in FILES:
        (path / old).unlink(missing_ok=True)
    for old in FOLDERS:
        shutil.rmtree(path / old, ignore_errors=True)
