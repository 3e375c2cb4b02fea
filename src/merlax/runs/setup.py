"""Everything that defines a run, as data: from the user's options to `config.json`, and back to the same run."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from merlax.algorithms import opponents as adversary, presets
from merlax import algorithms, config, envs
from merlax.runs import reader as runs
from merlax.algorithms.opponents import Adversary, AdversaryConfig, Fixed, Learnt, Scripted
from merlax.algorithms.match import Match
from merlax.envs.base import Contest, Env
from merlax.core.networks import TeamPolicy
from merlax.types import UserError

DDPG, SCRIPTED, FROZEN = "ddpg", "scripted", "frozen"


@dataclasses.dataclass(frozen=True)
class Setup:
    """One run: a world, an algorithm, perhaps an opponent, and how long."""

    world: str | None
    env: Env
    algorithm: str
    preset: str
    settings: Any
    frames: int
    seed: int
    opponent: str | None = None  # in a contest: DDPG, SCRIPTED or FROZEN
    adversary: AdversaryConfig | None = None  # how DDPG learns
    frozen: TeamPolicy | None = None

    def match(self) -> Match:
        """The algorithm and its opponent."""
        algorithm = algorithms.make(self.algorithm, self.env, self.settings)
        if self.opponent is None:
            return Match(algorithm)
        if self.opponent == DDPG:
            return Match(algorithm, Adversary(self.env, self.adversary or AdversaryConfig()))
        return Match(algorithm, Fixed(Scripted() if self.frozen is None else Learnt(self.frozen)))

    def record(self) -> dict[str, Any]:
        """What `config.json` says."""
        against: dict[str, Any] = {"kind": self.opponent}
        if self.opponent == DDPG:
            against["config"] = config.to_dict(self.adversary)
        return {
            "world": self.world,
            "env": config.to_dict(self.env),
            "algorithm": self.algorithm,
            "preset": self.preset,
            "opponent": against if self.opponent else None,
            "frames": self.frames,
            "seed": self.seed,
            "config": config.to_dict(self.settings),
        }

    @property
    def name(self) -> str:
        """The world's name, or its type's."""
        return self.world or type(self.env).__name__

    @property
    def title(self) -> str:
        """What is trained, and against whom: who learns is part of it."""
        against = {DDPG: " against a DDPG opponent that learns", SCRIPTED: " against the scripted opponent (fixed)",
                   FROZEN: " against a frozen opponent"}  # fmt: skip
        return f"{self.algorithm} on {self.name}{against.get(self.opponent or '', '')}"


def plan(
    env: str | Env,
    algorithm: str,
    *,
    frames: int,
    seed: int,
    preset: str,
    changes: Any = None,
    opponent: str | Path | None = None,
    adversary_changes: Any = None,
    world: str | None = None,
) -> Setup:
    """A setup from what the user asks for; `changes` are to the preset, as a dict or as a whole configuration.

    In a dict, those under "adversary" are the opponent's.
    """
    algorithms.check(algorithm)
    if world is None or isinstance(env, str):
        world, env = resolve(env)
    kind, frozen = _opponent(env, opponent)
    changes, theirs = divide(changes, env)
    adversary_changes = theirs if adversary_changes is None else adversary_changes
    settings = _changed(presets.preset(preset, world, algorithm), changes)
    rival = _changed(presets.adversary(preset, world), adversary_changes, "adversary") if kind == DDPG else None
    return Setup(world, env, algorithm, preset, settings, frames, seed, kind, rival, frozen)


def from_record(data: dict[str, Any], where: Path, env: Env | None = None) -> Setup:
    """The setup that `config.json` describes; a world of the user's own must be given."""
    world, env = runs.world_of(data, where, env)
    against = data.get("opponent") or {}
    settings = config.merge(presets.preset(data["preset"], world, data["algorithm"]), data["config"])
    rival = config.merge(presets.adversary(data["preset"], world), against["config"]) if "config" in against else None
    frozen = runs.load_opponent(where, env) if against.get("kind") == FROZEN else None
    return Setup(
        world, env, data["algorithm"], data["preset"], settings, data["frames"], data["seed"],
        against.get("kind"), rival, frozen,
    )  # fmt: skip


def resolve(env: str | Env) -> tuple[str | None, Env]:
    """A world and its name: of the named worlds of its type, the one with the fewest different fields."""
    if isinstance(env, str):
        return env, envs.make(env)
    named = {name: envs.make(name) for name in envs.ids()}
    alike = [name for name, other in named.items() if type(other) is type(env)]
    differences = lambda name: sum(  # noqa: E731
        getattr(named[name], field.name) != getattr(env, field.name)
        for field in dataclasses.fields(env)  # type: ignore[arg-type]
    )
    return min(alike, key=differences, default=None), env


def _opponent(env: Env, asked: str | Path | None) -> tuple[str | None, TeamPolicy | None]:
    """Whom the team trains against: `ddpg`, `scripted`, or the opponent that a run folder holds."""
    if not isinstance(env, Contest):
        if asked is not None:
            raise UserError(f"This world has no opponent, so it cannot be '{asked}'; leave the opponent out.")
        return None, None
    if asked is None or asked in (DDPG, SCRIPTED):
        return str(asked or DDPG), None
    if not Path(asked).exists():
        raise UserError(f"There is no opponent '{asked}'; choose ddpg, scripted, or a run folder that holds one.")
    policy = runs.load_opponent(Path(asked), env)
    if policy is None:
        raise UserError(f"The run in '{asked}' holds no opponent that learnt; choose ddpg, scripted, or another run.")
    adversary.check_fits(policy, env, str(asked))
    return FROZEN, policy


def divide(changes: Any, env: Env) -> tuple[Any, Any]:
    """Changes to the team's settings, and those to its opponent's."""
    if not isinstance(changes, dict) or "adversary" not in changes:
        return changes, None
    if not isinstance(env, Contest):
        raise UserError("This world has no opponent; leave 'adversary' out of the config.")
    return {name: value for name, value in changes.items() if name != "adversary"}, changes["adversary"]


def _changed(default: Any, changes: Any, what: str = "config") -> Any:
    if isinstance(changes, dict):
        return config.merge(default, changes, what)
    return default if changes is None else changes
