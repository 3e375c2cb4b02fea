"""One run on somebody else's machine: the same command as at home, as a child of the engine's worker."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

RETRIES = 3
POLL_SECONDS = 0.2
GRACE_SECONDS = 20.0  # for a last checkpoint

# Nobody else ends a run whose worker is gone; SLURM's announcement of the end (SIGUSR2) is for the worker.
_BOUND = """
import ctypes, os, signal, sys
signal.signal(signal.SIGUSR2, signal.SIG_IGN)
ctypes.CDLL(None).prctl(1, signal.SIGKILL)
if os.getppid() != int(sys.argv[1]):
    sys.exit(1)
os.execv(sys.argv[2], sys.argv[2:])
"""


def run(command: Sequence[str], log: Path, cores: int, retries: int = RETRIES) -> int:
    """Run a command to its end and return its exit code; one that is killed is started again, and goes on.

    Args:
        command: The interpreter and its arguments; this machine's own interpreter takes its place.
        log: File for what it says.
        cores: Devices of JAX, and threads, that it has, however many cores the machine has.
        retries: How often it may be killed before that counts as its end.
    """
    for left in reversed(range(retries + 1)):
        code = _once([sys.executable, *command[1:]], log, environment(cores, os.environ))
        if code >= 0 or not left:
            return code
    raise AssertionError("the last attempt returns")


def environment(cores: int, inherited: Mapping[str, str]) -> dict[str, str]:
    """What makes JAX see so many host devices and take so many threads."""
    flags = [flag for flag in inherited.get("XLA_FLAGS", "").split() if "host_platform_device_count" not in flag]
    flags.append(f"--xla_force_host_platform_device_count={cores}")
    own = {"XLA_FLAGS": " ".join(flags), "NPROC": str(cores), "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    return {**inherited, **own}


def _once(command: list[str], log: Path, environment: dict[str, str]) -> int:
    if sys.platform == "linux":
        command = [sys.executable, "-I", "-S", "-c", _BOUND, str(os.getpid()), *command]
    with log.open("ab") as file:
        child = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT, env=environment
        )
    try:
        while child.poll() is None:  # not `wait`, in which Ray's interrupt would not be heard
            time.sleep(POLL_SECONDS)
    except BaseException:  # the engine calls the run off
        _end(child)
        raise
    return child.returncode


def _end(child: subprocess.Popen[bytes]) -> None:
    child.send_signal(signal.SIGTERM)
    try:
        child.wait(GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
