"""Who beats whom? Every run's team against every run's opponent and the scripted one, on the same instances."""

import sys

import merlax

frames = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
runs = [merlax.train("keep-away", "ea", frames=frames, seed=seed, out=f"runs/cross-{seed}") for seed in (1, 2)]
matrix = merlax.play_each_other(runs, episodes=100)
for team, line in zip(matrix.teams, matrix.scores, strict=True):
    for opponent, score in zip(matrix.opponents, line, strict=True):
        print(f"team of {team} against opponent of {opponent}: {score}")
