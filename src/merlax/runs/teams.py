"""A team and where it plays: a run's champion, or a hand rule in its place."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from merlax import envs
from merlax.core.players import Player, ScriptedPlayer
from merlax.core.rollout import Field
from merlax.envs import rules
from merlax.envs.base import Env
from merlax.envs.rules import SCRIPTED
from merlax.runs import evaluation, reader, setup
from merlax.runs.evaluation import FINAL_EPISODES, Score
from merlax.runs.reader import OPPONENT, TEAM, Run
from merlax.types import UserError


@dataclasses.dataclass(frozen=True)
class Lineup:
    """Who plays where: as a `Run`, it has a title, a world, a player and, in a contest, an opponent."""

    title: str
    name: str
    env: Env
    player: Player
    opponent: Player | None = None

    @property
    def field(self) -> Field:
        """Where the team plays."""
        if self.opponent is None and len(self.env.sides) > 1:
            raise UserError(f"{self.title} has no rule for its opponent (no `rules`); name a run that has one.")
        return Field(self.env, () if self.opponent is None else (self.opponent,))


def find(target: Run | Lineup | Env | str | Path, rule: str | None = None, env: Env | None = None) -> Run | Lineup:
    """A run; or, with the name of a rule, that rule on a world, or on a run's world against the run's opponent.

    Args:
        target: A run or its folder, or, with a rule, a world or its name.
        rule: A hand rule of the world; none: the run's champion plays.
        env: The world of a run again, if it is one of your own.
    """
    if isinstance(target, Lineup):
        return target
    if isinstance(target, Run):
        if env is not None:
            reader.env_of(target.config, target.path, env)  # which refuses another than the run's
        return target if rule is None else by_rule(target, rule)
    if not isinstance(target, str | Path):
        if rule is None:
            raise UserError(f"A world alone has no team; name a rule, such as team='{SCRIPTED}', or a run.")
        return by_rule(target, rule)
    if rule is not None and is_world(target):
        return by_rule(str(target), rule)
    if is_world(target) and not Path(target).exists():
        raise UserError(
            f"'{target}' is a world, not a run folder; name a run, or a hand rule of it, such as --team {SCRIPTED} "
            f"(in Python team='{SCRIPTED}')."
        )
    run = reader.load(target, env)
    return run if rule is None else by_rule(run, rule)


def beside(first: Run | Lineup, other: Run | Lineup | str | Path, env: Env | None = None) -> Run | Lineup:
    """Who is seen beside a team: another run's, or a hand rule where the first one plays."""
    if is_rule(first, other):
        title = f"{other} beside {first.title}"
        return Lineup(title, str(other), first.env, ScriptedPlayer(TEAM, str(other)), first.opponent)
    return find(other, env=env)


def is_rule(first: Run | Lineup, other: Run | Lineup | str | Path) -> bool:
    """Whether these words name a hand rule of a team's world rather than a folder."""
    return isinstance(other, str | Path) and not Path(other).exists() and str(other) in rules.of(first.env, TEAM)


def is_world(target: str | Path) -> bool:
    """Whether these words name a world rather than a folder."""
    return str(target) in envs.ids() or (":" in str(target) and not Path(target).exists())


def by_rule(where: Run | Env | str, rule: str) -> Lineup:
    """A hand rule as the team: on a run's world, against its opponent, or on a world, against the scripted one."""
    if isinstance(where, Run):
        rules.check(where.env, rule)
        return Lineup(f"{rule} on {where.title}", rule, where.env, ScriptedPlayer(TEAM, rule), where.opponent)
    world, env = setup.resolve(where)
    rules.check(env, rule)
    contest = len(env.sides) > 1 and SCRIPTED in rules.of(env, OPPONENT)
    opponent = ScriptedPlayer(OPPONENT) if contest else None
    return Lineup(f"{rule} on {reader.env_title(world, env)}", rule, env, ScriptedPlayer(TEAM, rule), opponent)


def yardsticks(where: Run | Env, episodes: int = FINAL_EPISODES) -> dict[str, Score]:
    """How well the hand rules do that a figure shows, by name, on a run's world and against its opponent."""
    env = where.env if isinstance(where, Run) else where
    lineups = {rule: by_rule(where, rule) for rule in rules.drawn(env)}
    key = evaluation.evaluation_key
    return {rule: evaluation.evaluate(key(0), own.field, own.player, episodes) for rule, own in lineups.items()}


def label(rule: str) -> str:
    """What a figure calls a hand rule."""
    return "hand rule" if rule == SCRIPTED else f"{rule} rule"
