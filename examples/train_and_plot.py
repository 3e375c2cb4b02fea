"""Train a small team, test it, and draw its curve and one of its episodes."""

import sys

import merlax

frames = int(sys.argv[1]) if len(sys.argv) > 1 else 400_000
run = merlax.train("rover-1", frames=frames, seed=1)
print(merlax.evaluate(run, episodes=200))
merlax.plot(run, "curve.png")
merlax.render(run, "team.gif")
