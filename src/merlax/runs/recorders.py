"""Whoever listens to a run: the CSV, TensorBoard, the terminal, a tracker on the web, a callback of the user's."""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import errno
import importlib
import io
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np

from merlax import files
from merlax.types import UserError

Value: TypeAlias = int | float | str | np.ndarray
Row: TypeAlias = dict[str, Value]  # one generation, as it is written down

# What other tools may rely on, whatever the algorithm; the rest follows from what it reports.
ALWAYS = ("generation", "frames", "seconds", "champion_score", "best_fitness", "mean_fitness", "learner_score",
          "migrant_fate")  # fmt: skip
TESTED = ("champion_score", "opponent_score")  # empty in generations without a test


@dataclasses.dataclass(frozen=True)
class Beginning:
    """What a run says of itself when it begins, or goes on."""

    path: Path
    title: str
    config: dict[str, Any]
    """What `config.json` says."""
    frames: int
    """Its budget."""
    generation: int = 0
    """How many generations are done already."""
    frames_done: int = 0


@runtime_checkable
class Recorder(Protocol):
    """Hears of every generation; `train(..., callbacks=[...])` adds one."""

    def start(self, run: Beginning) -> None: ...

    def record(self, row: Row) -> bool | None:
        """Take one generation. If it returns True, the run ends here."""
        ...

    def stop(self) -> None: ...


@dataclasses.dataclass(frozen=True)
class Midway:
    """How far a generation is that takes long."""

    generation: int
    frames: int
    """Of the run, with this generation's."""
    share: float
    """Of its rounds of learning that are done."""
    seconds: float
    """It takes, in all, if it goes on like this."""


@runtime_checkable
class Follower(Protocol):
    """A recorder that hears of what happens within a generation, too."""

    def midway(self, told: Midway) -> None: ...


Callback: TypeAlias = Recorder | Callable[[Row], bool | None]


@dataclasses.dataclass(frozen=True)
class FunctionRecorder:
    """A plain function that is called with every row."""

    function: Callable[[Row], bool | None]

    def start(self, run: Beginning) -> None: ...

    def record(self, row: Row) -> bool | None:
        return self.function(row)

    def stop(self) -> None: ...


def recorders(callbacks: Sequence[Callback]) -> list[Recorder]:
    """Callbacks of both kinds as recorders."""
    for callback in callbacks:
        if not isinstance(callback, Recorder) and not callable(callback):
            raise UserError(f"The callback {callback!r} can be neither called nor started; give a function of a row.")
    return [each if isinstance(each, Recorder) else FunctionRecorder(each) for each in callbacks]


class CsvRecorder:
    """`progress.csv`: a row is on disk, whole, as soon as it is reported, or not at all."""

    def __init__(self, path: Path):
        self.path = path
        self._file: io.FileIO | None = None
        self._columns: list[str] = []

    def start(self, run: Beginning) -> None:
        """Keep the rows of the generations that are done, drop what came after them, and go on from there."""
        kept = _rows_until(self.path, run.generation)
        self._columns = next(csv.reader(kept)) if kept else []
        write_text(self.path, "".join(kept))
        self._file = open(self.path, "ab", buffering=0)  # noqa: SIM115

    def record(self, row: Row) -> None:
        """Append one generation; the first one decides the columns."""
        text = ""
        if not self._columns:
            self._columns = _columns(row)
            text = _line(self._columns)
        if not row.keys() <= set(self._columns):
            raise UserError(f"'{self.path}' was written by another version of merlax; train anew with --force.")
        self._append(text + _line([_cell(row.get(name, "")) for name in self._columns]))

    def _append(self, text: str) -> None:
        assert self._file is not None, "`start` comes first"
        end, line = self._file.seek(0, os.SEEK_END), text.encode()
        try:
            if self._file.write(line) != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError:
            self._file.truncate(end)
            raise

    def is_in_place(self) -> bool:
        """Whether the path still leads to the open file."""
        with contextlib.suppress(OSError):
            return self._file is None or os.path.samestat(os.stat(self.path), os.fstat(self._file.fileno()))
        return False

    def stop(self) -> None:
        with contextlib.suppress(OSError):
            if self._file is not None:
                self._file.close()


