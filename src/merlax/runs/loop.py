"""The loop: generations, tests, records. Same seed, same rows, whatever the clock does."""

from __future__ import annotations

import dataclasses
import math
import signal
import time
from typing import Any

import jax
import numpy as np

from merlax.core import evolution, health as finite, rollout
from merlax.runs import signals
from merlax.algorithms.opponents import Learnt
from merlax.algorithms.base import Algorithm
from merlax.algorithms.match import Match
from merlax.runs.checkpoints import Position
from merlax.runs.display import Display
from merlax.envs.base import Env
from merlax.runs.writer import RunFolder
from merlax.core.networks import TeamPolicy
from merlax.core.rollout import Episode, Opponent
from merlax.runs.saving import Saver
from merlax.runs.signals import Caught
from merlax.types import Key, UserError

# Whatever else is not finite ends up in one of these, or in a weight, and then in a test of it.
MEASURES = ("best_fitness", "mean_fitness", "explore_score", "agent_reward", "critic_loss", "actor_loss",
            "opponent_critic_loss")  # fmt: skip
TESTS = ("champion_score", "opponent_score")
TEST_EPISODES = 10  # instances that the champion meets every generation, as in the paper


def check_budget(algorithm: Algorithm, frames: int) -> None:
    """Refuse a budget that ends before the first generation does."""
    if frames < algorithm.frames_per_generation:
        raise UserError(
            f"frames is {frames:,} but one generation alone takes up to {algorithm.frames_per_generation:,}; "
            "raise frames, or lower the population or the episodes."
        )


def run(
    match: Match,
    folder: RunFolder,
    display: Display,
    saver: Saver,
    *,
    frames: int,
    seed: int,
    resume: bool = False,
) -> int | None:
    """Train until another generation might exceed `frames`, from the newest checkpoint if it is to resume.

    Nothing is returned if it got there, else the signal that ended it, after a last checkpoint.
    """
    with signals.caught() as caught, folder.faults():
        try:
            return _run(match, folder, display, saver, caught, frames, jax.random.key(seed), resume)
        except KeyboardInterrupt:
            return caught.number or signal.SIGINT


def _run(
    match: Match, folder: RunFolder, display: Display, saver: Saver, caught: Caught, frames: int, key: Key, resume: bool
) -> int | None:
    state = match.init(jax.random.fold_in(key, 0))
    at = Position()
    if resume:
        at, state = saver.newest(state) or (at, state)
    _begin(match, folder, at, state)
    clock = time.monotonic() - at.seconds
    while at.frames + match.algorithm.frames_per_generation <= frames:
        if caught.number is not None:
            if at.generation:
                saver.save(at, state)
            return caught.number
        state, played = _generation(match, jax.random.fold_in(key, at.generation + 1), state)
        total = at.frames + int(played.metrics["frames"])
        row = _row(at.generation + 1, total, time.monotonic() - clock, played)
        _check_finite(row, state, saver)
        folder.check()
        _save_teams(folder, played.champion, played.opponent)
        folder.record(row)
        display.update(row)
        at = Position(row["generation"], total, row["seconds"])
        saver.maybe(at, state)
    return None


def _begin(match: Match, folder: RunFolder, at: Position, state: Any) -> None:
    """Bring the folder to where the state is; an opponent that never changes must be there from the start."""
    folder.begin(at.generation, at.frames)
    champion, opponent = jax.device_get((match.champion(state), match.opponent(state)))
    _save_teams(folder, champion if at.generation else None, opponent)


def _save_teams(folder: RunFolder, champion: TeamPolicy | None, opponent: Any) -> None:
    if champion is not None:
        folder.save_champion(champion)
    if isinstance(opponent, Learnt):
        folder.save_opponent(opponent.policy)


@dataclasses.dataclass(frozen=True)
class Played:
    """What one generation leaves for the record."""

    metrics: Any
    champion: TeamPolicy
    opponent: Any
    tested: Episode


def _generation(match: Match, key: Key, state: Any) -> tuple[Any, Played]:
    """One generation, and its champion's test."""
    key_step, key_test = jax.random.split(key)
    state, metrics = match.step(key_step, state)
    champion, opponent = jax.device_get((match.champion(state), match.opponent(state)))
    tested = rollout.play_test(key_test, match.algorithm.env, champion, TEST_EPISODES, opponent)
    return state, Played(metrics, champion, opponent, tested)


def _row(generation: int, frames: int, seconds: float, played: Played) -> dict[str, Any]:
    """One generation as it is written down."""
    values = {name: np.asarray(value) for name, value in played.metrics.items()}
    row: dict[str, Any] = {name: value.item() if value.ndim == 0 else value for name, value in values.items()}
    row |= {"generation": generation, "frames": frames, "seconds": round(seconds, 3)}
    row["champion_score"] = float(played.tested.fitness.mean())
    if played.tested.opponent_reward is not None:
        row["opponent_score"] = float(played.tested.opponent_reward.mean())
    if "migrant_fate" in row:
        row["migrant_fate"] = evolution.FATES[row["migrant_fate"]]
    return row


def _check_finite(row: dict[str, Any], state: Any, saver: Saver) -> None:
    """Stop where a number is not finite; one broken team is no reason, for evolution ranks it last."""
    place = _not_finite(row, state)
    if place:
        raise UserError(
            f"Training stopped in generation {row['generation']}: {place}; {saver.last_good()}. "
            "Lower the learning rates, or check what the world gives."
        )


def _not_finite(row: dict[str, Any], state: Any) -> str:
    """What is not finite, in words; nothing if all is well."""
    faults = [name for name, happened in zip(rollout.FAULTS, row["fault"], strict=True) if happened]
    cause = f", for the world gave {' and '.join(faults)} that is not finite" if faults else ""
    for name in MEASURES:
        if not math.isfinite(row.get(name, 0.0)):
            return f"{name} became {row[name]}{cause}"
    if not all(row[name].all() for name in ("sound", "opponent_sound") if name in row):
        return f"a weight in {' and '.join(_broken_parts(state))} is not finite"
    return next((f"{name} became {row[name]}{cause}" for name in TESTS if not math.isfinite(row.get(name, 0.0))), "")


def _broken_parts(state: Any) -> list[str]:
    team, theirs = state
    parts = finite.parts(team) | {f"the opponent's {name}": fine for name, fine in finite.parts(theirs).items()}
    return [name for name, fine in parts.items() if not fine]
