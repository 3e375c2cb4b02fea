"""Many seeds at once: a whole run is one program, and `jax.vmap` batches it over seeds, with MERL as with EA here.

Worth it where one run alone does not fill the machine: on a GPU or TPU.
"""

import sys

import jax
import jax.numpy as jnp

import merlax

seeds, generations = (int(word) for word in (sys.argv[1:] or ("8", "100")))
env = merlax.make("rover-1")
game = merlax.Game(env, merlax.preset("fast", "rover-1", "ea"))
step = jax.jit(jax.vmap(game.step), donate_argnums=1)

keys = jax.vmap(jax.random.key)(jnp.arange(seeds))
state = jax.jit(jax.vmap(game.init))(keys)
for generation in range(generations):
    state, done = step(jax.vmap(jax.random.fold_in, in_axes=(0, None))(keys, generation), state)
    print(f"generation {generation + 1}: best fitness of each seed {done.team.info.best_fitness}")
champions = jax.vmap(game.champion)(state)  # one policy per seed, along the leading axis
