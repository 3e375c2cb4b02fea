"""A team of three rovers is the beginning of a team of five: heads are matched by agent, new ones copied."""

import sys

import merlax

frames = int(sys.argv[1]) if len(sys.argv) > 1 else 400_000
three = merlax.train("rover-1", "ea", frames=frames, out="runs/three", force=True)
world = merlax.make("rover-1", num_agents=5)
five = merlax.train(world, "ea", frames=frames, start=three, out="runs/five", force=True)
alone = merlax.train(world, "ea", frames=frames, out="runs/alone", force=True)
print(f"five rovers, begun with three: {merlax.evaluate(five)}; from nothing: {merlax.evaluate(alone)}")
