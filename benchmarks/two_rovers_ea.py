"""EA alone on two-rovers by preset and encoding: does it escape the greedy trap? (docs/reproduction.md)

python benchmarks/two_rovers_ea.py [--out results/motivating/ea.csv]
"""

from __future__ import annotations

import argparse
import csv
import tempfile
from pathlib import Path

import merlax

SEEDS = range(2019, 2024)
CASES = (("fast", "clean"), ("paper", "clean"), ("paper", "published"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("results/motivating/ea.csv"))
    options = parser.parse_args()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    with open(options.out, "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("preset", "encoding", "seed", "final_score"))
        for preset, encoding in CASES:
            for seed in SEEDS:
                env = merlax.make("two-rovers", encoding=encoding)
                with tempfile.TemporaryDirectory() as folder:
                    out = Path(folder) / "run"
                    run = merlax.train(env, "ea", frames=400_000, seed=seed, preset=preset, out=out, quiet=True)
                    rows.writerow((preset, encoding, seed, merlax.evaluate(run, episodes=1).mean))
                file.flush()


if __name__ == "__main__":
    main()
