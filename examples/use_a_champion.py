"""Load the champion of a run folder and step the world by hand."""

import sys

import jax

import merlax

run = merlax.load(sys.argv[1])
obs, state = run.env.reset(jax.random.key(0))
score = 0.0
for key in jax.random.split(jax.random.key(1), run.env.horizon):
    if run.opponent is None:
        obs, state, reward, terminated, truncated, info = run.env.step(key, state, run.champion(obs))
        score += float(reward.team)
    else:  # a contest: observations, actions and rewards of both sides
        actions = run.champion(obs[0]), run.opponent.act(run.env, state, obs[1])
        obs, state, reward, terminated, truncated, info = run.env.step(key, state, actions)
        score += float(reward[0].team)
    if terminated or truncated:
        break
print(f"score {score:.2f}")
