"""What an experiment may measure of its finished runs, beyond the scores that each of them has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

import jax
import numpy as np

from merlax.algorithms.evolutionary import random_teams
from merlax.core import devices
from merlax.core.players import Player, PolicyPlayer, ScriptedPlayer
from merlax.core.rollout import Field
from merlax.experiments.spec import Job
from merlax.runs import crossplay, evaluation, reader
from merlax.runs.reader import OPPONENT, SCRIPTED, TEAM, Run

CROSSPLAY_EPISODES, TOUCH_EPISODES = 500, 1000
UNTRAINED = 20  # teams


def against_each_other(jobs: Sequence[Job], root: Path) -> Iterator[tuple[Job, str, float]]:
    """Every team of a world against every opponent of that world's runs and the scripted one.

    A score against the opponent that a team has trained with says little: that one may merely be easier.
    """
    devices.prepare()
    for _, group in groupby(jobs, key=lambda job: job.task.label):
        own = list(group)
        runs = [reader.load(root / job.folder) for job in own]
        matrix = crossplay.play(evaluation.evaluation_key(0), runs, CROSSPLAY_EPISODES)
        for job, line in zip(own, matrix.scores, strict=False):  # the hand rule's row comes after those of the runs
            yield job, "score_against_all", float(np.mean([score.mean for score in line]))
            yield job, "score_against_scripted", line[matrix.opponents.index(SCRIPTED)].mean


def beside_untrained_teams(jobs: Sequence[Job], root: Path) -> Iterator[tuple[Job, str, float]]:
    """The champion and untrained teams on the same instances: against the run's own opponent, and the scripted one."""
    devices.prepare()
    for job in jobs:
        run = reader.load(root / job.folder)
        assert run.opponent is not None, "only contests are measured like this"
        layers = tuple(run.config["settings"]["actor_hidden"])
        teams = random_teams(jax.random.key(job.seed), run.env.sides[TEAM], layers, UNTRAINED)
        untrained = [PolicyPlayer(jax.tree.map(lambda leaf, i=i: leaf[i], teams)) for i in range(UNTRAINED)]
        for name, opponent in (("own", run.opponent), ("scripted", ScriptedPlayer(OPPONENT))):
            yield job, f"score_against_{name}", _score(run, PolicyPlayer(run.champion), opponent)
            scores = [_score(run, team, opponent) for team in untrained]
            yield job, f"untrained_score_against_{name}", float(np.mean(scores))


def _score(run: Run, team: Player, opponent: Player) -> float:
    field = Field(run.env, (opponent,))
    return evaluation.evaluate(evaluation.evaluation_key(0), field, team, TOUCH_EPISODES).mean
