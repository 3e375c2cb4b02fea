"""Small jobs, and a stand-in for training: a process that writes a run folder at once."""

import sys
from pathlib import Path

from merlax.experiments.spec import Experiment, Job, Method, Quick, World

TINY = {
    "evolution": {"population": 6},
    "td3": {"batch": 8, "buffer": 2000},
    "explore_episodes": 2,
    "actor_hidden": [8],
    "critic_hidden": [8],
}
GENERATION = (6 * 2 + 2) * 30

PROGRESS = """generation,frames,seconds,champion_score,best_fitness,mean_fitness,learner_score,migrant_fate,fitness
1,100,0.5,0.5,0.5,0.25,0.0,discarded,0.5 0.0
2,200,1.0,,0.5,0.25,0.5,elite,0.5 0.0
3,300,1.5,1.0,1.0,0.5,0.5,selected,1.0 0.0
"""
FINAL = '{"mean": 0.75, "interval95": 0.1, "episodes": 200, "finished": true, "peak_memory_mb": 300}'

_WRITE = """
import os, pathlib, sys, time
folder, progress, final, body = sys.argv[1:]
(pathlib.Path(folder) / "progress.csv").write_text(progress)
exec(body)
(pathlib.Path(folder) / "final.json").write_text(final)
"""


def job(seed: int = 1, *, label: str = "MERL", frames: int = 300, changes: dict | None = None, algorithm="merl") -> Job:
    return Job(World("two-rovers"), Method(label, algorithm, TINY if changes is None else changes), seed, frames)


def command(folder: Path, body: str = "") -> list[str]:
    """Instead of training: write the progress, do what `body` says, write the end."""
    return [sys.executable, "-c", _WRITE, str(folder), PROGRESS, FINAL, body]


def experiment(*, worlds=("two-rovers",), methods=("MERL", "EA"), seeds=(1, 2)) -> Experiment:
    return Experiment(
        name="motivating",
        title="A title",
        shows="",
        figure="curves",
        worlds=tuple(World(name) for name in worlds),
        methods=tuple(Method(label, label.lower()) for label in methods),
        frames=300,
        quick=Quick(100, {}),
        seeds=seeds,
    )


class SilentBoard:
    """Remembers what it was told."""

    def __init__(self):
        self.done, self.lost, self.most = [], [], 0

    def start(self, total, finished, workers): ...

    def update(self, active, waiting):
        self.most = max(self.most, len(active))

    def finished(self, status):
        self.done.append(status.job.name)

    def failed(self, job, reason):
        self.lost.append((job.name, reason))

    def stop(self): ...
