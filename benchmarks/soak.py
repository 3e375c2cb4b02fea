"""A long run of a tiny world: are memory and file handles flat, is every row there, is the end as fast as the start?

python benchmarks/soak.py --generations 20000 --out results/benchmarks/soak.json
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from reporting import parser, report

import merlax
from merlax.runs import reader
from merlax.runs.recorders import Row

sys.path.insert(0, str(Path(__file__).parent.parent))
from tests.probes.rendezvous import Rendezvous
from tests.support.settings import TINY

SAMPLE = 100  # generations between two samples
WARM = 0.2  # share of the run that fills caches and buffers, and does not count
CHECKPOINT_SECONDS = 10.0  # often, so that the first checkpoint, which imports Orbax, falls into the warm-up


class Watch:
    """A callback that notes, now and then, what the process uses."""

    def __init__(self) -> None:
        self.samples: list[dict[str, float]] = []

    def __call__(self, row: Row) -> None:
        generation = int(row["generation"])
        if generation % SAMPLE == 0:
            resident = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
            self.samples.append(
                {
                    "generation": generation,
                    "memory_mb": resident / 2**20,
                    "handles": len(os.listdir("/proc/self/fd")),
                    "seconds": time.monotonic(),
                    "cpu_seconds": time.process_time(),
                }
            )


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--generations", type=int, default=20_000)
    options = arguments.parse_args()
    env, watch = Rendezvous(), Watch()
    frames = (6 * 2 + 2) * env.horizon * options.generations
    with tempfile.TemporaryDirectory() as folder:
        run = merlax.train(
            env, settings=TINY, frames=frames, seed=1, out=Path(folder) / "run", quiet=True, callbacks=[watch],
            checkpoint_every=CHECKPOINT_SECONDS,
        )  # fmt: skip
        rows = run.progress["generation"]
    result = summarise(watch.samples) | {
        "generations": options.generations,
        "rows": len(rows),
        "rows_complete": bool((rows == np.arange(1, options.generations + 1)).all()),
        "versions": reader.versions()["versions"],
    }
    report(result, options.out)


def summarise(samples: list[dict[str, float]]) -> dict[str, Any]:
    """Slopes by least squares after the warm-up; speed of the last tenth against that of the first tenth after it."""
    column = {name: np.array([sample[name] for sample in samples]) for name in samples[0]}
    kept = slice(int(len(samples) * WARM), None)
    slope = np.polyfit(column["generation"][kept], column["memory_mb"][kept], 1)[0]
    half = slice(len(samples) // 2, None)
    late = np.polyfit(column["generation"][half], column["memory_mb"][half], 1)[0]
    part = max(2, len(samples) // 10)

    def per_generation(name: str, where: slice) -> float:
        return float(np.diff(column[name][where]).mean() / SAMPLE * 1000)

    start, end = slice(kept.start, kept.start + part), slice(-part, None)
    return {
        "memory_mb": [round(float(column["memory_mb"][i]), 1) for i in (kept.start, -1)],
        "memory_slope_mb_per_1000_generations": round(float(slope) * 1000, 4),
        "of_its_second_half": round(float(late) * 1000, 4),
        "handles": [int(column["handles"][kept].min()), int(column["handles"][kept].max())],
        "ms_per_generation": [round(per_generation("seconds", where), 3) for where in (start, end)],
        "cpu_ms_per_generation": [round(per_generation("cpu_seconds", where), 3) for where in (start, end)],
    }


if __name__ == "__main__":
    main()
