"""The run folder: what a run leaves behind, and how it is read again (DESIGN §2)."""

from __future__ import annotations

import csv
import dataclasses
import importlib.metadata
import json
import os
import platform
import shutil
from pathlib import Path
from typing import Any, cast

import jax
import numpy as np

from merlax import adversary, champions, config, envs
from merlax.adversary import Learnt, Scripted
from merlax.envs.base import Contest, Env
from merlax.networks import TeamPolicy
from merlax.types import UserError

COLUMNS: tuple[str, ...] = (
    "generation", "frames", "seconds", "champion_score", "best_fitness", "mean_fitness", "learner_score",
    "migrant_fate", "explore_score", "agent_reward", "critic_loss", "actor_loss", "updates", "opponent_score",
    "opponent_critic_loss", "fitness",
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
        """The world's name with its chosen variants: "rover-3 (speed free, encoding clean)"."""
        variants = ", ".join(f"{name} {value}" for name, value in self.config["env"].items() if isinstance(value, str))
        name = self.config["world"] or type(self.env).__name__
        return f"{name} ({variants})" if variants else name

    @property
    def progress(self) -> dict[str, np.ndarray]:
        """The columns of `progress.csv`, as numbers where they are numbers; an empty cell is NaN."""
        with open(self.path / "progress.csv", newline="") as file:
            rows = list(csv.DictReader(file))
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


class RunFolder:
    """A run folder, open for writing: every row is on disk as soon as it is reported."""

    def __init__(self, path: Path, settings: dict[str, Any], *, force: bool = False):
        self.path = path
        _claim(path, force)
        _write_text(path / "config.json", json.dumps(settings | versions(), indent=2) + "\n")
        self._file = open(path / "progress.csv", "w", newline="")  # noqa: SIM115
        self._rows = csv.DictWriter(self._file, COLUMNS, restval="", extrasaction="ignore")
        self._rows.writeheader()
        self._events = _event_writer(path)

    def record(self, row: dict[str, Any]) -> None:
        """Append one generation."""
        self._rows.writerow({name: _cell(value) for name, value in row.items()})
        self._file.flush()
        if self._events is not None:
            for name, value in row.items():
                if isinstance(value, int | float) and name not in ("generation", "frames"):
                    self._events.add_scalar(name, value, row["frames"])

    def save_champion(self, policy: TeamPolicy) -> None:
        """Replace the champion; a reader sees the old one or the new one, never half of one."""
        champions.save(self.path / "champion", policy)

    def save_opponent(self, policy: TeamPolicy) -> None:
        """Replace the opponent, likewise."""
        champions.save(self.path / "opponent", policy)

    def write_json(self, name: str, data: dict[str, Any]) -> None:
        """Add a small file of results."""
        _write_text(self.path / name, json.dumps(data, indent=2) + "\n")

    def close(self) -> None:
        self._file.close()
        if self._events is not None:
            self._events.close()


def free_path(parent: Path, name: str) -> Path:
    """`parent/name`, or the first of `name-2`, `name-3`, … that is not there yet."""
    path, number = parent / name, 2
    while path.exists():
        path, number = parent / f"{name}-{number}", number + 1
    return path


def versions() -> dict[str, Any]:
    """What else it takes to repeat a run."""
    packages = ("merlax", "jax", "jaxlib", "equinox", "optax", "numpy")
    found = {name: importlib.metadata.version(name) for name in packages}
    return {"versions": found | {"python": platform.python_version()}, "devices": jax.device_count()}


def _claim(path: Path, force: bool) -> None:
    """Make the folder, and make sure that it holds nobody else's run."""
    if (path / "config.json").exists():
        if not force:
            raise UserError(f"'{path}' holds a run already; choose another --out, or replace it with --force.")
        for old in ("config.json", "progress.csv", "final.json", "learning_curve.png", "champion.gif"):
            (path / old).unlink(missing_ok=True)
        for old in ("champion", "opponent", "events", "checkpoints"):
            shutil.rmtree(path / old, ignore_errors=True)
    try:
        path.mkdir(parents=True, exist_ok=True)
        probe = path / ".write-test"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise UserError(f"The folder '{path}' cannot be written ({error.strerror}); choose another --out.") from error


def _event_writer(path: Path) -> Any | None:
    """A TensorBoard writer, where the extra is installed."""
    try:
        from tensorboardX import SummaryWriter
    except ImportError:
        return None
    return SummaryWriter(str(path / "events"), flush_secs=10)


def _write_text(path: Path, text: str) -> None:
    temporary = path.with_name(path.name + ".new")
    temporary.write_text(text)
    os.replace(temporary, path)


def _cell(value: Any) -> Any:
    """A number as short as float32 allows; nothing for NaN."""
    if isinstance(value, float):
        return "" if np.isnan(value) else str(np.float32(value))
    if isinstance(value, np.ndarray):
        return " ".join(str(v) for v in value)
    return value


def _column(cells: list[str]) -> np.ndarray:
    try:
        return np.array([float(cell) if cell else np.nan for cell in cells])
    except ValueError:
        return np.array(cells)
