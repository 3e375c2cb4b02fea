"""A run that is killed again and again: at which moments, how far it was, and whether it ended like one left alone."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from merlax.runs import checkpoints, policies
from merlax.types import UserError
from tests.support.killing import ended, rows, wait_for

EVERY = (
    0.0,
    0.01,
)  # seconds between checkpoints, of which a life draws one; only by the clock also within a generation
AIMS = {"any moment": 6, "right away": 2, "a row": 4, "a save": 4}  # what a killer waits for, and how often
THE_END = "the end"
PHASES = (
    "before the folder was made",
    "before training",
    "before a row",
    "between rows",
    "in a checkpoint",
    "in a checkpoint within a generation",
    "in a file",
    "in the last tests and pictures",
    "after the last file",
)


class Processes(Protocol):
    """Whoever starts merlax."""

    def start(self, *args: object, log: Path) -> int:
        """Begin `merlax ARGS`; its output goes to the file."""
        ...

    def wait(self, process: int) -> int:
        """Its exit code, minus the signal that killed it."""
        ...


@dataclass(frozen=True)
class Pace:
    """How a run goes that is left alone: seconds to its first row, between two rows, after the last; its rows."""

    first: float
    generation: float
    end: float
    rows: int


@dataclass(frozen=True)
class Kill:
    """One end."""

    command: str  # train, resume, or resume within a generation
    aim: str
    phase: str


@dataclass
class Fate:
    """What happened to a run."""

    kills: list[Kill] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


def leave_alone(processes: Processes, run: Path, options: Sequence[object], log: Path) -> Pace:
    """Train to the end, with a checkpoint after every generation."""
    times, count, start = [0.0], 0, time.monotonic()
    process = processes.start("train", *options, "--out", run, "--checkpoint-every", 0, log=log)
    while not ended(process):
        if len(rows(run)) != count:
            count = len(rows(run))
            times.append(time.monotonic() - start)
        time.sleep(0.01)
    end = time.monotonic() - start
    code = processes.wait(process)
    assert code == 0, log.read_text()
    return Pace(times[1], (times[-1] - times[1]) / max(1, count - 1), end - times[-1], count)


def draw_aims(chance: random.Random, kills: int) -> list[str]:
    """What to wait for before each kill; a fifth of them aim at the end."""
    at_the_end = kills // 5
    return [*chance.choices([*AIMS], [*AIMS.values()], k=kills - at_the_end), *[THE_END] * at_the_end]


def kill_and_resume(
    processes: Processes, run: Path, options: Sequence[object], chance: random.Random, aims: Sequence[str], pace: Pace
) -> Fate:
    """Kill a run at random moments, resume it each time, and let it end at last.

    Any word that it says is a fault, and so is any end but by our hand or the run's own.
    """
    fate, log = Fate(), run.with_name(run.name + ".log")
    log.write_text("")
    for aim in (*aims, None):
        if finished(run):
            break
        command, before = _command(run, options), _Seen(run)
        process = processes.start(*command, "--checkpoint-every", chance.choice(EVERY), log=log)
        try:
            pace = _wait(process, aim, run, before, chance, pace)
        except TimeoutError as error:
            fate.faults.append(f"{command[0]}: {error}")
        os.kill(process, signal.SIGKILL)
        code = processes.wait(process)
        if code == -signal.SIGKILL:
            name = f"{command[0]} within a generation" if before.midway else str(command[0])
            fate.kills.append(Kill(name, aim or "it hung", _phase(run, before, pace)))
        elif code:
            fate.faults.append(f"{command[0]} ended with code {code}")
        fate.faults += _said(log) + _lost(run)
        if fate.faults:
            return fate
    if len(os.listdir(run / checkpoints.FOLDER)) > 1:  # killed when all was done but this
        processes.wait(processes.start("resume", run, log=log))
        fate.faults += [line for line in _said(log) if "there is nothing to resume" not in line]
    return fate


def _wait(process: int, aim: str | None, run: Path, before: _Seen, chance: random.Random, pace: Pace) -> Pace:
    """Until the moment to kill a process, or until it has ended; the pace that it had."""
    if aim is None:
        wait_for(lambda: False, process)
        return pace
    start = time.monotonic()
    condition, delay = _moment(aim, run, before, chance, pace)
    if not wait_for(condition, process):
        return pace
    reached = time.monotonic()
    wait_for(lambda: time.monotonic() >= reached + delay, process)
    return replace(pace, first=reached - start) if aim in ("a row", "a save") else pace


def differences(run: Path, whole: Path) -> list[str]:
    """In what a run differs from one that was left alone; nothing if it is the same, but for the clock and memory."""
    found = []
    if rows(run) != rows(whole):
        different = [here["generation"] for here, there in zip(rows(run), rows(whole), strict=False) if here != there]
        found.append(f"{len(rows(run))} rows, not {len(rows(whole))}; these differ: {', '.join(different) or 'none'}")
    if _final(run) != _final(whole):
        found.append(f"final.json says {_final(run)}, not {_final(whole)}")
    here, there = _files(run), _files(whole)
    if here.keys() != there.keys():
        found.append(f"it has {sorted(here.keys() - there.keys())}, and lacks {sorted(there.keys() - here.keys())}")
    return found + [f"{name} differs" for name in here.keys() & there.keys() if here[name] != there[name]]


def finished(run: Path) -> bool:
    """Whether it has reached its last frame, and says so."""
    return _final(run).get("finished") is True


def unfinished(run: Path) -> set[tuple[Path, int]]:
    """Checkpoints that are being written, or never were completely, and when they were touched last."""
    found = set()
    for folder in (run / checkpoints.FOLDER, run / checkpoints.FOLDER / checkpoints.MIDWAY):
        with contextlib.suppress(OSError):
            paths = [folder / name for name in os.listdir(folder) if "orbax-checkpoint-tmp" in name]
            found |= {(path, path.stat().st_ctime_ns) for path in paths}
    return found


def _command(run: Path, options: Sequence[object]) -> list[object]:
    """How a user goes on."""
    if not (run / "config.json").exists():
        return ["train", *options, "--out", run]
    return ["resume", run, "--quiet"]


def _moment(
    aim: str, run: Path, before: _Seen, chance: random.Random, pace: Pace
) -> tuple[Callable[[], object], float]:
    """What to wait for, and how long to wait then."""
    if aim == "a row":
        return (lambda: len(rows(run)) not in (0, before.rows)), chance.uniform(0.0, 2 * pace.generation)
    if aim == "a save":
        return (lambda: unfinished(run) - before.unfinished), chance.uniform(0.0, 0.02)
    if aim == THE_END and before.rows < pace.rows:
        return (lambda: len(rows(run)) >= pace.rows), chance.uniform(0.0, pace.end)
    whole = {"any moment": 1.3 * pace.first, "right away": 0.3 * pace.first, THE_END: pace.first + pace.end}
    moment = time.monotonic() + chance.uniform(0.0, whole[aim])
    too_fast = before.rows + 3  # rows of a process whose pace is another than that of the one before
    return (lambda: time.monotonic() >= moment or len(rows(run)) >= too_fast), 0.0


class _Seen:
    """What a process finds when it begins."""

    def __init__(self, run: Path):
        found = checkpoints.all_of(run / checkpoints.FOLDER)
        self.rows = len(rows(run))
        self.done = checkpoints.reached(run / checkpoints.FOLDER) or 0
        self.midway = bool(found) and found[-1].parent.name == checkpoints.MIDWAY
        self.unfinished = unfinished(run)
        self.halves = _halves(run)
        self.table = _inode(run / "progress.csv")


def _phase(run: Path, before: _Seen, pace: Pace) -> str:
    """How far a process was that is dead now."""
    folder, training, row, between, checkpoint, midway, file, end, after = PHASES
    if not (run / "config.json").exists():
        return folder
    if finished(run):
        return after
    if writing := unfinished(run) - before.unfinished:
        return midway if any(path.parent.name == checkpoints.MIDWAY for path, _ in writing) else checkpoint
    if _halves(run) - before.halves:
        return file
    if _inode(run / "progress.csv") == before.table:  # it is made anew when training begins
        return training
    if len(rows(run)) >= pace.rows:
        return end
    return between if len(rows(run)) > before.done else row


def _halves(run: Path) -> set[str]:
    """Files and folders that were to replace others."""
    return {path.name for path in run.glob("*") if path.suffix in (".new", ".old")}


def _inode(path: Path) -> int | None:
    return path.stat().st_ino if path.exists() else None


def _said(log: Path) -> list[str]:
    """What a process wrote to its log, which is emptied."""
    text = log.read_text(errors="replace").strip()
    log.write_text("")
    return [text] if text else []


def _lost(run: Path) -> list[str]:
    """A champion is there, whole, as soon as there is a row."""
    try:
        if rows(run):
            policies.load(run / "champion")
    except UserError as error:
        return [str(error)]
    return []


def _final(run: Path) -> dict[str, object]:
    try:
        found = json.loads((run / "final.json").read_text())
    except OSError:
        return {}
    return {name: value for name, value in found.items() if name != "peak_memory_mb"}


def _files(run: Path) -> dict[str, bytes | None]:
    """All that must be the same, to the byte; of what the clock or the history is part of, only the names."""
    found = {path.relative_to(run): path for path in run.rglob("*") if path.is_file() and "events" not in path.parts}
    kept = {"champion", "opponent", "learning_curve.png", "champion.gif"}
    return {
        str(name): path.read_bytes() if name.parts[0] in kept else None
        for name, path in found.items()
        if name.parts[0] != ".lock"
    }
