"""Everything that defines a run, as data: from the user's options to `config.json`, and back to the same run."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from merlax import config, envs
from merlax.algorithms import presets
from merlax.algorithms.base import Algorithm
from merlax.algorithms.game import Game
from merlax.algorithms.gradient import OffPolicy
from merlax.algorithms.opponents import FixedOpponent
from merlax.core import devices
from merlax.core.players import PolicyPlayer, ScriptedPlayer
from merlax.envs import adapters, rules
from merlax.envs.adapters.foreign import Foreign
from merlax.envs.base import Env
from merlax.runs import reader, starts
from merlax.runs.reader import DDPG, FORMAT, FROZEN, OPPONENT, SCRIPTED, TEAM, Run
from merlax.runs.starts import Start
from merlax.types import UserError


@dataclasses.dataclass(frozen=True)
class Setup:
    """One run: a world, an algorithm, perhaps an opponent, and how long."""

    world: str | None  # its name, or that of the nearest named one
    env: Env
    method: str  # the algorithm's name
    preset: str
    algorithm: Algorithm
    frames: int
    seed: int
    opponent: Algorithm | None = None
    opponent_kind: str | None = None
    start: Start | None = None

    def game(self) -> Game:
        """What is to be trained."""
        return Game(self.env, self.algorithm, self.opponent, self.start and self.start.policy)

    def record(self) -> dict[str, Any]:
        """What `config.json` says."""
        opponent: dict[str, Any] | None = {"kind": self.opponent_kind} if self.opponent_kind else None
        if opponent and self.opponent_kind == DDPG:
            opponent["settings"] = config.to_dict(self.opponent)
        return {
            "format": FORMAT,
            "world": self.world,
            "env": reader.env_record(self.env),
            "shape": reader.shape_record(self.env),
            "algorithm": self.method,
            "preset": self.preset,
            "settings": config.to_dict(self.algorithm),
            "opponent": opponent,
            "start": self.start and self.start.record(),
            "frames": self.frames,
            "seed": self.seed,
        }

    @property
    def name(self) -> str:
        """A name for its folder."""
        world = (self.world or type(self.env).__name__).rpartition(":")[2]
        return f"{world.lower()}-{self.method.rpartition(':')[2].lower()}-seed{self.seed}"

    @property
    def title(self) -> str:
        """What is trained, and against whom: who learns is part of it."""
        against = {DDPG: " against a DDPG opponent that learns", SCRIPTED: " against the scripted opponent (fixed)",
                   FROZEN: " against a frozen opponent"}  # fmt: skip
        where = reader.env_title(self.world, self.env)
        return f"{self.method} on {where}{against.get(self.opponent_kind or '', '')}"


def plan(
    env: str | Env,
    algorithm: str | Algorithm = "merl",
    *,
    frames: int,
    seed: int,
    preset: str = "fast",
    settings: dict[str, Any] | None = None,
    opponent: str | Path | Algorithm | None = None,
    opponent_settings: dict[str, Any] | None = None,
    start: Run | str | Path | None = None,
    world: str | None = None,
) -> Setup:
    """A setup from what the user asks for.

    Args:
        env: A world, or the name of one.
        algorithm: An algorithm, or the name of one, whose settings the preset has.
        frames: Budget: joint steps of all training rollouts together.
        seed: Of everything random in the run.
        preset: "fast" or "paper".
        settings: Changes to the algorithm's fields, as a file has them.
        opponent: In a contest "ddpg", "scripted", a run folder whose opponent to meet, or an algorithm.
        opponent_settings: Changes to the fields of an opponent that learns.
        start: A run whose champion to begin with; none: random teams.
        world: The name of `env`, if it is known already.
    """
    world, env = (world, env) if world and not isinstance(env, str) else resolve(env)
    method = algorithm if isinstance(algorithm, str) else _name(algorithm)
    chosen = presets.preset(preset, world, algorithm) if isinstance(algorithm, str) else algorithm
    chosen = config.merge(chosen, settings or {})
    kind, other = _opponent(env, opponent, preset, world)
    if opponent_settings:
        if kind != DDPG:
            raise UserError("There is no opponent that learns in this run; leave its settings out.")
        other = config.merge(other, opponent_settings, "opponent")
    begun = None if start is None else starts.choose(start, env.sides[TEAM], chosen)
    return Setup(world, env, method, preset, chosen, frames, seed, other, kind, begun)


def from_record(data: dict[str, Any], where: Path, env: Env | None = None, algorithm: Algorithm | None = None) -> Setup:
    """The setup that `config.json` describes; a world or an algorithm of the user's own must be given again."""
    if data.get("format") != FORMAT:
        raise UserError(
            f"The run in '{where}' was made by another version of merlax, whose checkpoints this one cannot continue; "
            "its champion can still be evaluated and drawn."
        )
    env, world, method = reader.env_of(data, where, env), data["world"], data["algorithm"]
    if algorithm is None:
        if not isinstance(method, str) or method not in presets.names():
            raise UserError(
                f"The run in '{where}' was made with the algorithm '{method}', which is not part of merlax; give it "
                "again, in Python as `algorithm`, on the command line as --algorithm module:Name."
            )
        algorithm = config.merge(presets.preset(data["preset"], world, method), data["settings"], "settings")
    for what, recorded, given in (
        ("parameters of its world", data["env"], reader.env_record(env)),
        ("settings of its algorithm", data["settings"], config.to_dict(algorithm)),
    ):
        different = config.difference(recorded, given)
        if different:
            raise UserError(f"The run in '{where}' was made with other {what}: {different}.")
    kind, opponent = reader.opponent_kind(data), None
    if kind == DDPG:
        opponent = config.merge(
            presets.opponent(data["preset"], world), data["opponent"].get("settings", {}), "opponent"
        )
    elif kind is not None:
        opponent = FixedOpponent(_player(reader.load_opponent(where, data, env)))
    start = starts.load(where, data["start"], env.sides[TEAM]) if data.get("start") else None
    return Setup(world, env, method, data["preset"], algorithm, data["frames"], data["seed"], opponent, kind, start)


