"""A rover world of your own: twelve rovers, six POIs, four rovers to observe one."""

import merlax

env = merlax.Rover(num_agents=12, num_poi=6, coupling=4)
run = merlax.train(env, frames=500_000, config={"td3": {"discount": 0.6}})
print(merlax.evaluate(run))
