"""Train a small team, test it, and draw its curve and one of its episodes."""

import merlax

run = merlax.train("rover-1", frames=400_000, seed=1)
score = merlax.evaluate(run, episodes=200)
print(f"{score['mean']:.2f} ± {score['interval95']:.2f}")
merlax.plot(run, "curve.png")
merlax.render(run, "team.gif")
