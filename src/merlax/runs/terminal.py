"""Live progress of one run: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, TextColumn, track
from rich.text import Text

from merlax.runs.recorders import Beginning, Midway, Recorder, Row

T = TypeVar("T")

PLAIN_SECONDS = 10.0  # between two plain lines
LONG_SECONDS = 5.0  # of a generation whose progress is shown, too


class Bar:
    """Score, frames, frames per second and time left, in one line that stays in place."""

    def __init__(self, console: Console):
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            _Frames(),
            TextColumn("{task.fields[status]}"),
            console=console,
        )

    def start(self, run: Beginning) -> None:
        self._rate = Rate(run.frames)
        self._task = self._progress.add_task(run.title, total=run.frames, status="compiling …")
        self._progress.start()

    def record(self, row: Row) -> None:
        self._rate.update(row)
        self._progress.update(self._task, completed=float(row["frames"]), status=self._rate.status(row))

    def midway(self, told: Midway) -> None:
        if told.seconds >= LONG_SECONDS:
            self._progress.update(self._task, completed=float(told.frames), status=_midway(told))

    def stop(self) -> None:
        self._progress.stop()


class Lines:
    """One line now and then, for logs."""

    def __init__(self) -> None:
        self._next, self._last = 0.0, ""

    def start(self, run: Beginning) -> None:
        self._rate, self._title = Rate(run.frames), run.title
        print(f"{run.title}: compiling …", flush=True)

    def record(self, row: Row) -> None:
        self._rate.update(row)
        self._last = (
            f"{self._title}: generation {row['generation']}, {row['frames']:,} frames, {self._rate.status(row)}"
        )
        self._print_now_and_then()

    def midway(self, told: Midway) -> None:
        if told.seconds >= LONG_SECONDS:
            self._last = f"{self._title}: {_midway(told)}"
            self._print_now_and_then()

    def _print_now_and_then(self) -> None:
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + PLAIN_SECONDS
            print(self._last, flush=True)
            self._last = ""

    def stop(self) -> None:
        if self._last:
            print(self._last, flush=True)


class Rate:
    """Frames per second and time left, over the newest generations, so that compiling does not count."""

    def __init__(self, frames: int):
        self._goal = frames
        self._seen: list[tuple[float, float]] = []
        self._scores: list[float] = []

    def update(self, row: Row) -> None:
        seconds, frames, score = (float(row[name]) for name in ("seconds", "frames", "champion_score"))
        self._seen = [*self._seen[-19:], (seconds, frames)]
        if score == score:
            self._scores = [*self._scores[-9:], score]

    def status(self, row: Row) -> str:
        score = f"score {sum(self._scores) / len(self._scores):.3f}" if self._scores else "score –"
        (t0, f0), (t1, f1) = self._seen[0], self._seen[-1]
        if t1 <= t0:
            return score
        rate = (f1 - f0) / (t1 - t0)
        left = max(0.0, self._goal - float(row["frames"])) / max(rate, 1e-9)
        return f"{score} · {rate:,.0f} frames/s · {clock(left)} left"


def _midway(told: Midway) -> str:
    return f"generation {told.generation}: {told.share:.0%} learnt, it takes about {clock(told.seconds)}"


class _Frames(ProgressColumn):
    def render(self, task: Any) -> Text:
        return Text(f"{task.completed / 1e6:.2f} / {task.total / 1e6:.2f} M frames", style="progress.download")


def display(quiet: bool = False) -> list[Recorder]:
    """A bar on a terminal, lines in a file or a pipe, nothing if quiet."""
    if quiet:
        return []
    return [Bar(Console()) if sys.stdout.isatty() else Lines()]


def bar(parts: Iterable[T], total: int, title: str) -> Iterator[T]:
    """The same parts of a long work, with a bar on standard error while they last, if a terminal shows it."""
    hidden = total < 2 or not sys.stderr.isatty()
    yield from track(parts, title, total, console=Console(stderr=True), transient=True, disable=hidden)


@contextlib.contextmanager
def busy(title: str) -> Iterator[None]:
    """While something takes long of which nobody knows how far it is: a sign of life, if a terminal shows it."""
    with Console(stderr=True).status(title) if sys.stderr.isatty() else contextlib.nullcontext():
        yield


def clock(seconds: float) -> str:
    """Minutes and seconds, and hours where there are any: 2:05, 1:02:05."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
