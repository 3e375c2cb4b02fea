"""A rover world of your own: twelve rovers, six POIs, four rovers to observe one."""

import sys

import merlax

frames = int(sys.argv[1]) if len(sys.argv) > 1 else 500_000
env = merlax.Rover(num_agents=12, num_poi=6, coupling=4)
run = merlax.train(env, frames=frames, settings={"learners": [{"discount": 0.6}]})
print(merlax.evaluate(run))
