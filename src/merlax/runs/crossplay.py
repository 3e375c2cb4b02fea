"""Every team against every opponent: a score against one's own sparring partner says little."""

from __future__ import annotations

import csv
import dataclasses
import io
from collections.abc import Sequence
from pathlib import Path

import jax

from merlax.algorithms import opponents as adversary
from merlax.runs import evaluation
from merlax.algorithms.opponents import Learnt, Scripted
from merlax.core.rollout import Opponent
from merlax.runs.reader import Run
from merlax.runs.evaluation import Score
from merlax.types import Key, UserError

SCRIPTED = "scripted"


@dataclasses.dataclass(frozen=True)
class Matrix:
    """Scores [team][opponent]."""

    world: str
    teams: tuple[str, ...]
    opponents: tuple[str, ...]
    scores: tuple[tuple[Score, ...], ...]

    def csv(self) -> str:
        """One row per pair."""
        text = io.StringIO()
        rows = csv.writer(text)
        rows.writerow(("world", "team", "opponent", "mean", "interval95", "episodes"))
        for team, line in zip(self.teams, self.scores, strict=True):
            for opponent, score in zip(self.opponents, line, strict=True):
                rows.writerow((self.world, team, opponent, score.mean, score.interval95, score.episodes))
        return text.getvalue()


def play(key: Key, runs: Sequence[Run], episodes: int) -> Matrix:
    """All champions against all opponents of these runs and the scripted one, on the same instances."""
    _check(runs)
    names = _names([run.path for run in runs])
    opponents: dict[str, Opponent] = {
        name: run.opponent for name, run in zip(names, runs, strict=True) if isinstance(run.opponent, Learnt)
    }
    opponents[SCRIPTED] = Scripted()
    scores = tuple(
        tuple(evaluation.evaluate(jax.random.clone(key), run.env, run.champion, episodes, o) for o in opponents.values())
        for run in runs
    )
    return Matrix(runs[0].world, tuple(names), tuple(opponents), scores)


def _check(runs: Sequence[Run]) -> None:
    """Only runs on one and the same world can be compared."""
    if not runs:
        raise UserError("Name at least one run folder.")
    first = runs[0]
    for run in runs:
        if run.opponent is None:
            raise UserError(f"The run in '{run.path}' is on {run.world}, which has no opponent; leave it out.")
        if run.env != first.env:
            raise UserError(
                f"'{run.path}' is a run on {run.world} but '{first.path}' on {first.world}; name runs on one."
            )
        if isinstance(run.opponent, Learnt):
            adversary.check_fits(run.opponent.policy, first.env, str(run.path))


def _names(paths: Sequence[Path]) -> list[str]:
    """The shortest ends of the paths that tell them apart."""
    parts = [path.resolve().parts for path in paths]
    if len(set(parts)) < len(parts):
        raise UserError("A run folder is named twice; name each once.")
    for length in range(1, max(map(len, parts)) + 1):
        names = ["/".join(part[-length:]) for part in parts]
        if len(set(names)) == len(names) and SCRIPTED not in names:
            return names
    return [str(path) for path in paths]
