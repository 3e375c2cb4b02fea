"""When a run makes its checkpoints: now and then, beside training, and so that they cost next to nothing."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from merlax import checkpoints
from merlax.checkpoints import Position
from merlax.types import UserError

T = TypeVar("T")

EVERY_SECONDS = 90.0
LARGE_BYTES = 512e6  # a state of more than this is written at once, without a copy: memory matters more than waiting
LARGEST_SHARE = 0.02  # of the time between two checkpoints that they may take


class Saver:
    """The checkpoints of one run. Training waits only while its state is copied; a thread writes the copy."""

    def __init__(self, run: Path, config: dict[str, Any], every: float = EVERY_SECONDS):
        if not 0 <= every < float("inf"):
            raise UserError(f"checkpoint_every is {every}; give a number of seconds, 0 for every generation.")
        self.folder = run / checkpoints.FOLDER
        self.blocked = 0.0  # seconds that training waited for copies
        self._run = checkpoints.identity(config)
        self._every = every
        self._due = time.monotonic() + every
        self._thread: threading.Thread | None = None
        self._error: Exception | None = None
        self._cost = 0.0

    def newest(self, template: T) -> tuple[Position, T] | None:
        """Where to go on from."""
        checkpoints.clean(self.folder)
        return checkpoints.newest(self.folder, self._run, template)

    def maybe(self, position: Position, state: Any) -> None:
        """Save if it is time; if the one before is still being written, later."""
        if time.monotonic() < self._due:
            return
        if self._every > 0 and self._thread is not None and self._thread.is_alive():
            return
        self.save(position, state)

    def save(self, position: Position, state: Any) -> None:
        """Copy the state and have it written."""
        self.wait()
        start = time.monotonic()
        arrays = checkpoints.snapshot(state, copy=False)
        if sum(array.nbytes for array in arrays.values()) > LARGE_BYTES:
            self._write(position, arrays)
            waited = time.monotonic() - start
            self.blocked += waited
            self._due = time.monotonic() + max(self._every, waited / LARGEST_SHARE if self._every else 0)
            return
        arrays = {name: np.array(array) for name, array in arrays.items()}
        copying = time.monotonic() - start
        self.blocked += copying
        self._thread = threading.Thread(target=self._write, args=(position, arrays), name="merlax-checkpoint")
        self._thread.start()
        # Writing takes time from training, too: the thread's own seconds of the last checkpoint stand for this one's.
        self._due = time.monotonic() + max(self._every, (copying + self._cost) / LARGEST_SHARE if self._every else 0)

    def wait(self) -> None:
        """Until what is being written is complete; an error of the writer's is raised here."""
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        if self._error is not None:
            error, self._error = self._error, None
            reason = " ".join(str(error).split())[:200]
            raise OSError(f"a checkpoint: {reason}") from error  # the run folder says the rest

    def last_good(self) -> str:
        """The newest complete checkpoint, in words."""
        found = checkpoints.generations(self.folder)
        return (
            f"the last good checkpoint is '{self.folder / str(found[-1])}'" if found else "there is no checkpoint yet"
        )

    def _write(self, position: Position, arrays: checkpoints.Arrays) -> None:
        start = time.thread_time()
        try:
            checkpoints.save(self.folder, position, self._run, arrays)
        except Exception as error:  # the training thread reports it
            self._error = error
        self._cost = time.thread_time() - start
