"""The run folder, open for writing: what is reported is on disk, and nobody else writes there (DESIGN §2)."""

from __future__ import annotations

import contextlib
import csv
import errno
import io
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np

from merlax.runs import policies as champions, locks
from merlax.runs.events import Events
from merlax.core.networks import TeamPolicy
from merlax.runs.reader import COLUMNS, read_config, versions
from merlax.types import UserError


class RunFolder:
    """A run folder, open for writing, by one process: every row is on disk as soon as it is reported."""

    def __init__(self, path: Path, settings: dict[str, Any] | None = None, *, force: bool = False):
        """A new run with these settings; without settings, the run that the folder holds already."""
        self.path = path
        self._file: io.FileIO | None = None
        self._events: Events | None = None
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
            _write_text(path / "config.json", text)

    def begin(self, generation: int, frames: int) -> None:
        """Keep the rows of the generations that are done, drop what came after them, and go on from there."""
        kept = _rows_until(self.path / "progress.csv", generation)
        _write_text(self.path / "progress.csv", "".join(kept) or _line({name: name for name in COLUMNS}))
        self._file = open(self.path / "progress.csv", "ab", buffering=0)  # noqa: SIM115
        with contextlib.suppress(ImportError):
            self._events = Events(self.path / "events", frames + 1 if generation else None)

    def record(self, row: dict[str, Any]) -> None:
        """Append one generation, whole or not at all."""
        assert self._file is not None, "`begin` comes first"
        end = self._file.seek(0, os.SEEK_END)
        line = _line({name: _cell(value) for name, value in row.items()}).encode()
        try:
            if self._file.write(line) != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError:
            self._file.truncate(end)
            raise
        if self._events is not None:
            self._events.add(row, row["frames"])

    def save_champion(self, policy: TeamPolicy) -> None:
        """Replace the champion; a reader sees the old one or the new one, never half of one."""
        champions.save(self.path / "champion", policy)

    def save_opponent(self, policy: TeamPolicy) -> None:
        """Replace the opponent, likewise."""
        champions.save(self.path / "opponent", policy)

    def write_json(self, name: str, data: dict[str, Any]) -> None:
        """Add a small file of results."""
        _write_text(self.path / name, json.dumps(data, indent=2) + "\n")

    def check(self) -> None:
        """Refuse to go on if somebody has taken the folder away: what is written now would be lost."""
        with contextlib.suppress(OSError):
            if self._file is None or _is_open(self.path / "progress.csv", self._file):
                return
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
        """Let go of the files and of the lock."""
        with contextlib.suppress(OSError):
            if self._file is not None:
                self._file.close()
            if self._events is not None:
                self._events.close()
        self._lock.close()


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


def _locked(path: Path) -> IO[bytes]:
    try:
        return locks.take(path)
    except OSError as error:
        raise UserError(f"The folder '{path}' cannot be written ({error.strerror}).") from error


def _clear(path: Path) -> None:
    """Remove an older run."""
    for old in ("config.json", "progress.csv", "final.json", "learning_curve.png", "champion.gif"):
        (path / old).unlink(missing_ok=True)
    for old in ("champion", "opponent", "events", "checkpoints"):
        shutil.rmtree(path / old, ignore_errors=True)


def _rows_until(path: Path, generation: int) -> list[str]:
    """The header and the rows of the first generations, as text."""
    if generation == 0:
        return []
    try:
        lines = path.read_text().splitlines(keepends=True)[: generation + 1]
    except OSError:
        lines = []
    if len(lines) != generation + 1 or not lines[-1].endswith("\n") or not lines[-1].startswith(f"{generation},"):
        raise UserError(f"'{path}' lacks rows that were written before the checkpoint; put the file back.")
    return lines


def _is_open(path: Path, file: io.FileIO) -> bool:
    """Whether the path still leads to this open file."""
    return os.path.samestat(os.stat(path), os.fstat(file.fileno()))


def _line(row: dict[str, Any]) -> str:
    text = io.StringIO()
    csv.DictWriter(text, COLUMNS, restval="", extrasaction="ignore", lineterminator="\n").writerow(row)
    return text.getvalue()


def _write_text(path: Path, text: str) -> None:
    temporary = path.with_name(path.name + ".new")
    temporary.write_text(text)
    os.replace(temporary, path)


def _cell(value: Any) -> Any:
    """A number as short as float32 allows; nothing for NaN."""
    if isinstance(value, float):
        return "" if np.isnan(value) else str(np.float32(value))
    if isinstance(value, np.ndarray):
        return " ".join(str(v) for v in value)
    return value
