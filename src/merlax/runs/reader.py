"""What a run has left behind, read again."""

from __future__ import annotations

import csv
import dataclasses
import importlib.metadata
import json
import platform
from pathlib import Path
from typing import Any

import jax
import numpy as np

from merlax import config, envs
from merlax.core.networks import TeamPolicy
from merlax.core.players import Player, PolicyPlayer, ScriptedPlayer
from merlax.core.rollout import Field
from merlax.envs.base import Env
from merlax.runs import policies
from merlax.runs.published import Published, published
from merlax.runs.recorders import ALWAYS
from merlax.types import UserError

FORMAT = 2  # of config.json; 1 had no such number
TEAM, OPPONENT = 0, 1  # sides
DDPG, SCRIPTED, FROZEN = "ddpg", "scripted", "frozen"  # kinds of opponents


@dataclasses.dataclass(frozen=True)
class Run:
    """A run folder, open for reading."""

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
    def field(self) -> Field:
        """Where its team plays: the world and, in a contest, the newest opponent."""
        return Field(self.env, () if self.opponent is None else (self.opponent,))

    @property
    def progress(self) -> dict[str, np.ndarray]:
        """The columns of `progress.csv`, as numbers where they are numbers; an empty cell is NaN."""
        text = (self.path / "progress.csv").read_text()
        rows = list(csv.DictReader(text[: text.rfind("\n") + 1].splitlines()))  # a last row without its end is not one
        return {name: _column([row[name] for row in rows]) for name in (rows[0] if rows else ALWAYS)}


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
        data = json.loads((path / "config.json").read_text())
        if not isinstance(data, dict) or not {"world", "env", "algorithm"} <= data.keys():
            raise ValueError("it does not describe a run")
        return data
    except (OSError, ValueError) as error:
        raise UserError(f"'{path}' is not a run folder of merlax: its config.json cannot be read ({error}).") from error


def is_finished(path: Path) -> bool:
    """Whether a run has reached its last frame."""
    try:
        return json.loads((path / "final.json").read_text()).get("finished") is True
    except (OSError, ValueError, AttributeError):
        return False


def env_record(env: Env) -> dict[str, Any]:
    """The fields of a world, as `config.json` has them; a world that is no dataclass has none."""
    return config.to_dict(env) if dataclasses.is_dataclass(env) else {}


def env_title(world: str | None, env: Env) -> str:
    """A world's name with what was chosen or changed: "rover-3 (num_poi 6, speed free, encoding clean)"."""
    resized = _resized(world, env)
    shown = ", ".join(f"{k} {v}" for k, v in env_record(env).items() if isinstance(v, str) or k in resized)
    name = world or type(env).__name__
    return f"{name} ({shown})" if shown else name


def _resized(world: str | None, env: Env) -> set[str]:
    """Which numbers of a named world are not its own."""
    if world not in envs.ids():  # it has no name, or one that is registered elsewhere
        return set()
    named = env_record(envs.make(world))
    return {k for k, v in env_record(env).items() if not isinstance(v, str) and v != named.get(k)}


def env_of(data: dict[str, Any], path: Path, env: Env | None) -> Env:
    """The world of a run: the named one with its parameters, or the one that the user gives."""
    if env is not None:
        return env
    name = data["world"]
    if not isinstance(name, str) or name not in envs.ids():
        raise UserError(f"The run in '{path}' was made on a world of its own; pass that world as `env`.")
    return config.merge(envs.make(name), data["env"], "env")


def opponent_kind(data: dict[str, Any]) -> str | None:
    """Whom a run's team met: DDPG, SCRIPTED, FROZEN, or nobody."""
    return (data.get("opponent") or {}).get("kind")


def load_opponent(path: Path, data: dict[str, Any], env: Env) -> Player | None:
    """The newest opponent that a run's team met; nothing if there was none."""
    kind = opponent_kind(data)
    if len(env.sides) == 1 or kind is None:
        return None
    if kind == SCRIPTED:
        return ScriptedPlayer(OPPONENT)
    policy = policies.load(path / "opponent")
    policies.check_fits(policy, env.sides[OPPONENT], f"The opponent in '{path}'")
    return PolicyPlayer(policy)


def versions() -> dict[str, Any]:
    """What else it takes to repeat a run."""
    packages = ("merlax", "jax", "jaxlib", "equinox", "optax", "numpy")
    found = {name: importlib.metadata.version(name) for name in packages}
    return {"versions": found | {"python": platform.python_version()}, "devices": jax.device_count()}


def _column(cells: list[str]) -> np.ndarray:
    try:
        return np.array([float(cell) if cell else np.nan for cell in cells])
    except ValueError:
        return np.array(cells)
