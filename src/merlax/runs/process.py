"""A run as a process: the signals that end it, and the lock that keeps others out of its folder."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import filelock

from merlax.types import UserError

LOCK = ".lock"
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_ASKED = b"\nmerlax: stopping after this piece of work, with a last checkpoint; the same again stops at once.\n"
_is_own = False


def lock(folder: Path) -> filelock.BaseFileLock:
    """Lock a folder for this process, until it is released or the process is gone, however it ends."""
    held = filelock.FileLock(folder / LOCK)
    try:
        held.acquire(timeout=0)
    except filelock.Timeout as error:
        raise taken(folder) from error
    return held


def taken(folder: Path) -> UserError:
    """That somebody else works in a folder."""
    return UserError(f"Another process works in '{folder}'; wait for its end, or stop it.")


def is_locked(folder: Path) -> bool:
    """Whether some process works in a folder just now."""
    if not (folder / LOCK).exists():
        return False
    try:
        lock(folder).release()
    except UserError:
        return True
    except OSError:  # a folder that is read-only is nobody's
        return False
    return False


def make_folder(folder: Path) -> None:
    """Make a folder, or say in one sentence that the system does not allow it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"The folder '{folder}' cannot be written ({error.strerror}); choose another --out.") from error


class StoppedError(UserError):
    """A signal ended a run before it had anything to show."""

    def __init__(self, sentence: str, number: int):
        super().__init__(sentence)
        self.exit_code = 128 + number  # as a shell has it


class Caught:
    """Which signal came, if one did."""

    number: int | None = None
    nothing_to_lose = False
    """Whether everything that was done is on disk, so that nobody need wait for the current piece of work."""


def own() -> None:
    """Say that this process is merlax's own, such as the command line's: then a second signal may end it at once."""
    global _is_own
    _is_own = True


@contextlib.contextmanager
def caught_signals() -> Iterator[Caught]:
    """Note Ctrl-C or SIGTERM instead of dying of it: the first asks training to stop, the second stops it at once.

    Python itself hears of a signal only when XLA returns, so in a process of merlax's own a thread listens, too, and
    ends the process whatever XLA is doing. Elsewhere than in the main thread, Python delivers none.
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
        _say(_ASKED)

    with contextlib.ExitStack() as stack:
        if _is_own:
            stack.enter_context(_listener(found))
        for number in _SIGNALS:
            stack.callback(signal.signal, number, signal.signal(number, note))
        yield found


@contextlib.contextmanager
def _listener(found: Caught) -> Iterator[None]:
    """A thread that hears of signals as they come and leaves at the second, or where there is nothing to lose."""
    ours, systems = socket.socketpair()
    systems.setblocking(False)

    def listen() -> None:
        times = 0
        while number := int.from_bytes(ours.recv(1), "big"):  # 0: no more can come
            times += number in _SIGNALS
            if number in _SIGNALS and (times > 1 or found.nothing_to_lose):
                _leave(number)

    thread = threading.Thread(target=listen, daemon=True, name="merlax-signals")
    thread.start()
    before = signal.set_wakeup_fd(systems.fileno(), warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        systems.close()
        thread.join()
        ours.close()


def _leave(number: int) -> None:
    """End the process now: its files are whole at any moment."""
    if sys.stdout.isatty():
        _say(b"\x1b[?25h", 1)  # a progress bar hides the cursor
    _say(b"\nmerlax: stopped at once; `merlax resume` continues the run.\n")
    os._exit(128 + number)


def _say(text: bytes, stream: int = 2) -> None:
    """Write at once: `print` may not be called in the midst of another."""
    with contextlib.suppress(OSError):
        os.write(stream, text)


def peak_memory_mb() -> int | None:
    """The most memory that this process has taken, where the system tells."""
    with contextlib.suppress(OSError):  # not `getrusage`, to whose number the process counts that started this one
        told = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
        if told:
            return round(int(told[1]) / 2**10)
    try:
        import resource
    except ImportError:  # Windows
        return None
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit)
