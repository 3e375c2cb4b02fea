"""One writer per folder: a lock that the system releases when its process ends, however it ends."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO

from merlax.types import UserError

NAME = ".lock"


def take(folder: Path) -> IO[bytes]:
    """Lock a folder for this process, until the file is closed or the process is gone."""
    file = open(folder / NAME, "ab")  # noqa: SIM115
    try:
        _lock(file.fileno())
    except OSError as error:
        file.close()
        raise UserError(f"Another process works on the run in '{folder}'; wait for its end, or stop it.") from error
    return file


def _lock(descriptor: int) -> None:
    if os.name == "nt":
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
