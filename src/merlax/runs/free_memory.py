"""How much memory there is for this process."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import jax

from merlax.runs import process

ENOUGH_MB = 2**20  # a terabyte: what is allowed where the system does not tell what it has
# By version of the control groups: the controller's name, the files of the limit and of the usage, and what of the
# usage is a cache of files that goes when memory is wanted.
_GROUPS = (
    ("", "memory.max", "memory.current", "inactive_file"),
    ("memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)


def available_mb() -> int:
    """What this process may take in all: what it has already, and what is free on the machine and in its container."""
    if jax.default_backend() != "cpu":  # then nearly everything lies on the accelerator
        return ENOUGH_MB
    free = [*free_on_machine(), *free_in_groups()]
    return min(free) + (process.peak_memory_mb() or 0) if free else ENOUGH_MB


def free_on_machine(meminfo: Path = Path("/proc/meminfo")) -> Iterator[int]:
    """What is free or, where only that is known, all there is."""
    told = _table(meminfo)
    if "MemAvailable:" in told:
        yield told["MemAvailable:"] // 2**10
    elif {"SC_PHYS_PAGES", "SC_PAGE_SIZE"} <= getattr(os, "sysconf_names", {}).keys():
        yield os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2**20


def free_in_groups(own: Path = Path("/proc/self/cgroup"), root: Path = Path("/sys/fs/cgroup")) -> Iterator[int]:
    """What is left of each limit that holds for this process: of its control group, and of those around it."""
    lines = [line.split(":", 2) for line in _text(own).splitlines() if line.count(":") >= 2]
    for controller, limit, usage, cache in _GROUPS:
        for _, names, path in lines:
            if controller in names.split(","):
                below = Path(path.lstrip("/"))
                for folder in (root / controller / part for part in (below, *below.parents)):
                    most, used = _text(folder / limit), _text(folder / usage)
                    if most.isdigit() and used.isdigit():
                        kept = _table(folder / "memory.stat").get(cache, 0)
                        yield max(0, int(most) - int(used) + kept) // 2**20


def _table(path: Path) -> dict[str, int]:
    """The first two words of each line, of which the second is a number."""
    words = [line.split()[:2] for line in _text(path).splitlines()]
    return {pair[0]: int(pair[1]) for pair in words if len(pair) == 2 and pair[1].isdigit()}


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
