"""A run that was interrupted goes on exactly where it was. Here a callback interrupts it; Ctrl-C or a crash will do."""

import sys

import merlax

frames = int(sys.argv[1]) if len(sys.argv) > 1 else 400_000
run = merlax.train("rover-1", "ea", frames=frames, out="runs/resumed", callbacks=[lambda row: row["generation"] == 1])
print(f"interrupted after {int(run.progress['frames'][-1]):,} frames")
run = merlax.resume("runs/resumed")
print(f"ended after {int(run.progress['frames'][-1]):,} frames: {merlax.evaluate(run)}")
