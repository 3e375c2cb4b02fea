"""This machine's own cores: a process for each run."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from merlax.experiments import cores
from merlax.experiments.backends.base import LOG, Order, Resources
from merlax.types import UserError

GRACE_SECONDS = 10.0  # for a process to end before it is killed


@dataclass(frozen=True)
class _Worker:
    process: subprocess.Popen[bytes]
    cores: list[int]


class Local:
    """Processes that are pinned to cores of their own. They survive whoever started them."""

    def __init__(self, resources: Resources | None = None, workers: int | None = None):
        resources = resources or Resources()
        if resources.gpu:
            raise UserError("On this machine every run sees all GPUs; leave out gpu, or let Ray share them: --on ray.")
        self._groups = cores.groups(workers, cores.available(), resources.cpu)
        self._free = list(self._groups)

    @property
    def slots(self) -> int:
        return len(self._groups)

    def start(self, order: Order) -> _Worker:
        """Start a process; it locks its own folder, so that nobody takes that over should this one be killed."""
        order.prepare()
        own_cores = self._free.pop(0)
        environment = os.environ | {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}  # several processes may share one GPU
        with (order.folder / LOG).open("wb") as log:
            process = subprocess.Popen(
                order.command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, env=environment
            )
        cores.pin(process.pid, own_cores)
        return _Worker(process, own_cores)

    def poll(self, ticket: _Worker) -> int | None:
        code = ticket.process.poll()
        if code is not None:
            self._free.append(ticket.cores)
        return code

    def stop(self, tickets: Sequence[Any]) -> None:
        for worker in tickets:
            worker.process.terminate()
        deadline = time.monotonic() + GRACE_SECONDS
        for worker in tickets:
            try:
                worker.process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                worker.process.kill()
                worker.process.wait()
