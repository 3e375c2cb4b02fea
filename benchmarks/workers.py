"""How many runs at a time? One process on all cores against one per core, each on its own.

    python benchmarks/workers.py                      # MERL and rover-3
    python benchmarks/workers.py --world two-rovers --frames 50000 --out results/benchmarks/workers.json

`frames_per_s` is the sum over the runs that train at the same time, without starting and compiling. The two ways
alternate, and the ratio is the median over the rounds: what else the machine does then meets both.
"""

from __future__ import annotations

import csv
import statistics
import tempfile
from pathlib import Path

from reporting import parser, report

from merlax.experiments import cores, runner
from merlax.experiments.backends import Local
from merlax.experiments.board import Silence
from merlax.experiments.spec import Job, Method, Task

ROUNDS = 3


def rate(folder: Path) -> float:
    """Frames per second of a run, from its second generation on."""
    with (folder / "progress.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    first, last = rows[1], rows[-1]
    return (int(last["frames"]) - int(first["frames"])) / (float(last["seconds"]) - float(first["seconds"]))


def measure(algorithm: str, world: str, frames: int, workers: int) -> float:
    """The rate of `workers` runs that train at the same time, all together."""
    jobs = [Job(Task(world), Method(algorithm, algorithm), seed, frames) for seed in range(1, workers + 1)]
    with tempfile.TemporaryDirectory() as root:
        outcome = runner.run(jobs, Path(root), Silence(), Local(workers=workers))
        if len(outcome.finished) < len(jobs):
            raise SystemExit(f"a run failed: {[failure.reason for failure in outcome.failed]}")
        return sum(rate(Path(root) / job.folder) for job in jobs)


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--algorithm", default="merl")
    arguments.add_argument("--world", default="rover-3")
    arguments.add_argument("--frames", type=int, default=100_000)
    arguments.add_argument("--rounds", type=int, default=ROUNDS)
    options = arguments.parse_args()
    number = len(cores.available())
    rounds = [
        {n: measure(options.algorithm, options.world, options.frames, n) for n in (1, number)}
        for _ in range(options.rounds)
    ]
    result = {
        "algorithm": options.algorithm,
        "world": options.world,
        "cores": number,
        "one_process_frames_per_s": [round(each[1]) for each in rounds],
        "one_per_core_frames_per_s": [round(each[number]) for each in rounds],
        "ratio": round(statistics.median(each[number] / each[1] for each in rounds), 2),
    }
    report(result, options.out)


if __name__ == "__main__":
    main()