class TensorBoardRecorder:
    """TensorBoard events, written at once by the caller: a full disk shows where it happens, and no thread can hang.

    A continued run starts another file, which hides what it does again.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        self._writer: Any = None

    def start(self, run: Beginning) -> None:
        from tensorboardX.event_file_writer import EventsWriter
        from tensorboardX.proto.event_pb2 import Event, SessionLog  # type: ignore[attr-defined]
        from tensorboardX.summary import scalar

        self._event, self._scalar = Event, scalar
        self.folder.mkdir(exist_ok=True)
        self._writer = EventsWriter(str(self.folder / "events"), f".{os.getpid()}")
        if run.generation:
            step = run.frames_done + 1
            self._writer.write_event(Event(wall_time=time.time(), file_version="brain.Event:2", step=step))
            again = SessionLog(status=SessionLog.START)
            self._writer.write_event(Event(wall_time=time.time(), session_log=again, step=step))

    def record(self, row: Row) -> None:
        """One point of every number."""
        for name, value in numbers(row).items():
            event = self._event(wall_time=time.time(), step=row["frames"], summary=self._scalar(name, value))
            self._writer.write_event(event)

    def stop(self) -> None:
        with contextlib.suppress(OSError):
            if self._writer is not None:
                self._writer.close()


class Tracker:
    """Weights & Biases, or trackio, which has the same functions: `train(..., callbacks=[Tracker("wandb")])`.

    Args:
        library: "wandb" or "trackio"; it must be installed (`pip install 'merlax[wandb]'`).
        project: Where the run appears; its name there is that of its folder.
        options: Whatever else the library's `init` takes.

    Examples:
        >>> tracker = merlax.Tracker("wandb", project="rovers", mode="offline")
    """

    def __init__(self, library: Literal["wandb", "trackio"] = "wandb", project: str = "merlax", **options: Any):
        try:
            self._library: Any = importlib.import_module(library)
        except ImportError as error:
            raise UserError(f"{library} is not installed; install it with: pip install 'merlax[{library}]'") from error
        self._options = {"project": project} | options
        self._run: Any = None

    def start(self, run: Beginning) -> None:
        self._run = self._library.init(name=run.path.name, config=run.config, **self._options)

    def record(self, row: Row) -> None:
        self._run.log(numbers(row), step=int(row["frames"]))

    def stop(self) -> None:
        if self._run is not None:
            self._run.finish()


def numbers(row: Row) -> dict[str, int | float]:
    """What can be drawn as a curve over frames; where nothing was tested, there is no score of a test."""
    plain = {name: value for name, value in row.items() if isinstance(value, int | float)}
    left_out = {"generation", "frames"} | {name for name in TESTED if plain.get(name) != plain.get(name)}
    return {name: value for name, value in plain.items() if name not in left_out}


def file_recorders(path: Path) -> list[Recorder]:
    """What every run writes beside its CSV."""
    with contextlib.suppress(ImportError):
        importlib.import_module("tensorboardX")
        return [TensorBoardRecorder(path / "events")]
    return []


def write_text(path: Path, text: str) -> None:
    """Replace a file, whole or not at all."""
    temporary = path.with_name(path.name + ".new")
    temporary.write_text(text, encoding="utf-8")
    os.replace(temporary, path)


def _columns(row: Row) -> list[str]:
    """What every run has, then what this one reports, long rows of numbers last."""
    rest = [name for name in row if name not in ALWAYS]
    return [*ALWAYS, *sorted(rest, key=lambda name: isinstance(row[name], np.ndarray))]


def _rows_until(path: Path, generation: int) -> list[str]:
    """The header and the rows of the first generations, as text."""
    if generation == 0:
        return []
    try:
        lines = files.read_text(path, files.PROGRESS_BYTES).splitlines(keepends=True)[: generation + 1]
    except files.Unreadable:
        lines = []
    if len(lines) != generation + 1 or not lines[-1].endswith("\n") or not lines[-1].startswith(f"{generation},"):
        raise UserError(f"'{path}' lacks rows that were written before the checkpoint; put the file back.")
    return lines


def _line(cells: Sequence[Any]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue()


def _cell(value: Value) -> Any:
    """A number as short as float32 allows; nothing for NaN."""
    if isinstance(value, float):
        return "" if np.isnan(value) else str(np.float32(value))
    if isinstance(value, np.ndarray):
        return " ".join(str(v) for v in value)
    return value
