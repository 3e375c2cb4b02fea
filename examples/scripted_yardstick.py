"""How good are simple rules, which learn nothing? Every world has some; a team that learns should beat them."""

import sys

import merlax
from merlax.envs import rules

episodes = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
env = merlax.make("rover-3", speed="pinned")

for name, rule in rules.of(env, 0).items():
    print(f"{name} ({rule.says}): {merlax.evaluate(env, episodes, team=name)}")
