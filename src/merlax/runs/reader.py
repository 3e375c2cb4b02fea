"""What a run has left behind, read again (DESIGN §2)."""

from __future__ import annotations

import csv
import dataclasses
import importlib.metadata
import json
import platform
from pathlib import Path
from typing import Any, cast

import jax
import numpy as np

from merlax.algorithms import opponents as adversary
from merlax.runs import policies as champions
from merlax import config, envs
from merlax.algorithms.opponents import Learnt, Scripted
from merlax.envs.base import Contest, Env
from merlax.core.networks import TeamPolicy
from merlax.runs.published import Published, published
from merlax.types import UserError

COLUMNS: tuple[str, ...] = (
    "generation", "frames", "seconds", "champion_score", "best_fitness", "mean_fitness", "learner_score",
    "migrant_fate", "explore_score", "agent_reward", "critic_loss", "actor_loss", "updates", "opponent_score",
    "opponent_critic_loss", "broken_teams", "fitness",
)  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Run:
    """A run folder, open for reading."""

    path: Path
    config: dict[str, Any]
    env: Env
    champion: TeamPolicy
    opponent: Learnt | Scripted | None = None  # the newest one that the team met, in a contest

    @property
    def world(self) -> str:
        """The world's name with what was chosen or changed: "rover-3 (num_poi 6, speed free, encoding clean)"."""
        chosen, resized = config.to_dict(self.env).items(), self._resized()
        shown = ", ".join(f"{k} {v}" for k, v in chosen if isinstance(v, str) or k in resized)
        name = self.config["world"] or type(self.env).__name__
        return f"{name} ({shown})" if shown else name

    @property
    def published(self) -> Published | None:
        """The paper's score on this world, unless its numbers were changed."""
        return None if self._resized() else published(self.config["world"])

    def _resized(self) -> set[str]:
        """Which numbers of a named world are not its own."""
        if self.config["world"] not in envs.ids():  # it has no name, or one that is registered elsewhere
            return set()
        named = config.to_dict(envs.make(self.config["world"]))
        return {k for k, v in config.to_dict(self.env).items() if not isinstance(v, str) and v != named.get(k)}

    @property
    def progress(self) -> dict[str, np.ndarray]:
        """The columns of `progress.csv`, as numbers where they are numbers; an empty cell is NaN."""
        text = (self.path / "progress.csv").read_text()
        rows = list(csv.DictReader(text[: text.rfind("\n") + 1].splitlines()))  # a last row without its end is not one
        return {name: _column([row[name] for row in rows]) for name in (rows[0] if rows else COLUMNS)}


def load(path: str | Path, env: Env | None = None) -> Run:
    """Open a run folder. A run on a world of your own needs that world again, as `env`."""
    path = Path(path)
    data = read_config(path)
    _, env = world_of(data, path, env)
    policy = champions.load(path / "champion")
    champions.check_fits(policy, env, path / "champion")
    opponent = None
    if isinstance(env, Contest):
        learnt = load_opponent(path, env)
        opponent = Scripted() if learnt is None else Learnt(learnt)
    return Run(path, data, env, policy, opponent)


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


def world_of(data: dict[str, Any], path: Path, env: Env | None) -> tuple[str | None, Env]:
    """The world of a run: the given one, or the named one with its parameters."""
    if env is not None:
        return data["world"], env
    if data["world"] is None:
        raise UserError(f"The run in '{path}' was made on a world of its own; pass that world as `env`.")
    return data["world"], cast(Env, config.merge(envs.make(data["world"]), data["env"], "env"))


def load_opponent(path: Path, env: Env) -> TeamPolicy | None:
    """The opponent that a run folder holds; nothing if it was scripted."""
    if not isinstance(env, Contest):
        return None
    against = read_config(path).get("opponent") or {}
    if against.get("kind") == "scripted" or not against:
        return None
    policy = champions.load(path / "opponent")
    adversary.check_fits(policy, env, str(path))
    return policy


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
