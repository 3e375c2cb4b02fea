"""The scores of docs/results.md: MERL (`fast`) on the rover domain, one process per run.

    python benchmarks/core.py                 # everything: 4 experiments × 5 seeds
    python benchmarks/core.py 2019 2021       # these seeds only
    taskset -c 0 python benchmarks/core.py …  # on one core, so that two of these share two cores

Runs that are finished are skipped. Writes results/core/EXPERIMENT/SEED.csv and results/core/scores.csv.
"""

from __future__ import annotations

import csv
import json
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

from scipy import stats

ROOT = Path(__file__).parents[1]
RESULTS, RUNS = ROOT / "results" / "core", ROOT / "runs" / "core"
SEEDS = (2019, 2020, 2021, 2022, 2023)  # tuned on seeds 1 to 9
EXPERIMENTS = {
    "rover-3-free": ["rover-3", "--frames", "2000000"],
    "rover-3-pinned": ["rover-3", "--frames", "2000000", "--env.speed", "pinned"],
    "rover-1-free": ["rover-1", "--frames", "1000000"],
    "two-rovers": ["two-rovers", "--frames", "400000"],
}


def run(experiment: str, seed: int) -> None:
    """Train once, and keep the progress and the final test."""
    target = RESULTS / experiment / f"{seed}.csv"
    if target.exists():
        return
    folder = RUNS / experiment / str(seed)
    command = [sys.executable, "-m", "merlax.cli", "train", *EXPERIMENTS[experiment]]
    subprocess.run([*command, "--seed", str(seed), "--out", str(folder), "--force"], check=True, cwd=ROOT)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(folder / "final.json", target.with_suffix(".json"))
    shutil.copy(folder / "progress.csv", target)


def collect() -> list[dict[str, object]]:
    """One row per finished run."""
    rows: list[dict[str, object]] = []
    for path in sorted(RESULTS.glob("*/*.csv")):
        with path.open(newline="") as file:
            last = list(csv.DictReader(file))[-1]
        final = json.loads(path.with_suffix(".json").read_text())
        rows.append(
            {
                "experiment": path.parent.name,
                "seed": int(path.stem),
                "score": round(final["mean"], 4),
                "episodes": final["episodes"],
                "frames": int(last["frames"]),
                "seconds": round(float(last["seconds"])),
                "peak_memory_mb": final["peak_memory_mb"],
            }
        )
    return rows


def table(rows: list[dict[str, object]]) -> str:
    """Mean and 95% interval (Student t) over the seeds, as Markdown."""
    lines = ["| experiment | score per seed | mean ± 95% | seconds per run |", "|---|---|---|---|"]
    for name in EXPERIMENTS:
        own = [row for row in rows if row["experiment"] == name]
        if not own:
            continue
        scores, seconds = [float(str(row["score"])) for row in own], [int(str(row["seconds"])) for row in own]
        half = "–"
        if len(scores) > 1:
            half = f"{stats.t.ppf(0.975, len(scores) - 1) * statistics.stdev(scores) / len(scores) ** 0.5:.3f}"
        each = ", ".join(f"{score:.3f}" for score in scores)
        lines.append(f"| {name} | {each} | {statistics.mean(scores):.3f} ± {half} | {min(seconds)}–{max(seconds)} |")
    return "\n".join(lines)


def main() -> None:
    for seed in [int(seed) for seed in sys.argv[1:]] or SEEDS:
        for experiment in EXPERIMENTS:
            run(experiment, seed)
    rows = collect()
    with (RESULTS / "scores.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    print(table(rows))


if __name__ == "__main__":
    main()
