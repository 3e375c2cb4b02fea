"""A run as a process: the signals that end it, and the lock that keeps others out of its folder."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import filelock

from merlax.types import UserError

LOCK = ".lock"
_ASKED = b"\nmerlax: stopping after this generation, with a last checkpoint; the same again stops at once.\n"


def lock(folder: Path) -> filelock.BaseFileLock:
    """Lock a folder for this process, until it is released or the process is gone, however it ends."""
    held = filelock.FileLock(folder / LOCK)
    try:
        held.acquire(timeout=0)
    except filelock.Timeout as error:
        raise UserError(f"Another process works in '{folder}'; wait for its end, or stop it.") from error
    return held


class Caught:
    """Which signal came, if one did."""

    number: int | None = None


@contextlib.contextmanager
def caught_signals() -> Iterator[Caught]:
    """Note Ctrl-C or SIGTERM instead of dying of it: the first asks training to stop, the second stops it at once.

    Elsewhere than in the main thread, Python delivers none.
    """
    found = Caught()
    if threading.current_thread() is not threading.main_thread():
        yield found
        return

    def note(number: int, frame: Any) -> None:
        del frame
        if found.number is not None:
            raise KeyboardInterrupt
        found.number = number
        with contextlib.suppress(OSError):
            os.write(2, _ASKED)  # `print` may not be called in the midst of another

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield found
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def peak_memory_mb() -> int | None:
    """The most memory that this process has taken, where the system tells."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit)
