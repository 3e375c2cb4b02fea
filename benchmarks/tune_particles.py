"""Which settings of MERL suit the particle worlds: every variant's team against every variant's opponent.

    python benchmarks/tune_particles.py predator-prey --seeds 1 2 --frames 500000 --variants base calm

A team's score against the opponent it trained with says little, since a variant may merely have an easier one; so all
teams of a world meet all opponents of that world, and the scripted one. Only seeds 1 to 9 are for tuning. Runs that are
there already are not made again; rows are added to results/particles/tuning.csv.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from typing import Any

import numpy as np

from merlax import api
from merlax.experiments import board, runner
from merlax.experiments.spec import Job, Method, World
from merlax.runs import reader as runs

VARIANTS: dict[str, dict[str, Any]] = {
    "base": {},
    "no-penalty": {"td3": {"action_penalty": 0.0}},
    "scale": {"td3": {"reward_scale": 10.0}},
    "scale-more-updates": {"td3": {"reward_scale": 10.0, "updates_per_frame": 0.06}},
    "scale-slow-actor": {"td3": {"reward_scale": 10.0, "actor_rate": 3e-4}},
    "scale-short": {"td3": {"reward_scale": 10.0, "discount": 0.8}},
    "scale-short-slow-actor": {"td3": {"reward_scale": 10.0, "discount": 0.8, "actor_rate": 3e-4}},
    "scale-shorter": {"td3": {"reward_scale": 10.0, "discount": 0.6}},
    "scale-explore": {"td3": {"reward_scale": 10.0}, "explore_episodes": 50},
}
COLUMNS = ("world", "frames", "seed", "variant", "against_all", "against_scripted", "seconds")


def jobs(world: str, variants: list[str], seeds: list[int], frames: int) -> list[Job]:
    methods = [Method(name, "merl", VARIANTS[name]) for name in variants]
    return [Job(World(world), method, seed, frames) for seed in seeds for method in methods]


def judge(world: str, own: list[Job], root: Path, frames: int) -> list[dict[str, Any]]:
    """One row per run: its mean score against all opponents, and against the scripted one alone."""
    matrix = api.play_each_other([root / job.folder for job in own], episodes=500)
    rows = []
    for job, line in zip(own, matrix.scores, strict=True):
        scores = [score.mean for score in line]
        seconds = float(runs.load(root / job.folder).progress["seconds"][-1])
        row = (world, frames, job.seed, job.method.label, np.mean(scores), scores[-1], seconds)
        rows.append(dict(zip(COLUMNS, row, strict=True)))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("world")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--frames", type=int, default=500_000)
    parser.add_argument("--variants", nargs="+", default=list(VARIANTS), choices=list(VARIANTS))
    parser.add_argument("--runs", type=Path, default=Path("runs/tuning"))
    parser.add_argument("--out", type=Path, default=Path("results/particles/tuning.csv"))
    options = parser.parse_args()
    own = jobs(options.world, options.variants, options.seeds, options.frames)
    outcome = runner.run(own, options.runs, board.choose())
    rows = judge(options.world, [job for job in own if job in outcome.finished], options.runs, options.frames)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    new = not options.out.exists()
    with options.out.open("a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        if new:
            writer.writeheader()
        writer.writerows(rows)
    for name in options.variants:
        mine = [row for row in rows if row["variant"] == name]
        means = [np.mean([row[column] for row in mine]) for column in COLUMNS[4:]]
        print(f"{name:20} all {means[0]:8.3f}   scripted {means[1]:8.3f}   {means[2]:5.0f} s")


if __name__ == "__main__":
    main()
