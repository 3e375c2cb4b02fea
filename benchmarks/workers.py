"""How many runs at a time? One process on all cores against one per core, each on its own.

    python benchmarks/workers.py                      # MERL and rover-3; prints JSON
    python benchmarks/workers.py merl two-rovers 100000

`frames_per_s` is the sum over the runs that train at the same time, without starting and compiling. The two ways
alternate, and the ratio is the median over the rounds: what else the machine does then meets both.
"""

from __future__ import annotations

import csv
import json
import statistics
import sys
import tempfile
from pathlib import Path

from merlax.experiments import cores, runner
from merlax.experiments.board import Lines
from merlax.experiments.spec import Job, Method, World

ROUNDS = 3


def rate(folder: Path) -> float:
    """Frames per second of a run, from its second generation on."""
    with (folder / "progress.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    first, last = rows[1], rows[-1]
    return (int(last["frames"]) - int(first["frames"])) / (float(last["seconds"]) - float(first["seconds"]))


def measure(algorithm: str, world: str, frames: int, workers: int) -> float:
    """The rate of `workers` runs that train at the same time, all together."""
    jobs = [Job(World(world), Method(algorithm, algorithm), seed, frames) for seed in range(1, workers + 1)]
    with tempfile.TemporaryDirectory() as root:
        outcome = runner.run(jobs, Path(root), Lines(), workers)
        if len(outcome.finished) < len(jobs):
            raise SystemExit(f"a run failed: {[failure.reason for failure in outcome.failed]}")
        return sum(rate(Path(root) / job.folder) for job in jobs)


def main() -> None:
    algorithm, world, frames = (*sys.argv[1:], *("merl", "rover-3", "100000")[len(sys.argv) - 1 :])
    number = len(cores.available())
    rounds = [{n: measure(algorithm, world, int(frames), n) for n in (1, number)} for _ in range(ROUNDS)]
    result = {
        "algorithm": algorithm,
        "world": world,
        "cores": number,
        "one_process_frames_per_s": [round(each[1]) for each in rounds],
        "one_per_core_frames_per_s": [round(each[number]) for each in rounds],
        "ratio": round(statistics.median(each[number] / each[1] for each in rounds), 2),
    }
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
