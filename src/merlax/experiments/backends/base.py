"""What an engine is: three calls. Who gives it work need not know where the work is done."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from merlax.types import UserError, suggest

LOG = "output.log"  # in a run folder: what the command said
_NAMES = ("cpu", "gpu", "hours")


@dataclasses.dataclass(frozen=True)
class Resources:
    """What one run needs."""

    cpu: int | None = None
    """Cores, each of which becomes a device of JAX; without a number one, or on this machine what --workers leaves."""
    gpu: float = 0.0
    """GPUs, or a share of one."""
    hours: float | None = None
    """SLURM's limit, after which a run comes back to the queue and goes on."""

    @classmethod
    def read(cls, text: str) -> Resources:
        """From what a user types: "cpu=4,gpu=0.5"."""
        found: dict[str, float] = {}
        for part in filter(None, (part.strip() for part in text.split(","))):
            name, _, value = (word.strip() for word in part.partition("="))
            if name not in _NAMES:
                raise UserError(
                    f"There is no resource '{name}'{suggest(name, list(_NAMES))}; give cpu=4, gpu=0.5 or hours=24."
                )
            if name in found or not re.fullmatch(r"\d{1,6}(\.\d{1,6})?", value):
                raise UserError(
                    f"--resources says '{text}'; give each of cpu, gpu and hours once, such as cpu=4,gpu=0.5."
                )
            found[name] = float(value)
        cpu, gpu = found.get("cpu"), found.get("gpu", 0.0)
        if cpu is not None and (cpu < 1 or cpu != int(cpu)):
            raise UserError(f"cpu is {cpu:g}; give a whole number of cores, at least 1.")
        if gpu > 1 and gpu != int(gpu):
            raise UserError(f"gpu is {gpu:g}; give a share below 1 or a whole number.")
        if (hours := found.get("hours")) is not None and hours <= 0:
            raise UserError(f"hours is {hours:g}; give more than 0.")
        return cls(None if cpu is None else int(cpu), gpu, hours)

    @property
    def cores(self) -> int:
        """Cores on an engine that gives exactly what is asked."""
        return self.cpu or 1


@dataclasses.dataclass(frozen=True)
class Order:
    """One run as an engine sees it: a command that goes on where it was interrupted, however often it is started."""

    name: str
    """The same for the same request in the same folder, by which an engine knows it again."""
    folder: Path
    command: tuple[str, ...]
    prepare: Callable[[], None]
    """Writes down what the command needs; called unless the engine has this order already."""


@runtime_checkable
class Backend(Protocol):
    """An engine."""

    @property
    def slots(self) -> int | None:
        """How many orders it wants at a time; nothing: all, for it has a queue of its own."""
        ...

    def start(self, order: Order) -> Any:
        """Begin it, or find it again where the engine has it already; a ticket to ask after it."""
        ...

    def poll(self, ticket: Any) -> int | None:
        """Nothing while it waits or runs; then its exit code, or minus the signal that ended it."""
        ...

    def stop(self, tickets: Sequence[Any]) -> None:
        """End these, after a last checkpoint if they are quick."""
        ...
