"""Load the champion of a run folder and step the world by hand."""

import sys

import jax

import merlax

run = merlax.load(sys.argv[1])
obs, state = run.env.reset(jax.random.key(0))
score = 0.0
for key in jax.random.split(jax.random.key(1), run.env.horizon):
    actions = [run.champion(obs)]
    if run.opponent is not None:  # a contest: the other side moves at the same time
        actions.append(run.opponent(run.env, state))
    obs, state, reward, terminated, truncated, info = run.env.step(key, state, *actions)
    score += float(reward.team)
    if terminated or truncated:
        break
print(f"score {score:.2f}")
