"""How often MERL's champion touches a prey, beside untrained teams: against the prey it trained with, and the scripted.

python benchmarks/predator_prey.py [--seeds 2018 2019] [--frames 1000000] [--out results/particles/touches.csv]
"""

from __future__ import annotations

import argparse
import csv
import tempfile
from pathlib import Path

import jax
import numpy as np

import merlax
from merlax.algorithms import population
from merlax.algorithms.opponents import Scripted
from merlax.core import rollout

WORLD, EPISODES, UNTRAINED = "predator-prey", 1000, 20


def touches(policy, env, opponent) -> float:
    """Mean touches per episode, always on the same instances."""
    return float(np.mean(rollout.play_test(jax.random.key(12345), env, policy, EPISODES, opponent).fitness))


def measure(run: merlax.Run, seed: int) -> list[dict]:
    teams = population.random_teams(jax.random.key(seed), run.env, (100, 100), UNTRAINED)
    rows = []
    for name, opponent in (("own", run.opponent), ("scripted", Scripted())):
        untrained = [touches(jax.tree.map(lambda w, i=i: w[i], teams), run.env, opponent) for i in range(UNTRAINED)]
        trained, chance = touches(run.champion, run.env, opponent), float(np.mean(untrained))
        rows.append({"seed": seed, "prey": name, "champion": trained, "untrained": chance, "ratio": trained / chance})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[2018, 2019])
    parser.add_argument("--frames", type=int, default=1_000_000)
    parser.add_argument("--out", type=Path, default=Path("results/particles/touches.csv"))
    options = parser.parse_args()
    rows = []
    for seed in options.seeds:
        with tempfile.TemporaryDirectory() as folder:
            run = merlax.train(WORLD, frames=options.frames, seed=seed, out=Path(folder) / "run")
            rows += [{"frames": options.frames} | row for row in measure(run, seed)]
        options.out.parent.mkdir(parents=True, exist_ok=True)
        with open(options.out, "w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
        print(rows[-2:], flush=True)


if __name__ == "__main__":
    main()
