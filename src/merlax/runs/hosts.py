"""Several processes that make one run together (`jax.distributed`): who is first, what they tell each other.

All of them do the same, step by step. The first one alone reads and writes the run folder, and speaks.
"""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import json
import os
import signal
import sys
import zlib
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import jax
import numpy as np

from merlax import config
from merlax.core import devices
from merlax.runs import rendezvous
from merlax.types import UserError

T = TypeVar("T")
Arrays = dict[str, np.ndarray]
LOST = "Another process of this run was lost, so it stopped; `merlax resume` with all processes goes on."
_joined = False


class LostError(UserError):
    """Another process is gone: nothing can be said to the others any more."""


@dataclasses.dataclass(frozen=True)
class Meeting:
    """Where the processes meet, as a user says it; without a coordinator, JAX asks SLURM, Open MPI or Kubernetes."""

    distributed: bool = False
    coordinator: str | None = None
    processes: int | None = None
    process: int | None = None

    @property
    def wanted(self) -> bool:
        """Whether there are to be several processes."""
        return self.distributed or self != Meeting()


def join(meeting: Meeting) -> None:
    """Become one of the processes, before JAX starts."""
    global _joined
    if not meeting.wanted or jax.distributed.is_initialized():
        return
    given = (meeting.coordinator, meeting.processes, meeting.process)
    if any(each is not None for each in given):
        if None in given:
            raise UserError("Give all of --coordinator, --processes and --process, or --distributed alone.")
        rendezvous.meet(*given)  # type: ignore[arg-type]
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    _end_in_a_sentence()
    try:
        jax.distributed.initialize(*given)
    except (ValueError, RuntimeError) as error:
        if "coordinator_address" in str(error) or "Number of processes" in str(error):
            raise UserError(
                "--distributed finds no SLURM, Open MPI or Kubernetes around it; give --coordinator host:port "
                "--processes n --process i instead."
            ) from error
        raise UserError(f"The processes cannot be joined ({str(error).splitlines()[0]}).") from error
    devices.prepare()
    _joined = jax.process_count() > 1


def count() -> int:
    """How many processes make this run."""
    return jax.process_count() if _joined else 1


def is_first() -> bool:
    """Whether this process writes and speaks."""
    return not _joined or jax.process_index() == 0


def gather(numbers: list[int]) -> np.ndarray:
    """Everybody's numbers (32 bits each), a row for each process."""
    own = np.array([number & 0xFFFFFFFF for number in numbers], np.uint32)
    if not _joined:
        return own[None]
    from jax.experimental import multihost_utils

    with losses():
        return np.asarray(multihost_utils.process_allgather(own))


def from_first(data: bytes | None) -> bytes:
    """What the first process has, everywhere."""
    if not _joined:
        assert data is not None
        return data
    from jax.experimental import multihost_utils

    length = int(gather([len(data or b"")])[0, 0])
    if not length:
        return b""
    own = np.zeros(length, np.uint8) if data is None else np.frombuffer(data, np.uint8)
    with losses():
        return np.asarray(multihost_utils.broadcast_one_to_all(own)).astype(np.uint8).tobytes()


def copied(found: tuple[dict[str, Any], Arrays] | None) -> tuple[dict[str, Any], Arrays] | None:
    """Values and arrays that the first process has found, if any, everywhere."""
    if not _joined:
        return found
    header = found and [found[0], {name: [list(a.shape), a.dtype.name] for name, a in found[1].items()}]
    header = json.loads(from_first(json.dumps(header).encode() if is_first() else None))
    if header is None:
        return None
    values, described = header
    arrays = {}
    for name, (shape, dtype) in described.items():
        data = from_first(found[1][name].tobytes() if found else None)
        arrays[name] = np.frombuffer(data, dtype).reshape(shape)
    return values, arrays


def announce(work: Callable[[], T], told: Callable[[T], Any] = lambda _: None) -> T:
    """As the first process: do something, and tell the others what came of it, or why it is refused."""
    if not _joined:
        return work()
    try:
        result = work()
    except UserError as error:
        from_first(json.dumps({"refused": str(error)}).encode())
        raise
    from_first(json.dumps({"told": told(result)}).encode())
    return result


def hear() -> Any:
    """As another process: what the first one announces, or its refusal."""
    answer = json.loads(from_first(None))
    if "refused" in answer:
        raise UserError(answer["refused"])
    return answer["told"]


def compare(settings: dict[str, Any]) -> None:
    """Refuse processes that were started with different settings."""
    if not _joined:
        return
    text = config.to_json(settings)
    firsts = json.loads(from_first(text.encode() if is_first() else None))
    same = gather([zlib.crc32(text.encode())])[:, 0]
    if (same == same[0]).all():
        return
    different = config.difference(firsts, json.loads(text))
    others = ", ".join(str(i) for i in np.flatnonzero(same != same[0]))
    about = f" ({different})" if different else ""
    raise UserError(f"Process {others} has other settings than process 0{about}; start all with the same command.")


def refuse_different(fingerprints: np.ndarray) -> None:
    """Refuse to go on where the processes came to different numbers: they learn the same, each for itself."""
    if (fingerprints != fingerprints[0]).any():
        raise UserError(
            "The processes came to different numbers, as on machines of different kinds, so the run stopped; start "
            "all processes on machines of one kind."
        )


@contextlib.contextmanager
def losses() -> Iterator[None]:
    """Say in one sentence that another process is gone."""
    try:
        yield
    except (ValueError, RuntimeError) as error:
        if _joined and any(word in str(error) for word in ("Gloo", "gloo", "onnection", "coordination service")):
            raise LostError(LOST) from error
        raise


def leave(code: int) -> None:
    """End this process at once where another is lost: JAX would wait for it."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _end_in_a_sentence() -> None:
    """JAX aborts where the first process is gone: let the last words be merlax's own, and the code that of an error.

    It does so in a thread of its own, by a signal of which Python hears too late.
    """
    if sys.platform != "linux":
        return
    global _last_words
    text = f"\nmerlax: {LOST}\n".encode()

    def last_words(_: int) -> None:
        os.write(2, text)
        os._exit(2)

    _last_words = ctypes.CFUNCTYPE(None, ctypes.c_int)(last_words)
    ctypes.CDLL(None).signal(int(signal.SIGABRT), _last_words)


_last_words: Any = None  # kept, for the system calls it


class Bystander:
    """In the place of a run folder, where another process has it."""

    @contextlib.contextmanager
    def faults(self) -> Iterator[None]:
        yield

    def check(self) -> None: ...

    def save_champion(self, policy: Any) -> None: ...

    def save_opponent(self, policy: Any) -> None: ...
