"""What a run has left behind, read again."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import platform
from pathlib import Path
from typing import Any

import jax
import numpy as np

from merlax import config, envs, files
from merlax.core import devices
from merlax.core.networks import TeamPolicy
from merlax.core.players import Player, PolicyPlayer, ScriptedPlayer
from merlax.core.rollout import Field
from merlax.envs.base import Env
from merlax.figures import Replay
from merlax.runs import forms, policies
from merlax.runs import progress as rows
from merlax.runs.published import Published, published
from merlax.types import UserError, shown

FORMAT = 2  # of config.json; 1 had no such number
_RECORDED = ("world", "env", "algorithm", "preset", "settings", "frames", "seed")  # what continues a run
TEAM, OPPONENT = 0, 1  # sides
DDPG, SCRIPTED, FROZEN = "ddpg", "scripted", "frozen"  # kinds of opponents


@dataclasses.dataclass(frozen=True)
class Run:
    """A run folder, open for reading.

    Args:
        path: The folder.
        config: What its `config.json` says.
        env: The world.
        champion: The policy that it kept, a plain function: observations in, actions out.
        opponent: In a contest the newest opponent that the team met.

    Examples:
        >>> run = merlax.load("runs/tiny")
        >>> run.title
        'two-rovers (speed pinned, encoding clean)'
        >>> obs, state = run.env.reset(jax.random.key(0))
        >>> run.champion(obs).shape
        (2, 2)
    """

    path: Path
    config: dict[str, Any]
    env: Env
    champion: TeamPolicy
    opponent: Player | None = None  # the newest one that the team met, in a contest

    @property
    def title(self) -> str:
        """The world's name with what was chosen or changed: "rover-3 (num_poi 6, speed free, encoding clean)"."""
        return env_title(self.config["world"], self.env)

    @property
    def published(self) -> Published | None:
        """The paper's score on this world, unless its numbers were changed."""
        return None if _resized(self.config["world"], self.env) else published(self.config["world"])

    @property
    def player(self) -> Player:
        """Its champion, as one that plays."""
        return PolicyPlayer(self.champion)

    @property
    def field(self) -> Field:
        """Where its team plays: the world and, in a contest, the newest opponent."""
        return Field(self.env, () if self.opponent is None else (self.opponent,))

    @property
    def progress(self) -> dict[str, np.ndarray]:
        """The columns of `progress.csv`, as numbers where they are numbers; an empty cell is NaN."""
        return rows.columns(self.path / "progress.csv")

    def replay(self, seed: int = 0, episodes: int | None = None, compare: Run | str | Path | None = None) -> Replay:
        """Episodes of its champion, which a notebook plays where this is the value of a cell.

        Args:
            seed: Of the first instance.
            episodes: How many instances there are to choose from, 5 by default.
            compare: Another run on the same world, or the name of a hand rule, to be seen beside it.
        """
        from merlax.runs import replays, teams  # which need this file

        devices.use_compilation_cache()
        others = [] if compare is None else [teams.beside(self, compare)]
        return replays.replay([self, *others], seed, episodes)


def load(path: str | Path, env: Env | None = None) -> Run:
    """Open a run folder.

    Args:
        path: The folder.
        env: The world, if the run was made on one of your own; files do not name code to run.
    """
    path = Path(path)
    data = read_config(path)
    env = env_of(data, path, env)
    policy = policies.load(path / "champion")
    policies.check_fits(policy, env.sides[TEAM], f"The champion in '{path / 'champion'}'")
    return Run(path, data, env, policy, load_opponent(path, data, env))


def read_config(path: Path) -> dict[str, Any]:
    """What a run folder says of its run."""
    try:
        data = forms.read(path / "config.json", forms.Config, ("world", "env", "algorithm", "seed"))
        return forms.fill(forms.Config, data, _RECORDED if data.get("format") == FORMAT else ())
    except files.Unreadable as error:
        raise UserError(f"'{path}' is not a run folder of merlax: its config.json cannot be read ({error}).") from error


def read_final(path: Path) -> dict[str, Any]:
    """How a run ended."""
    try:
        return forms.read(path / "final.json", forms.Final)
    except files.Unreadable as error:
        raise UserError(f"The file '{path / 'final.json'}' cannot be read ({error}); let the run finish.") from error


def is_finished(path: Path) -> bool:
    """Whether a run has reached its last frame."""
    try:
        return read_final(path).get("finished") is True
    except UserError:
        return False


