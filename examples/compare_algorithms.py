"""Several algorithms on one world, some seeds each: mean and spread of their champions' scores."""

import statistics
import sys

import merlax

frames = int(sys.argv[1]) if len(sys.argv) > 1 else 300_000
algorithms, seeds = ("merl", "ea", "td3"), (1, 2, 3)
if len(sys.argv) > 2:
    algorithms, seeds = tuple(sys.argv[2].split(",")), (1, 2)

for algorithm in algorithms:
    runs = [merlax.train("two-rovers", algorithm, frames=frames, seed=seed, quiet=True) for seed in seeds]
    scores = [merlax.evaluate(run, episodes=10).mean for run in runs]
    each = ", ".join(f"{score:.2f}" for score in scores)
    print(f"{algorithm}: {statistics.mean(scores):.2f} (spread {statistics.stdev(scores):.2f}; {each})")
