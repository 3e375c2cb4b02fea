"""Starts merlax in processes of its own, quickly: one process imports everything, and every run is a fork of it.

JAX has not begun when it forks, so that a run is like one from the command line, but for the seconds of importing.
Commands come as lines of JSON on standard input: a list of arguments starts a run and answers its process id; a number
asks after that process and answers its exit code, minus the signal that killed it, or nothing if it runs.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any


class Nursery:
    """The test's end of it."""

    def __init__(self):
        devices = {"XLA_FLAGS": f"{os.environ['XLA_FLAGS']} --xla_force_host_platform_device_count=2"}
        self._lock = threading.Lock()
        command = [sys.executable, __file__]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=os.environ | devices)

    def start(self, *args: object, log: Path, devices: int = 2) -> int:
        """Begin `merlax ARGS` with so many devices; its output goes to the file."""
        return self._ask([str(log), devices, *map(str, args)])

    def wait(self, process: int) -> int:
        """Until it ends."""
        while (code := self._ask(process)) is None:
            time.sleep(0.02)
        return code

    def run(self, *args: object, log: Path) -> int:
        """From beginning to end."""
        return self.wait(self.start(*args, log=log))

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(60)
        self._process.stdout.close()

    def _ask(self, request: object) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with self._lock:
            print(json.dumps(request), file=self._process.stdin, flush=True)
            return json.loads(self._process.stdout.readline())


def _serve() -> None:
    """The other end."""
    import orbax.checkpoint  # noqa: F401
    from jax._src import xla_bridge

    from merlax import cli
    from tests.probes import misbehaving

    misbehaving.register()
    assert not xla_bridge.backends_are_initialized(), "JAX does not survive a fork"
    for line in sys.stdin:
        request = json.loads(line)
        if isinstance(request, int):
            ended, status = os.waitpid(request, os.WNOHANG)
            print(os.waitstatus_to_exitcode(status) if ended else "null", flush=True)
            continue
        log, devices, *args = request
        child = os.fork()
        if child == 0:
            output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            os.dup2(output, 1)
            os.dup2(output, 2)
            os.environ["XLA_FLAGS"] = re.sub(r"(device_count=)\d+", rf"\g<1>{devices}", os.environ["XLA_FLAGS"])
            sys.argv = ["merlax", *args]
            code = cli.main()
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
        print(child, flush=True)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))
    _serve()
