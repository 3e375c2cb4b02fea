"""When a run saves its checkpoints: now and then, and so that they cost next to nothing."""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from merlax.runs import checkpoints, hosts
from merlax.runs.checkpoints import FOLDER, MIDWAY, Position
from merlax.runs.snapshots import Arrays, snapshot
from merlax.types import UserError

T = TypeVar("T")

EVERY_SECONDS = 90.0
LARGEST_SHARE = 0.02  # of the run's time that checkpoints may take; where they take longer, they come less often


class Saver:
    """The checkpoints of one run: now and then, and so that they cost next to nothing.

    Training waits while one is written: the state goes to disk from where it lies, without a copy, which takes less
    time and half the memory of writing a copy beside training.
    """

    def __init__(self, run: Path, config: dict[str, Any], every: float = EVERY_SECONDS, *, keep: bool = True):
        """Of a run that reaches its last frame, `keep` the last one, so that it can be extended."""
        if not 0 <= every < float("inf"):
            raise UserError(f"checkpoint_every is {every}; give a number of seconds, 0 for every generation.")
        self.folder = run / FOLDER
        self.seconds = 0.0  # that training waited in all
        self._run = checkpoints.identity(config)
        self._every = every
        self._keep = keep
        self._due = time.monotonic() + every
        self._managers: dict[str, Any] = {}

    def newest(self, template: T, midway: Callable[[], T]) -> tuple[Position, T] | None:
        """Where to go on from; a state within a generation is like `midway`."""
        found = self._find(template, midway)
        copied = hosts.copied(found and (asdict(found[0]), found[1]))
        return checkpoints.restored(copied and (Position(**copied[0]), copied[1]), template, midway)

    def _find(self, template: T, midway: Callable[[], T]) -> tuple[Position, Arrays] | None:
        return checkpoints.find(self.folder, self._run, template, midway)

    def begin(self) -> None:
        """Note that there is no checkpoint yet, so that those which go missing later are noticed."""
        if not checkpoints.all_of(self.folder):
            self.folder.mkdir(exist_ok=True)
            (self.folder / checkpoints.NONE_YET).touch()

    def maybe(self, position: Position, state: Any) -> None:
        """Save if it is time; within a generation only by the clock."""
        if time.monotonic() >= self._due and (self._every or not position.rounds):
            self.save(position, state)

    def save(self, position: Position, state: Any) -> None:
        """Save now, unless this very moment is saved already."""
        start, name = time.monotonic(), MIDWAY if position.rounds else ""
        if checkpoints.number(position) in checkpoints.generations(self.folder / name):
            return
        try:
            if name not in self._managers:
                self._managers[name] = checkpoints.manager(self.folder / name)
            checkpoints.write(self._managers[name], position, self._run, snapshot(state))
            (self.folder / checkpoints.NONE_YET).unlink(missing_ok=True)
            if not position.rounds:
                self._drop_midway()
        except Exception as error:
            raise _refused_by_the_disk(error) from error  # the run folder says the rest
        took = time.monotonic() - start
        self.seconds += took
        self._due = time.monotonic() + (max(self._every, took / LARGEST_SHARE) if self._every else 0)

    def save_end(self, position: Position, state: Any) -> None:
        """Save the state at the last frame, if it is to be kept."""
        if self._keep:
            self.save(position, state)

    def tidy(self) -> None:
        """Remove what a run that has reached its last frame does not need."""
        checkpoints.tidy(self.folder, keep=self._keep)

    def _drop_midway(self) -> None:
        """A generation that has ended is not begun again."""
        if (self.folder / MIDWAY).exists():
            if MIDWAY in self._managers:
                self._managers.pop(MIDWAY).close()
            shutil.rmtree(self.folder / MIDWAY, ignore_errors=True)

    def last_good(self) -> str:
        """The newest complete checkpoint, in words."""
        found = checkpoints.generations(self.folder)
        return (
            f"the last good checkpoint is '{self.folder / str(found[-1])}'" if found else "there is no checkpoint yet"
        )

    def close(self) -> None:
        """Let go of the folder."""
        for manager in self._managers.values():
            manager.close()


class Onlooker(Saver):
    """Where another process keeps the checkpoints."""

    def __init__(self) -> None: ...

    def _find(self, template: Any, midway: Any) -> None: ...

    def maybe(self, position: Position, state: Any) -> None: ...

    def save(self, position: Position, state: Any) -> None: ...

    def save_end(self, position: Position, state: Any) -> None: ...

    def last_good(self) -> str:
        return "process 0 says from where it goes on"


def _refused_by_the_disk(error: Exception) -> OSError:
    """What the system said, of which Orbax makes errors of many kinds with paths of its own."""
    coded = re.search(r"os_error_code='(\d+)'", str(error))
    number = error.errno if isinstance(error, OSError) else int(coded[1]) if coded else None
    if number:
        return OSError(number, os.strerror(number))
    return OSError(f"a checkpoint: {re.sub(r'/[^ ]+', '…', _brief(error))}")


def _brief(error: Exception) -> str:
    """The first line of an error, without what a library may add."""
    return (str(error) or type(error).__name__).splitlines()[0][:120]
