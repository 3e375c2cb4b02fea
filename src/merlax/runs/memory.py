"""What a run takes of memory, told from its sizes before anything is compiled."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterator
from typing import Any

from merlax.algorithms import sizes
from merlax.algorithms.game import Game
from merlax.algorithms.gradient import OffPolicy
from merlax.algorithms.merl import Merl
from merlax.core.td3 import Td3
from merlax.envs.adapters import workers
from merlax.envs.outside import HERE, Outside
from merlax.runs import free_memory
from merlax.types import UserError

# Measured by benchmarks/memory.py. The process is between one that compiles all its programs and one that finds them
# in the cache, which takes up to 300 MB less.
PROCESS_MB = (480, 600, 650)  # Python, JAX and all programs, by how many sides learn by gradients
TUNING_MB = 150  # programs of a team that is tuned
WORKER_MB = 60  # a process that plays a world outside JAX: 54 on simple_spread, 57 on multiwalker
# How often each is held at the peak: beside itself, its copies on other devices and what is made of it.
COPIES = {
    "population": 8,
    "learners": 3,
    "buffers": 1,
    "rollouts": 4,
    "playing": 1,
    "update": 1,
    "tuning": 4,
    "others": 4,
}


@dataclasses.dataclass(frozen=True)
class Estimate:
    """The memory of a run at its peak, in MB, whole and by what takes it."""

    total: int
    parts: dict[str, int]


def estimate(game: Game) -> Estimate:
    """The largest resident set of a process that trains this."""
    held = dataclasses.asdict(sizes.sizes(game))
    parts = {name: 4 * copies * held[name] // 2**20 for name, copies in COPIES.items()}  # whole, however large
    learners = sum(isinstance(algorithm, Merl | OffPolicy) for algorithm in (game.algorithm, game.opponent))
    tuned = isinstance(game.algorithm, Merl) and game.algorithm.tunes
    parts["process"] = PROCESS_MB[learners] + TUNING_MB * tuned
    if isinstance(game.env, Outside) and game.env.on == HERE:
        parts["workers"] = WORKER_MB * workers.number(game.env)
    return Estimate(sum(parts.values()), parts)


def check(game: Game, available: int | None = None) -> None:
    """Refuse a run that does not fit into the memory that is available (in MB), in one sentence that says why."""
    available = free_memory.available_mb() if available is None else available
    needed = estimate(game).total
    if needed > available:
        option = dominating(game)
        cause = f", most of it because of {option}," if option else ""
        raise UserError(
            f"This run would take about {readable(needed)} of memory{cause} but {readable(available)} are available "
            f"here; {'lower it' if option else 'make it smaller'}, or go on all the same with --ignore-memory."
        )


def dominating(game: Game) -> str:
    """The option that decides the estimate, with its value: the largest of which half would save a quarter or more.

    If there is none, the one of which half would save the most; nothing if the process itself takes nearly all.
    """
    whole, best, saved = estimate(game).total, "", 0
    for name, value, lowered in sorted(_lowered(game), key=lambda each: -_largest(each[1])):
        less = whole - estimate(lowered).total
        if less > saved:
            best, saved = f"{name} {_typed(value)}", less
        if 4 * saved >= whole:
            break
    return best if 10 * saved >= whole else ""


def _lowered(game: Game) -> Iterator[tuple[str, Any, Game]]:
    """Every whole number among the options, and the game with half of it."""
    for part, prefix in (("env", "env."), ("algorithm", ""), ("opponent", "opponent.")):
        for name, value, lowered in _halved(getattr(game, part)):
            yield f"--{prefix}{_option(name)}", value, _changed(game, part, lowered)


def _halved(config: Any) -> Iterator[tuple[str, Any, Any]]:
    """Every whole number in a configuration and its parts: its path, its value, and the same with half of it."""
    if not dataclasses.is_dataclass(config):
        return
    for field in dataclasses.fields(config):
        value = getattr(config, field.name)
        if _is_number(value):
            yield field.name, value, _changed(config, field.name, max(1, value // 2))
        elif isinstance(value, tuple) and value and all(map(_is_number, value)):
            yield field.name, value, _changed(config, field.name, tuple(max(1, item // 2) for item in value))
        elif isinstance(value, tuple):
            for i, item in enumerate(value):
                place = field.name if len(value) > 1 or not isinstance(item, Td3) else "td3"
                for path, number, lowered in _halved(item):
                    name = f"{place}.{i}.{path}" if place != "td3" else f"td3.{path}"
                    yield name, number, _changed(config, field.name, (*value[:i], lowered, *value[i + 1 :]))
        else:
            place = "td3" if isinstance(value, Td3) else field.name
            for path, number, lowered in _halved(value):
                yield f"{place}.{path}", number, _changed(config, field.name, lowered)


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _changed(config: Any, name: str, value: Any) -> Any:
    """A copy with another value, without the checks: half a buffer may not fit the batch."""
    changed = copy.copy(config)
    object.__setattr__(changed, name, value)
    return changed


def _option(path: str) -> str:
    return path.replace("_", "-")


def _typed(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _largest(value: Any) -> int:
    return max(value) if isinstance(value, tuple) else value


def readable(megabytes: int) -> str:
    """A size in words: "450 MB", "1.5 GB", "4,768 TB"."""
    size = float(min(megabytes, 10**40))  # a float holds no number of any size
    if size < 1000:
        return f"{size:.0f} MB"
    if size < 1000 * 2**10:
        return f"{size / 2**10:.1f} GB"
    return f"{size / 2**20:,.1f} TB" if size < 10**12 else f"{size / 2**20:.0e} TB"
