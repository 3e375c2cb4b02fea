"""What a run folder tells: its settings, its rows, and how often selection kept the learner's team."""

import sys

import merlax

frames = int(sys.argv[1]) if len(sys.argv) > 1 else 300_000
run = merlax.train("two-rovers", frames=frames, out="runs/read", force=True)
run = merlax.load("runs/read")  # nothing more than the folder is needed
rows = run.progress  # column → array
print(f"{run.title}, seed {run.config['seed']}: {len(rows['frames'])} generations, {', '.join(rows)}")
print(f"best test {rows['champion_score'].max():.2f}, last {rows['champion_score'][-1]:.2f}")
selected = (rows["migrant_fate"] != "discarded").mean()
chance = merlax.expected_selection_rate(population=20, elites=4)
print(f"the learner's team was selected in {selected:.0%} of the generations; by chance it would be in {chance:.0%}")
