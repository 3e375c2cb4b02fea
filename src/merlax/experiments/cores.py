"""Which cores each worker gets. One process per core is fastest: `benchmarks/workers.py` measures it."""

from __future__ import annotations

import contextlib
import os
from itertools import pairwise

from merlax.types import UserError


def available() -> list[int]:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def groups(workers: int | None, cores: list[int], each: int | None = None) -> list[list[int]]:
    """Cores per worker: one each by default; several each if workers are few, shared ones if they are many.

    Or as many as `each` says, for as many workers as there is room for, at most.
    """
    if workers is not None and workers < 1:
        raise UserError(f"workers is {workers}; choose at least 1.")
    if each is not None:
        if each > len(cores):
            raise UserError(f"A run asks for cpu={each}, but this machine has {len(cores)}; ask for less.")
        return [cores[i * each : (i + 1) * each] for i in range(len(cores) // each)][:workers]
    if workers is None:
        workers = len(cores)
    if workers >= len(cores):
        return [[cores[i % len(cores)]] for i in range(workers)]
    ends = [round(i * len(cores) / workers) for i in range(workers + 1)]
    return [cores[a:b] for a, b in pairwise(ends)]


def pin(pid: int, cores: list[int]) -> None:
    """Keep a process that has just started on these cores, where the system can; JAX then makes one device per core."""
    if hasattr(os, "sched_setaffinity"):
        with contextlib.suppress(OSError):
            os.sched_setaffinity(pid, cores)
