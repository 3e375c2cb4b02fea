"""What an experiment may measure of its finished runs, beyond the scores that each of them has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

import numpy as np

from merlax.core import devices
from merlax.experiments.spec import Job
from merlax.runs import crossplay, evaluation, reader
from merlax.runs.reader import SCRIPTED

CROSSPLAY_EPISODES, RULE_EPISODES = 500, 1000


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


def beside_the_hand_rule(jobs: Sequence[Job], root: Path) -> Iterator[tuple[Job, str, float]]:
    """The champion and the world's hand rule, on the same instances against the run's own opponent and the scripted."""
    devices.prepare()
    for job in jobs:
        run = reader.load(root / job.folder)
        matrix = crossplay.play(evaluation.evaluation_key(0), [run], RULE_EPISODES)
        (own, scripted), (rule, _) = matrix.scores  # what the rule scores against the scripted one, every figure shows
        yield job, "score_against_own", own.mean
        yield job, "rule_against_own", rule.mean
        yield job, "score_against_scripted", scripted.mean
