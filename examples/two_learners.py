"""MERL with two learners: both are paid the agents' rewards, one looks further ahead. Selection tells which helps."""

import dataclasses
import sys

import merlax

frames = int(sys.argv[1]) if len(sys.argv) > 1 else 500_000
merl = merlax.preset("fast", "rover-3")
short, long = (dataclasses.replace(merl.learners[0], discount=discount) for discount in (0.3, 0.8))
run = merlax.train("rover-3", dataclasses.replace(merl, learners=(short, long)), frames=frames)

print(merlax.evaluate(run))
for name, column in (("discount 0.3", "migrant_fate"), ("discount 0.8", "migrant_fate_2")):
    print(f"{name}: selected in {(run.progress[column] != 'discarded').mean():.0%} of the generations")
