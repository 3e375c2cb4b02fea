"""The run folder, open for writing: what is reported is on disk, and nobody else writes there."""

from __future__ import annotations

import contextlib
import itertools
import json
import logging
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import filelock

from merlax.config import to_json
from merlax.core.networks import TeamPolicy
from merlax.runs import policies, process, starts
from merlax.runs.reader import read_config, versions
from merlax.runs.recorders import CsvRecorder, Recorder, file_recorders, write_text
from merlax.types import UserError

FILES = ("config.json", "progress.csv", "final.json", "learning_curve.png", "champion.gif")
FOLDERS = ("champion", "opponent", starts.FOLDER, "events", "checkpoints")
KEPT_ASIDE = ("progress.csv", "champion", "final.json", "events")  # of a run that starts anew
_LOG = logging.getLogger("merlax")
_NAMES = 300  # signs that the names of a checkpoint's files add to that of the run folder


class RunFolder:
    """A run folder, open for writing, by one process."""

    def __init__(
        self,
        path: Path,
        settings: dict[str, Any] | None = None,
        *,
        force: bool = False,
        start: TeamPolicy | None = None,
    ):
        """A new run with these settings, perhaps from a policy; without settings, the run that is there already."""
        self.path = path
        self.csv = CsvRecorder(path / "progress.csv")
        if settings is None:
            self.config = read_config(path)
            self._lock = _locked(path)
            return
        refuse_taken(path, force)
        text = to_json(settings | versions(), indent=2) + "\n"
        self.config = json.loads(text)
        _make_writable(path, text)
        self._lock = _locked(path)
        try:
            refuse_taken(path, force)
            with _refused(path):
                _clear(path)
                if start is not None:
                    policies.save(path / starts.FOLDER, start)
                write_text(path / "config.json", text)
        except UserError:
            self.close()
            raise

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
        write_text(self.path / name, to_json(data, indent=2) + "\n")

    def extend(self, frames: int) -> None:
        """Give the run another budget: from now on it is not finished."""
        (self.path / "final.json").unlink(missing_ok=True)  # first, for a run that says it is finished lacks nothing
        self.config = self.config | {"frames": frames}
        self.write_json("config.json", self.config)

    def start_anew(self) -> None:
        """Put the rows and the champion so far aside, as `progress.csv.1` and the like, and let the checkpoints go."""
        present = [name for name in KEPT_ASIDE if (self.path / name).exists()]
        number = next(n for n in itertools.count(1) if not any((self.path / f"{k}.{n}").exists() for k in KEPT_ASIDE))
        for name in present:
            (self.path / name).rename(self.path / f"{name}.{number}")
        shutil.rmtree(self.path / "checkpoints", ignore_errors=True)
        kept = ", ".join(f"{name}.{number}" for name in present) or "nothing"
        _LOG.warning("The run in '%s' starts anew; of what there was, it keeps %s.", self.path, kept)

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


def refuse_taken(path: Path, force: bool) -> None:
    """Refuse a folder that holds a run already."""
    if os.path.exists(path / "config.json") and not force:
        raise UserError(f"'{path}' holds a run already; choose another --out, or replace it with --force.")


def _make_writable(path: Path, text: str) -> None:
    """Make the folder, and leave nothing behind where no run with such a config.json has room."""
    missing = [folder for folder in (path, *path.parents) if not os.path.exists(folder)]
    try:
        with _refused(path):
            with contextlib.suppress(FileNotFoundError):
                os.stat(path.absolute() / ("x/" * (_NAMES // 2)))  # what lies deeper in a run must have a name, too
            for folder in (*reversed(missing), path):
                folder.mkdir(exist_ok=True)
            probe = path / ".write-test"
            try:
                probe.write_text(text, encoding="utf-8")
            finally:
                probe.unlink(missing_ok=True)
    except UserError:
        for folder in missing:
            with contextlib.suppress(OSError, ValueError):
                folder.rmdir()
        raise


def _locked(path: Path) -> filelock.BaseFileLock:
    with _refused(path):
        return process.lock(path)


@contextlib.contextmanager
def _refused(path: Path) -> Iterator[None]:
    """Say in one sentence that the system allows no run there; a name that it cannot even read is a ValueError."""
    try:
        yield
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UserError(f"The folder '{path}' cannot be written ({reason}); choose another --out.") from error


def _clear(path: Path) -> None:
    """Remove an older run."""
    for old in FILES:
        (path / old).unlink(missing_ok=True)
    for old in FOLDERS:
        shutil.rmtree(path / old, ignore_errors=True)
