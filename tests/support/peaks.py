"""How much memory a run takes at its peak, in a process of its own, beside what was estimated."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from merlax.runs import memory, setup

GENERATIONS = 3
STORED = 10_000  # frames after which every preset learns; the buffers are there from the first
_SETTINGS = ("XLA_FLAGS", "JAX_COMPILATION_CACHE_DIR", "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS")  # of a test suite


@dataclasses.dataclass(frozen=True)
class Peak:
    """One run of a few generations."""

    estimated_mb: int
    peak_mb: int


def measure(world: str, algorithm: str = "merl", opponent: str | None = None, *, cache: Path) -> Peak:
    """Train as a user would, with the compiled programs that the cache holds."""
    game = setup.plan(world, algorithm, frames=10**9, seed=1, opponent=opponent).game()
    frames = str(GENERATIONS * game.frames_per_generation() + STORED)
    environment = {name: value for name, value in os.environ.items() if name not in _SETTINGS}
    with tempfile.TemporaryDirectory() as folder:
        train = [sys.executable, "-m", "merlax.cli", "train", world, "--algorithm", algorithm, "--frames", frames]
        against = [] if opponent is None else ["--opponent", opponent]
        command = [*train, *against, "--quiet", "--out", f"{folder}/run"]
        subprocess.run(command, env=environment | {"XDG_CACHE_HOME": str(cache)}, check=True)
        peak = json.loads(Path(folder, "run", "final.json").read_text())["peak_memory_mb"]
    return Peak(memory.estimate(game).total, peak)
