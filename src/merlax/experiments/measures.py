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
AGAINST = "score_against_"  # whom, in the name of a measure


def against_each_other(jobs: Sequence[Job], root: Path) -> Iterator[tuple[Job, str, float]]:
    """Every team of a world against all opponents of that world's runs and the scripted one, and against that alone.

    A score against the opponent that a team has trained with says little: that one may merely be easier.
    """
    for job, _, scores in _all_pairs(jobs, root):
        yield job, f"{AGAINST}all", float(np.mean(list(scores.values())))
        yield job, f"{AGAINST}{SCRIPTED}", scores[SCRIPTED]


def against_each_method(jobs: Sequence[Job], root: Path) -> Iterator[tuple[Job, str, float]]:
    """Every team of a world against each method's opponents, on average over seeds, and the scripted one."""
    for job, rivals, scores in _all_pairs(jobs, root):
        methods = {rival.method.label: [] for rival in rivals.values()}
        for name, rival in rivals.items():
            methods[rival.method.label].append(scores[name])
        for method, own in methods.items():
            yield job, f"{AGAINST}{method}", float(np.mean(own))
        yield job, f"{AGAINST}{SCRIPTED}", scores[SCRIPTED]


def _all_pairs(jobs: Sequence[Job], root: Path) -> Iterator[tuple[Job, dict[str, Job], dict[str, float]]]:
    """Each run with all runs on its world, by their names, and its team's score against each of their opponents."""
    devices.prepare()
    for _, group in groupby(jobs, key=lambda job: job.task.label):
        own = list(group)
        runs = [reader.load(root / job.folder) for job in own]
        matrix = crossplay.play(evaluation.evaluation_key(0), runs, CROSSPLAY_EPISODES)
        rivals = dict(zip(matrix.teams, own, strict=False))  # the hand rule's row comes after those of the runs
        for job, line in zip(own, matrix.scores, strict=False):
            yield job, rivals, dict(zip(matrix.opponents, (score.mean for score in line), strict=True))


def beside_the_hand_rule(jobs: Sequence[Job], root: Path) -> Iterator[tuple[Job, str, float]]:
    """The champion and the world's hand rule, on the same instances against the run's own opponent and the scripted."""
    devices.prepare()
    for job in jobs:
        run = reader.load(root / job.folder)
        matrix = crossplay.play(evaluation.evaluation_key(0), [run], RULE_EPISODES)
        (own, scripted), (rule, _) = matrix.scores  # what the rule scores against the scripted one, every figure shows
        yield job, f"{AGAINST}own", own.mean
        yield job, "rule_against_own", rule.mean
        yield job, f"{AGAINST}{SCRIPTED}", scripted.mean