def resolve(env: str | Env) -> tuple[str | None, Env]:
    """A world and its name: of the named worlds of its type, the one with the fewest different fields."""
    if isinstance(env, str):
        if adapters.prefix_of(env):
            devices.prepare()  # other libraries start JAX when they make a world
        return env, envs.make(env)
    if isinstance(env, Foreign):  # another library's, which says its name
        return env.name, env  # type: ignore[return-value]
    named = {name: envs.make(name) for name in envs.ids()}
    own = reader.env_record(env)
    differences = lambda name: sum(  # noqa: E731
        value != own.get(field) for field, value in reader.env_record(named[name]).items()
    )
    return min((name for name, other in named.items() if type(other) is type(env)), key=differences, default=None), env


def _opponent(
    env: Env, asked: str | Path | Algorithm | None, preset: str, world: str | None
) -> tuple[str | None, Algorithm | None]:
    """Whom the team trains against, by kind and as an algorithm."""
    if len(env.sides) == 1:
        if asked is not None:
            raise UserError(f"This world has no opponent, so it cannot be '{asked}'; leave the opponent out.")
        return None, None
    if isinstance(asked, Algorithm):
        if not isinstance(asked, OffPolicy):
            raise UserError("An opponent learns from the team's rollouts: give an OffPolicy, such as opponents.ddpg().")
        return DDPG, asked
    if asked is None or asked == DDPG:
        return DDPG, presets.opponent(preset, world)
    if asked == SCRIPTED:
        if SCRIPTED not in rules.of(env, OPPONENT):
            raise UserError("This world has no rule for its opponent (no `rules`); choose ddpg, or a run folder.")
        return SCRIPTED, FixedOpponent(ScriptedPlayer(OPPONENT))
    if not Path(asked).exists():
        raise UserError(f"There is no opponent '{asked}'; choose ddpg, scripted, or a run folder that holds one.")
    player = reader.load_opponent(Path(asked), reader.read_config(Path(asked)), env)
    if not isinstance(player, PolicyPlayer):
        raise UserError(f"The run in '{asked}' holds no opponent that learnt; choose ddpg, scripted, or another run.")
    return FROZEN, FixedOpponent(player)


def _player(found: Any) -> Any:
    if found is None:
        raise UserError("The run's world has no opponent, though its config.json names one.")
    return found


def _name(algorithm: Algorithm) -> str:
    """How `config.json` mentions an algorithm that was given as an object."""
    if not isinstance(algorithm, Algorithm):
        raise UserError(f"{algorithm!r} is no algorithm; give a name such as 'merl', or an object such as Merl().")
    named = {type(presets.preset("fast", None, name)): name for name in reversed(presets.BUILT_IN)}
    return named.get(type(algorithm), config.name_of(type(algorithm)))
