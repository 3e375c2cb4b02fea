"""When a run makes its checkpoints: now and then, and so that they cost next to nothing."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, TypeVar

from merlax.runs import checkpoints
from merlax.runs.checkpoints import Position
from merlax.types import UserError

T = TypeVar("T")

EVERY_SECONDS = 90.0
LARGEST_SHARE = 0.02  # of the run's time that checkpoints may take; where they take longer, they come less often


class Saver:
    """The checkpoints of one run.

    Training waits while one is written: the state goes to disk from where it lies, without a copy, which takes less
    time and half the memory of writing a copy beside training.
    """

    def __init__(self, run: Path, config: dict[str, Any], every: float = EVERY_SECONDS):
        if not 0 <= every < float("inf"):
            raise UserError(f"checkpoint_every is {every}; give a number of seconds, 0 for every generation.")
        self.folder = run / checkpoints.FOLDER
        self.seconds = 0.0  # that training waited in all
        self._run = checkpoints.identity(config)
        self._every = every
        self._due = time.monotonic() + every

    def newest(self, template: T) -> tuple[Position, T] | None:
        """Where to go on from."""
        checkpoints.clean(self.folder)
        return checkpoints.newest(self.folder, self._run, template)

    def maybe(self, position: Position, state: Any) -> None:
        """Save if it is time."""
        if time.monotonic() >= self._due:
            self.save(position, state)

    def save(self, position: Position, state: Any) -> None:
        """Save now."""
        start = time.monotonic()
        try:
            checkpoints.save(self.folder, position, self._run, checkpoints.snapshot(state))
        except Exception as error:  # Orbax wraps what the disk says in errors of many kinds
            reason = " ".join(str(error).split())[:200]
            raise OSError(f"a checkpoint: {reason}") from error  # the run folder says the rest
        took = time.monotonic() - start
        self.seconds += took
        self._due = time.monotonic() + (max(self._every, took / LARGEST_SHARE) if self._every else 0)

    def last_good(self) -> str:
        """The newest complete checkpoint, in words."""
        found = checkpoints.generations(self.folder)
        return (
            f"the last good checkpoint is '{self.folder / str(found[-1])}'" if found else "there is no checkpoint yet"
        )
