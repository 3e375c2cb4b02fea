"""What a checkpoint costs: seconds that training waits for it, its bytes on disk and in memory.

python benchmarks/checkpoint_cost.py --out results/benchmarks/checkpoint_cost.json
"""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import jax
import numpy as np
from reporting import parser, report

from merlax.algorithms.merl import Merl
from merlax.core import devices
from merlax.runs import checkpoints, process, reader, setup
from merlax.runs.checkpoints import Position
from merlax.runs.saver import EVERY_SECONDS, Saver

REPEATS = 5


def measure(world: str, preset: str) -> dict[str, Any]:
    """One world, with its buffers full."""
    planned = setup.plan(world, "merl", frames=10**9, seed=1, preset=preset)
    assert isinstance(planned.algorithm, Merl)
    game, key = planned.game(), jax.random.key(1)
    state = game.init(jax.random.fold_in(key, 0))
    generation, seconds = 0, []
    capacity = planned.algorithm.learners[0].buffer
    while int(state.team.buffer.size.sum()) < capacity or generation < 3:
        generation += 1
        start = time.monotonic()
        state, done = game.step(jax.random.fold_in(key, generation), state)
        jax.block_until_ready(done)
        seconds.append(time.monotonic() - start)
    waited: list[float] = []
    with tempfile.TemporaryDirectory(dir=".") as folder:
        config = json.loads(json.dumps(planned.record()))
        saver = Saver(Path(folder), config)
        saver.save(Position(0), state)  # the first one imports Orbax
        for repeat in range(REPEATS):
            start = saver.seconds
            saver.save(Position(generation + repeat), state)
            waited.append(saver.seconds - start)
        newest = saver.folder / str(checkpoints.generations(saver.folder)[-1])
        size = sum(file.stat().st_size for file in newest.rglob("*") if file.is_file())
        start = time.monotonic()
        position_and_state = saver.newest(state, lambda: state)
        loading = time.monotonic() - start
        assert position_and_state is not None
        saver.close()
    wait = statistics.median(waited)
    return {
        "waiting_seconds": round(wait, 3),
        "longest_wait_seconds": round(max(waited), 3),
        "loading_seconds": round(loading, 3),
        "disk_mb": round(size / 1e6, 1),
        "arrays_mb": round(sum(a.nbytes for a in jax.tree.leaves(state)) / 1e6, 1),
        "peak_memory_mb": process.peak_memory_mb(),
        "median_generation_seconds": round(float(np.median(seconds[1:])), 3),
        "share_at_default_interval": round(wait / EVERY_SECONDS, 5),
    }


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--worlds", nargs="+", default=["rover-3", "predator-prey", "two-rovers"])
    arguments.add_argument("--preset", default="fast")
    options = arguments.parse_args()
    devices.prepare()
    costs = {world: measure(world, options.preset) for world in options.worlds}
    report({"interval_seconds": EVERY_SECONDS, **costs, **reader.versions()}, options.out)


if __name__ == "__main__":
    main()
