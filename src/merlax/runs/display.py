"""Live progress of one run: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from typing import Any, Protocol, runtime_checkable

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, TextColumn
from rich.text import Text

PLAIN_SECONDS = 10.0  # between two plain lines


@runtime_checkable
class Display(Protocol):
    """What the training loop reports to."""

    def start(self, title: str, frames: int) -> None: ...

    def update(self, row: dict[str, Any]) -> None: ...

    def stop(self) -> None: ...


class Silent:
    """Shows nothing."""

    def start(self, title: str, frames: int) -> None: ...

    def update(self, row: dict[str, Any]) -> None: ...

    def stop(self) -> None: ...


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

    def start(self, title: str, frames: int) -> None:
        self._rate = Rate(frames)
        self._task = self._progress.add_task(title, total=frames, status="compiling …")
        self._progress.start()

    def update(self, row: dict[str, Any]) -> None:
        self._rate.update(row)
        self._progress.update(self._task, completed=row["frames"], status=self._rate.status(row))

    def stop(self) -> None:
        self._progress.stop()


class Lines:
    """One line now and then, for logs."""

    def start(self, title: str, frames: int) -> None:
        self._rate, self._title, self._next = Rate(frames), title, 0.0
        print(f"{title}: compiling …", flush=True)

    def update(self, row: dict[str, Any]) -> None:
        self._rate.update(row)
        self._last = (
            f"{self._title}: generation {row['generation']}, {row['frames']:,} frames, {self._rate.status(row)}"
        )
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + PLAIN_SECONDS
            print(self._last, flush=True)
            self._last = None

    def stop(self) -> None:
        if getattr(self, "_last", None):
            print(self._last, flush=True)


class Rate:
    """Frames per second and time left, over the newest generations, so that compiling does not count."""

    def __init__(self, frames: int):
        self._goal = frames
        self._seen: list[tuple[float, int]] = []
        self._scores: list[float] = []

    def update(self, row: dict[str, Any]) -> None:
        self._seen = [*self._seen[-19:], (row["seconds"], row["frames"])]
        if row["champion_score"] == row["champion_score"]:
            self._scores = [*self._scores[-9:], row["champion_score"]]

    def status(self, row: dict[str, Any]) -> str:
        score = f"score {sum(self._scores) / len(self._scores):.3f}" if self._scores else "score –"
        (t0, f0), (t1, f1) = self._seen[0], self._seen[-1]
        if t1 <= t0:
            return score
        rate = (f1 - f0) / (t1 - t0)
        left = max(0.0, self._goal - row["frames"]) / max(rate, 1e-9)
        return f"{score} · {rate:,.0f} frames/s · {clock(left)} left"


class _Frames(ProgressColumn):
    def render(self, task: Any) -> Text:
        return Text(f"{task.completed / 1e6:.2f} / {task.total / 1e6:.2f} M frames", style="progress.download")


def choose(quiet: bool = False) -> Display:
    """A bar on a terminal, lines in a file or a pipe, nothing if quiet."""
    if quiet:
        return Silent()
    return Bar(Console()) if sys.stdout.isatty() else Lines()


def clock(seconds: float) -> str:
    """Minutes and seconds, and hours where there are any: 2:05, 1:02:05."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
