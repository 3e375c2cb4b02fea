"""How good a team is: fresh episodes, without noise."""

from __future__ import annotations

import dataclasses
import math

import jax
import numpy as np

from merlax.core import rollout
from merlax.core.players import Player, PolicyPlayer
from merlax.core.rollout import Field, Trace
from merlax.runs.reader import Run
from merlax.types import Key, UserError

FINAL_EPISODES = 200
# Evaluations draw their instances from a stream of their own, apart from every training stream.
_EVALUATION_STREAM = 2**31 - 1


@dataclasses.dataclass(frozen=True)
class Score:
    """A team's mean score over fresh episodes, with the half-width of its 95% interval."""

    mean: float
    interval95: float
    episodes: int

    def __str__(self) -> str:
        return f"{self.mean:.3f} ± {self.interval95:.3f}"


def evaluate(key: Key, field: Field, player: Player, episodes: int) -> Score:
    """Play fresh episodes without noise."""
    scores = np.asarray(rollout.play_test(key, field, player, episodes).fitness, np.float64)
    half = 1.96 * float(scores.std(ddof=1)) / math.sqrt(episodes) if episodes > 1 else math.nan
    return Score(float(scores.mean()), half, episodes)


def trace(run: Run, seed: int = 0) -> Trace:
    """One episode of a run's champion; with the same seed, every team meets the same instance of a world."""
    key = jax.random.split(evaluation_key(seed), 1)[0]
    return rollout.trace(key, run.field, PolicyPlayer(run.champion))


def evaluation_key(seed: int) -> Key:
    """The stream of fresh instances that belongs to a seed."""
    check_seed(seed)
    return jax.random.fold_in(jax.random.key(seed), _EVALUATION_STREAM)


def check_seed(seed: int) -> None:
    if not 0 <= seed < 2**32:
        raise UserError(f"seed is {seed}; choose a whole number from 0 to {2**32 - 1}.")


def check_episodes(episodes: int) -> None:
    if episodes < 1:
        raise UserError(f"episodes is {episodes}; choose at least 1.")
