"""The run folder: what a run leaves behind, and how it is read again (DESIGN §2)."""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import errno
import importlib.metadata
import io
import json
import os
import platform
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, cast

import jax
import numpy as np

from merlax import adversary, champions, config, envs, locks
from merlax.adversary import Learnt, Scripted
from merlax.envs.base import Contest, Env
from merlax.events import Events
from merlax.networks import TeamPolicy
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
        """The world's name with its chosen variants: "rover-3 (speed free, encoding clean)"."""
        variants = ", ".join(f"{name} {value}" for name, value in self.config["env"].items() if isinstance(value, str))
        name = self.config["world"] or type(self.env).__name__
        return f"{name} ({variants})" if variants else name

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


class RunFolder:
    """A run folder, open for writing, by one process: every row is on disk as soon as it is reported."""

    def __init__(self, path: Path, settings: dict[str, Any] | None = None, *, force: bool = False):
        """A new run with these settings; without settings, the run that the folder holds already."""
        self.path = path
        self._file: io.FileIO | None = None
        self._events: Events | None = None
        if settings is None:
            self.config = read_config(path)
            self._lock = _locked(path)
            return
        _refuse_taken(path, force)
        _make_writable(path)
        self._lock = _locked(path)
        with self.faults():
            _refuse_taken(path, force)
            _clear(path)
            text = json.dumps(settings | versions(), indent=2) + "\n"
            self.config = json.loads(text)
            _write_text(path / "config.json", text)

    def begin(self, generation: int, frames: int) -> None:
        """Keep the rows of the generations that are done, drop what came after them, and go on from there."""
        kept = _rows_until(self.path / "progress.csv", generation)
        _write_text(self.path / "progress.csv", "".join(kept) or _line({name: name for name in COLUMNS}))
        self._file = open(self.path / "progress.csv", "ab", buffering=0)  # noqa: SIM115
        with contextlib.suppress(ImportError):
            self._events = Events(self.path / "events", frames + 1 if generation else None)

    def record(self, row: dict[str, Any]) -> None:
        """Append one generation, whole or not at all."""
        assert self._file is not None, "`begin` comes first"
        end = self._file.seek(0, os.SEEK_END)
        line = _line({name: _cell(value) for name, value in row.items()}).encode()
        try:
            if self._file.write(line) != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError:
            self._file.truncate(end)
            raise
        if self._events is not None:
            self._events.add(row, row["frames"])

    def save_champion(self, policy: TeamPolicy) -> None:
        """Replace the champion; a reader sees the old one or the new one, never half of one."""
        champions.save(self.path / "champion", policy)

    def save_opponent(self, policy: TeamPolicy) -> None:
        """Replace the opponent, likewise."""
        champions.save(self.path / "opponent", policy)

    def write_json(self, name: str, data: dict[str, Any]) -> None:
        """Add a small file of results."""
        _write_text(self.path / name, json.dumps(data, indent=2) + "\n")

    def check(self) -> None:
        """Refuse to go on if somebody has taken the folder away: what is written now would be lost."""
        with contextlib.suppress(OSError):
            if self._file is None or _is_open(self.path / "progress.csv", self._file):
                return
        raise UserError(
            f"The run folder '{self.path}' was removed or replaced while the run went on, so training stopped."
        )

    @contextlib.contextmanager
    def faults(self) -> Iterator[None]:
        """Say in one sentence what the disk refused."""
        try:
            yield
        except OSError as error:
            self.check()
            raise UserError(
                f"The run in '{self.path}' cannot be written ({error.strerror or error}), so it stopped; nothing that "
                f"was reported is lost. Make room there and go on with `merlax resume {self.path}`."
            ) from error

    def close(self) -> None:
        """Let go of the files and of the lock."""
        with contextlib.suppress(OSError):
            if self._file is not None:
                self._file.close()
            if self._events is not None:
                self._events.close()
        self._lock.close()


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


def _refuse_taken(path: Path, force: bool) -> None:
    if (path / "config.json").exists() and not force:
        raise UserError(f"'{path}' holds a run already; choose another --out, or replace it with --force.")


def _make_writable(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
        probe = path / ".write-test"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise UserError(f"The folder '{path}' cannot be written ({error.strerror}); choose another --out.") from error


def _locked(path: Path) -> IO[bytes]:
    try:
        return locks.take(path)
    except OSError as error:
        raise UserError(f"The folder '{path}' cannot be written ({error.strerror}).") from error


def _clear(path: Path) -> None:
    """Remove an older run."""
    for old in ("config.json", "progress.csv", "final.json", "learning_curve.png", "champion.gif"):
        (path / old).unlink(missing_ok=True)
    for old in ("champion", "opponent", "events", "checkpoints"):
        shutil.rmtree(path / old, ignore_errors=True)


def _rows_until(path: Path, generation: int) -> list[str]:
    """The header and the rows of the first generations, as text."""
    if generation == 0:
        return []
    try:
        lines = path.read_text().splitlines(keepends=True)[: generation + 1]
    except OSError:
        lines = []
    if len(lines) != generation + 1 or not lines[-1].endswith("\n") or not lines[-1].startswith(f"{generation},"):
        raise UserError(f"'{path}' lacks rows that were written before the checkpoint; put the file back.")
    return lines


def _is_open(path: Path, file: io.FileIO) -> bool:
    """Whether the path still leads to this open file."""
    return os.path.samestat(os.stat(path), os.fstat(file.fileno()))


def _line(row: dict[str, Any]) -> str:
    text = io.StringIO()
    csv.DictWriter(text, COLUMNS, restval="", extrasaction="ignore", lineterminator="\n").writerow(row)
    return text.getvalue()


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
