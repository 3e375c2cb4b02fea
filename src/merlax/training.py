"""The loop: generations, tests, records. Same seed, same rows, whatever the clock does."""

from __future__ import annotations

import dataclasses
import math
import time
from typing import Any

import jax
import numpy as np

from merlax import evolution, rollout
from merlax.adversary import Learnt
from merlax.algorithms.base import Algorithm
from merlax.algorithms.match import Match
from merlax.display import Display
from merlax.envs.base import Env
from merlax.networks import TeamPolicy
from merlax.rollout import Episode, Opponent
from merlax.runs import RunFolder
from merlax.types import Key, UserError

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
    *,
    frames: int,
    seed: int,
) -> bool:
    """Train until another generation might exceed `frames`; True if it got there, False if interrupted."""
    key = jax.random.key(seed)
    start = time.monotonic()
    generation = total = 0
    try:
        state = match.init(jax.random.fold_in(key, 0))
        while total + match.algorithm.frames_per_generation <= frames:
            generation += 1
            key_step, key_test = jax.random.split(jax.random.fold_in(key, generation))
            state, metrics = match.step(key_step, state)
            champion, opponent = jax.device_get((match.champion(state), match.opponent(state)))
            tested = rollout.play_test(key_test, match.algorithm.env, champion, TEST_EPISODES, opponent)
            total += int(metrics["frames"])
            row = _row(generation, total, time.monotonic() - start, tested, metrics)
            _check_finite(row)
            folder.save_champion(champion)
            if isinstance(opponent, Learnt):
                folder.save_opponent(opponent.policy)
            folder.record(row)
            display.update(row)
    except KeyboardInterrupt:
        return False
    return True


@dataclasses.dataclass(frozen=True)
class Score:
    """A team's mean score over fresh episodes, with the half-width of its 95% interval."""

    mean: float
    interval95: float
    episodes: int

    def __str__(self) -> str:
        return f"{self.mean:.3f} ± {self.interval95:.3f}"


def evaluate(key: Key, env: Env, policy: TeamPolicy, episodes: int, opponent: Opponent | None = None) -> Score:
    """Play fresh episodes without noise."""
    scores = np.asarray(rollout.play_test(key, env, policy, episodes, opponent).fitness, np.float64)
    half = 1.96 * float(scores.std(ddof=1)) / math.sqrt(episodes) if episodes > 1 else math.nan
    return Score(float(scores.mean()), half, episodes)


def _row(generation: int, frames: int, seconds: float, tested: Episode, metrics: Any) -> dict[str, Any]:
    """One generation as it is written down."""
    values = {name: np.asarray(value) for name, value in metrics.items()}
    row: dict[str, Any] = {name: value.item() if value.ndim == 0 else value for name, value in values.items()}
    row |= {"generation": generation, "frames": frames, "seconds": round(seconds, 3)}
    row["champion_score"] = float(tested.fitness.mean())
    if tested.opponent_reward is not None:
        row["opponent_score"] = float(tested.opponent_reward.mean())
    if "migrant_fate" in row:
        row["migrant_fate"] = evolution.FATES[row["migrant_fate"]]
    return row


def _check_finite(row: dict[str, Any]) -> None:
    for name in ("best_fitness", "mean_fitness", "critic_loss", "actor_loss", "agent_reward"):
        if not math.isfinite(row.get(name, 0.0)):
            raise UserError(
                f"{name} became {row[name]} in generation {row['generation']}, so training stopped; the run folder "
                "keeps everything before it. Lower the learning rates, or check the world's rewards."
            )
