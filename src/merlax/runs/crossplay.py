"""Every team against every opponent: a score against one's own sparring partner says little."""

from __future__ import annotations

import csv
import dataclasses
import io
import itertools
from collections.abc import Sequence
from pathlib import Path

import jax

from merlax.core.players import Player, PolicyPlayer, ScriptedPlayer
from merlax.core.rollout import Field
from merlax.envs import rules
from merlax.runs import evaluation, policies, terminal
from merlax.runs.evaluation import Score
from merlax.runs.reader import OPPONENT, SCRIPTED, TEAM, Run
from merlax.runs.teams import Lineup
from merlax.types import Key, UserError


@dataclasses.dataclass(frozen=True)
class Matrix:
    """Scores [team][opponent]."""

    title: str  # of the world
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
                half = "" if score.interval95 is None else score.interval95
                rows.writerow((self.title, team, opponent, score.mean, half, score.episodes))
        return text.getvalue()


def play(key: Key, runs: Sequence[Run], episodes: int) -> Matrix:
    """All champions and the hand rule against all opponents and the scripted one, on the same instances."""
    _check(runs)
    names = _names([run.path for run in runs])
    opponents: dict[str, Player] = {
        name: run.opponent for name, run in zip(names, runs, strict=True) if isinstance(run.opponent, PolicyPlayer)
    }
    env = runs[0].env
    if SCRIPTED in rules.of(env, OPPONENT):
        opponents[SCRIPTED] = ScriptedPlayer(OPPONENT)
    teams: dict[str, Player] = {name: run.player for name, run in zip(names, runs, strict=True)}
    if SCRIPTED in rules.of(env, TEAM):
        teams[SCRIPTED] = ScriptedPlayer(TEAM)

    fields = [Field(env, (opponent,)) for opponent in opponents.values()]
    pairs = [(field, team) for team in teams.values() for field in fields]
    played = (part for pair in pairs for part in evaluation.play(jax.random.clone(key), *pair, episodes))
    parts = evaluation.num_parts(env, episodes)
    shown = terminal.bar(played, parts * len(pairs), f"{len(pairs)} pairs")
    scores = tuple(tuple(evaluation.score(itertools.islice(shown, parts)) for _ in fields) for _ in teams)
    return Matrix(runs[0].title, tuple(teams), tuple(opponents), scores)


def opponent_of(run: Run | Lineup, against: Run | str) -> Player:
    """Whom a team meets instead of its own opponent: one that follows a rule, or that of the run `against`."""
    if len(run.env.sides) == 1 or (isinstance(run, Run) and run.opponent is None):
        raise UserError(f"{run.title} has no opponent; leave --against out.")
    if isinstance(against, str):
        rules.check(run.env, against, OPPONENT)
        return ScriptedPlayer(OPPONENT, against)
    if type(against.env) is not type(run.env) or against.opponent is None:
        raise UserError(f"The opponent in '{against.path}' was made for {against.title}, not for {run.title}.")
    if isinstance(against.opponent, PolicyPlayer):
        policies.check_fits(against.opponent.policy, run.env.sides[OPPONENT], f"The opponent in '{against.path}'")
    return against.opponent


def _check(runs: Sequence[Run]) -> None:
    """Only runs on one and the same world can be compared."""
    if not runs:
        raise UserError("Name at least one run folder.")
    first = runs[0]
    for run in runs:
        if run.opponent is None:
            raise UserError(f"The run in '{run.path}' is on {run.title}, which has no opponent; leave it out.")
        if run.env != first.env:
            raise UserError(
                f"'{run.path}' is a run on {run.title} but '{first.path}' on {first.title}; name runs on one."
            )


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
