"""A callback that ends a run as soon as its champion is good enough."""

import sys

import merlax

GOAL = float(sys.argv[1]) if len(sys.argv) > 1 else 0.9
scores = []


def good_enough(row):
    """True ends the run; the mean of five tests, since one of ten episodes may be lucky."""
    scores.append(row["champion_score"])
    return len(scores) >= 5 and sum(scores[-5:]) / 5 >= GOAL


run = merlax.train("rover-1", frames=1_000_000, callbacks=[good_enough])
print(f"stopped after {int(run.progress['frames'][-1]):,} frames: {merlax.evaluate(run)}")
