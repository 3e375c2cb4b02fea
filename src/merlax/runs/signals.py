"""Ctrl-C and SIGTERM: the first one asks training to stop after this generation, the second stops it at once."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from typing import Any

_ASKED = b"\nmerlax: stopping after this generation, with a last checkpoint; the same again stops at once.\n"


class Caught:
    """Which signal came, if one did."""

    number: int | None = None


@contextlib.contextmanager
def caught() -> Iterator[Caught]:
    """Note a signal instead of dying of it; elsewhere than in the main thread, Python delivers none."""
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
