"""Run folders without training: what a report reads of them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

_HEADER = "generation,frames,seconds,champion_score,best_fitness,mean_fitness,learner_score,migrant_fate,broken_teams"
_MORE = ",explore_score,agent_reward,critic_loss,champion_team,fitness,first_parents,second_parents,mutated"


def write_run(
    path: Path, algorithm: str = "merl", seed: int = 1, world: str = "rover-1", rows: int = 30, *, finished: bool = True
) -> Path:
    """A run that learns a little more than one with a lower seed."""
    path.mkdir(parents=True)
    learners = {"learners": [{"discount": 0.9}], "tuning": {"pairs": 0}} if algorithm == "merl" else {}
    settings = {"population": 5, "selection": {"elites": 2, "tournament": 2}} | learners
    config = {"format": 2, "world": world, "env": {}, "algorithm": algorithm, "preset": "fast", "settings": settings}
    (path / "config.json").write_text(json.dumps(config | {"frames": 1000 * rows, "seed": seed}))
    random = np.random.default_rng(seed)
    lines, score = [_HEADER + _MORE], 0.0
    for row in range(1, rows + 1):
        score = min(1.0, 0.02 * row + 0.02 * seed)
        fitness = " ".join(f"{value:.3f}" for value in score * random.uniform(size=5))
        fate = ("elite", "selected", "discarded")[row % 3] if algorithm == "merl" else ""
        parents = "0 1 0 4 -1", "0 1 2 4 -1", "0 0 1 1 0"
        numbers = [row, 1000 * row, 0.5 * row, score, score, score / 2, score / 3, fate, 0, score / 4, 0.3, 1 / row, 0]
        lines.append(",".join(map(str, [*numbers, fitness, *parents])))
    (path / "progress.csv").write_text("\n".join(lines) + "\n")
    if finished:
        final = {"mean": score, "interval95": 0.01, "episodes": 200, "finished": True, "peak_memory_mb": 500.0}
        (path / "final.json").write_text(json.dumps(final))
    return path
