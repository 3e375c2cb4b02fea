"""Settings by name: a small sweep over the strength of mutation, each run in a folder that says what it is."""

import sys

import merlax

frames = int(sys.argv[1]) if len(sys.argv) > 1 else 300_000
for strength in (0.02, 0.1, 0.5):
    settings = {"population": 20, "mutation": {"strength": strength}}
    run = merlax.train(
        "rover-1", "ea", frames=frames, settings=settings, out=f"runs/strength-{strength}", quiet=True
    )  # fmt: skip
    print(f"mutation strength {run.config['settings']['mutation']['strength']}: {merlax.evaluate(run)}")
