"""Train a small team, test it, and draw its curve and one of its episodes."""

import merlax

run = merlax.train("rover-1", frames=400_000, seed=1)
print(merlax.evaluate(run, episodes=200))
merlax.plot(run, "curve.png")
merlax.render(run, "team.gif")
