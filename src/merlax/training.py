"""The loop: generations, tests, records. Same seed, same rows, whatever the clock does."""

from __future__ import annotations

import dataclasses
import math
import time
from typing import Any

import jax
import numpy as np

from merlax import evolution, rollout
from merlax.algorithms.base import Algorithm
from merlax.display import Display
from merlax.envs.base import Env
from merlax.networks import TeamPolicy
from merlax.runs import RunFolder
from merlax.types import Key, UserError


def check_budget(algorithm: Algorithm, frames: int) -> None:
    """Refuse a budget that ends before the first generation does."""
    if frames < algorithm.frames_per_generation:
        raise UserError(
            f"frames is {frames:,} but one generation alone takes up to {algorithm.frames_per_generation:,}; "
            "raise frames, or lower the population or the episodes."
        )


def run(
    algorithm: Algorithm,
    folder: RunFolder,
    display: Display,
    *,
    frames: int,
    seed: int,
    test_every: int = 1,
    test_episodes: int = 10,
) -> bool:
    """Train until another generation might exceed `frames`; True if it got there, False if interrupted."""
    key = jax.random.key(seed)
    start = time.monotonic()
    generation = total = 0
    try:
        state = algorithm.init(jax.random.fold_in(key, 0))
        while total + algorithm.frames_per_generation <= frames:
            generation += 1
            key_step, key_test = jax.random.split(jax.random.fold_in(key, generation))
            state, metrics = algorithm.step(key_step, state)
            champion = jax.device_get(algorithm.champion(state))
            score = math.nan
            if generation % test_every == 0:
                score = float(rollout.play_test(key_test, algorithm.env, champion, test_episodes).fitness.mean())
            total += int(metrics["frames"])
            row = _row(generation, total, time.monotonic() - start, score, metrics)
            _check_finite(row)
            folder.save_champion(champion)
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


def evaluate(key: Key, env: Env, policy: TeamPolicy, episodes: int) -> Score:
    """Play fresh episodes without noise."""
    scores = np.asarray(rollout.play_test(key, env, policy, episodes).fitness, np.float64)
    half = 1.96 * float(scores.std(ddof=1)) / math.sqrt(episodes) if episodes > 1 else math.nan
    return Score(float(scores.mean()), half, episodes)


def _row(generation: int, frames: int, seconds: float, score: float, metrics: Any) -> dict[str, Any]:
    """One generation as it is written down."""
    values = {name: np.asarray(value) for name, value in metrics.items()}
    row: dict[str, Any] = {name: value.item() if value.ndim == 0 else value for name, value in values.items()}
    row |= {"generation": generation, "frames": frames, "seconds": round(seconds, 3), "champion_score": score}
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
