"""Load the champion of a run folder and step the world by hand."""

import sys

import jax

import merlax

run = merlax.load(sys.argv[1])
obs, state = run.env.reset(jax.random.key(0))
for key in jax.random.split(jax.random.key(1), run.env.horizon):
    obs, state, reward, terminated, truncated, info = run.env.step(key, state, run.champion(obs))
    if terminated or truncated:
        break
print("score", float(reward.team))
