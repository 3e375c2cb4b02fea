"""Standard output and error, whatever they are: closed, full, gone, or unable to show every sign.

A command never dies of not being heard. What cannot be shown is dropped, the work goes on, and the exit code says so.
"""

from __future__ import annotations

import codecs
import contextlib
import errno
import os
import sys
import unicodedata
from collections.abc import Iterator
from typing import Any

_PLAIN = {"±": "+/-", "→": "->", "…": "...", "–": "-", "·": "|", "×": "x", "σ": "sigma", "ξ": "xi", "τ": "tau",
          "γ": "gamma", "°": " deg"}  # fmt: skip


class Output:
    """A stream that takes everything; what went wrong first is kept in `error`."""

    def __init__(self, stream: Any):
        self._closed = stream is None or getattr(stream, "closed", False)
        self._stream: Any = open(os.devnull, "w", encoding="utf-8") if self._closed else stream  # noqa: SIM115
        self.error: OSError | None = None

    def write(self, text: str) -> int:
        if self._closed and text:
            self._failed(OSError(errno.EBADF, "it is closed"))
        with self._noted():
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with self._noted():
            self._stream.flush()

    def release(self) -> None:
        """Write what is left, and let go."""
        self.flush()
        if self._closed:
            self._stream.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    @contextlib.contextmanager
    def _noted(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self._failed(error)

    def _failed(self, error: OSError) -> None:
        """Remember it; what is still in Python's buffers goes nowhere, also at the end of the process."""
        if self.error is None:
            self.error = error
            with contextlib.suppress(OSError, ValueError):  # a stream may have no number
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, self._stream.fileno())
                os.close(nowhere)


@contextlib.contextmanager
def guarded() -> Iterator[Output]:
    """Standard output, which takes everything from here on, as does standard error."""
    _open_missing()
    out, err = Output(sys.stdout), Output(sys.stderr)
    with (
        _showing_every_sign(sys.stdout),
        _showing_every_sign(sys.stderr),
        contextlib.redirect_stdout(out),  # type: ignore[type-var]
        contextlib.redirect_stderr(err),  # type: ignore[type-var]
    ):
        try:
            yield out
        finally:
            out.release()
            err.release()


def _open_missing() -> None:
    """Take the numbers of closed standard streams, lest a file of the run gets one and what others print."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)


@contextlib.contextmanager
def _showing_every_sign(stream: Any) -> Iterator[None]:
    """Write in other words what the terminal's encoding lacks."""
    if not hasattr(stream, "reconfigure") or getattr(stream, "closed", False):
        yield
        return
    before = stream.errors
    stream.reconfigure(errors="merlax")
    try:
        yield
    finally:
        with contextlib.suppress(OSError, ValueError):
            stream.reconfigure(errors=before)


def _in_other_words(error: UnicodeError) -> tuple[str | bytes, int]:
    """± as +/-, é as e, a symbol such as a spinner's as *, else the sign's number.

    A byte of a file's name that is no text stays that byte.
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    sign = error.object[error.start]
    if "\udc80" <= sign <= "\udcff":
        return os.fsencode(sign), error.start + 1
    bare = unicodedata.normalize("NFKD", sign).encode("ascii", "ignore").decode()
    number = sign.encode("ascii", "backslashreplace").decode()
    symbol = "*" if unicodedata.category(sign) == "So" else number
    return _PLAIN.get(sign) or bare or symbol, error.start + 1


codecs.register_error("merlax", _in_other_words)
