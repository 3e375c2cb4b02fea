"""Generation by generation, without a run folder: what `merlax.train` does inside, for a loop of your own."""

import sys

import jax

import merlax

generations = int(sys.argv[1]) if len(sys.argv) > 1 else 20
game = merlax.Game(merlax.make("two-rovers"), merlax.preset("fast", "two-rovers", "ea"))
key = jax.random.key(0)
state = game.init(jax.random.fold_in(key, 0))
frames = 0
for generation in range(1, generations + 1):
    state, done = game.step(jax.random.fold_in(key, generation), state)  # the old state is used up
    frames += int(done.frames)
    print(f"generation {generation}, {frames} frames: best fitness {float(done.team.info.best_fitness):.2f}")

champion = game.champion(state)  # a plain function: observations in, actions out
obs, _ = game.env.reset(jax.random.key(1))
print("first actions of the champion:", champion(obs))
