"""A fixed opponent: train a team against the opponent of an earlier run, which does not learn any more."""

import sys

import merlax

frames = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
sparring = merlax.train("keep-away", "ea", frames=frames, out="runs/sparring")
run = merlax.train("keep-away", "ea", frames=frames, opponent=sparring.path, seed=7)
print(f"against the opponent it trained with: {merlax.evaluate(run)}")
print(f"against the scripted one: {merlax.evaluate(run, against='scripted')}")