def env_record(env: Env) -> dict[str, Any]:
    """The fields of a world, as `config.json` has them; a world that is no dataclass has none."""
    return config.to_dict(env) if dataclasses.is_dataclass(env) else {}


def shape_record(env: Env) -> dict[str, Any]:
    """What makes any world known again, even one without fields: its class, its horizon and its sides' sizes."""
    sides = [policies.side_record(side) for side in env.sides]
    return {"class": type(env).__name__, "horizon": int(env.horizon), "sides": sides}


def env_title(world: str | None, env: Env) -> str:
    """A world's name with what was chosen or changed: "rover-3 (num_poi 6, speed free, encoding clean)"."""
    resized = _resized(world, env)
    shown = ", ".join(f"{k} {v}" for k, v in env_record(env).items() if (isinstance(v, str) and v) or k in resized)
    name = world or type(env).__name__
    return f"{name} ({shown})" if shown else name


def _resized(world: str | None, env: Env) -> set[str]:
    """Which numbers of a named world are not its own."""
    if world not in envs.ids():  # it has no name, or one that is registered elsewhere
        return set()
    named = env_record(envs.make(world))
    return {k for k, v in env_record(env).items() if not isinstance(v, str) and v != named.get(k)}


def env_of(data: dict[str, Any], path: Path, env: Env | None) -> Env:
    """The world of a run: the named one with its parameters, or the same again as the user gives it."""
    if env is not None:
        _refuse_other(path, _class_of(data) | data["env"] | (data.get("shape") or {}), env)
        return env
    if not envs.is_known(data["world"]):
        name = data["world"] or _class_of(data).get("class", "a world of your own")
        raise UserError(
            f"The run in '{path}' was made on {name}, which is not part of merlax; give that world again, in Python as "
            "`env`, on the command line as --env module:World."
        )
    return _with_fields(envs.make(data["world"]), data, path)


def env_like(path: Path, env: Env) -> Env:
    """A world of the class that a run was made on, with the parameters that it had there."""
    data = read_config(path)
    _refuse_other(path, _class_of(data), env)
    return _with_fields(env, data, path)


def _with_fields(env: Any, data: dict[str, Any], path: Path) -> Env:
    """A world with the parameters that a run says."""
    try:
        return config.merge(env, data["env"], "env")
    except UserError as error:
        raise UserError(f"In '{path / 'config.json'}', {error}") from error


def _class_of(data: dict[str, Any]) -> dict[str, Any]:
    """The name of the world's class, as a field; an older `config.json` says none for a world of the user's own."""
    if data["world"] in envs.ids():
        return {"class": type(envs.make(data["world"])).__name__}
    return {name: value for name, value in (data.get("shape") or {}).items() if name == "class"}


def _refuse_other(path: Path, recorded: dict[str, Any], env: Env) -> None:
    """Refuse a world that differs in anything that a run says of its own."""
    given = env_record(env) | shape_record(env)
    different = config.difference(recorded, {name: given.get(name) for name in recorded})
    if different:
        raise UserError(f"The run in '{path}' was made on another world than this: {different}.")


def opponent_kind(data: dict[str, Any]) -> str | None:
    """Whom a run's team met: DDPG, SCRIPTED, FROZEN, or nobody."""
    return (data.get("opponent") or {}).get("kind")


def load_opponent(path: Path, data: dict[str, Any], env: Env) -> Player | None:
    """The newest opponent that a run's team met; nothing if there was none."""
    kind = opponent_kind(data)
    if len(env.sides) == 1:
        return None
    if kind not in (DDPG, SCRIPTED, FROZEN):
        known = f"choose '{DDPG}', '{SCRIPTED}' or '{FROZEN}', as it was"
        raise UserError(f"The config.json in '{path}' names the opponent {shown(kind)}; {known}.")
    if kind == SCRIPTED:
        return ScriptedPlayer(OPPONENT)
    policy = policies.load(path / "opponent")
    policies.check_fits(policy, env.sides[OPPONENT], f"The opponent in '{path}'")
    return PolicyPlayer(policy)


def versions() -> dict[str, Any]:
    """What else it takes to repeat a run."""
    packages = ("merlax", "jax", "jaxlib", "equinox", "optax", "numpy")
    found = {name: importlib.metadata.version(name) for name in packages}
    return {
        "versions": found | {"python": platform.python_version()},
        "devices": devices.total(),
        "processes": jax.process_count(),
    }
