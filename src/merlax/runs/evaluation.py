"""How good a team is: fresh episodes, without noise."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Iterator
from typing import Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np

from merlax.core import outside, rollout
from merlax.core.players import Player
from merlax.core.rollout import Field, Trace
from merlax.envs.base import Env
from merlax.runs import terminal
from merlax.types import Key, Keys, UserError

FINAL_EPISODES = 200
MOST_EPISODES = 10_000_000  # hours; and the interval of a score is far below anything that matters
MOST_STEPS = 10_000_000  # of one episode: minutes
STEPS_AT_ONCE = 50_000  # of all episodes that are played together: a second, and tens of megabytes
STEPS_OUTSIDE = 5_000  # the same of a world outside JAX
# Evaluations draw their instances from a stream of their own, apart from every training stream.
_EVALUATION_STREAM = 2**31 - 1


@dataclasses.dataclass(frozen=True)
class Score:
    """A team's mean score over fresh episodes, with the half-width of its 95% interval; one episode has none.

    Args:
        mean: Over all episodes.
        interval95: Half the width of the interval; nothing for a single episode.
        episodes: How many were played.

    Examples:
        >>> print(merlax.Score(mean=0.75, interval95=0.05, episodes=200))
        0.750 ± 0.050
    """

    mean: float
    interval95: float | None
    episodes: int

    def __str__(self) -> str:
        return f"{self.mean:.3f}" if self.interval95 is None else f"{self.mean:.3f} ± {self.interval95:.3f}"


def evaluate(key: Key, field: Field, player: Player, episodes: int) -> Score:
    """Play fresh episodes without noise; many of them in parts, with a bar."""
    parts = play(key, field, player, episodes)
    return score(terminal.bar(parts, num_parts(field.env, episodes), f"{episodes:,} episodes"))


def play(key: Key, field: Field, player: Player, episodes: int) -> Iterator[np.ndarray]:
    """The scores of fresh episodes, part by part."""
    for keys, number in instances(key, field.env, episodes):
        yield np.asarray(rollout.play_instances(keys, field, player).fitness, np.float64)[:number]


def instances(key: Key, env: Env, episodes: int) -> Iterator[tuple[Keys, int]]:
    """Keys of fresh episodes, part by part, and how many of a part count: few enough for about a second of work."""
    at_once = -(-episodes // num_parts(env, episodes))
    numbers = np.asarray(jax.random.key_data(jax.random.split(key, episodes)))
    for start in range(0, episodes, at_once):
        # The last part is filled up, so that one program plays them all.
        part = numbers[np.minimum(np.arange(start, start + at_once), episodes - 1)]
        yield jax.random.wrap_key_data(jnp.asarray(part), impl=jax.random.key_impl(key)), min(at_once, episodes - start)


def num_parts(env: Env, episodes: int) -> int:
    """In how many parts `play` plays them."""
    if env.horizon > MOST_STEPS:
        raise UserError(f"An episode of this world has {env.horizon:,} steps; at most {MOST_STEPS:,} can be played.")
    at_once = STEPS_OUTSIDE if outside.is_outside(env) else STEPS_AT_ONCE
    return -(-episodes // max(1, at_once // env.horizon))


def score(parts: Iterable[np.ndarray]) -> Score:
    """The mean over all episodes."""
    scores = np.concatenate(list(parts))
    half = 1.96 * float(scores.std(ddof=1)) / math.sqrt(scores.size) if scores.size > 1 else None
    return Score(float(scores.mean()), half, scores.size)


@runtime_checkable
class Played(Protocol):
    """A team that can play where it belongs: a run, or a lineup."""

    @property
    def field(self) -> Field: ...

    @property
    def player(self) -> Player: ...


def trace(team: Played, seed: int = 0) -> Trace:
    """One episode of a team; with the same seed, every team meets the same instance of a world."""
    key = jax.random.split(evaluation_key(seed), 1)[0]
    return rollout.trace(key, team.field, team.player)


def evaluation_key(seed: int) -> Key:
    """The stream of fresh instances that belongs to a seed."""
    check_seed(seed)
    return jax.random.fold_in(jax.random.key(seed), _EVALUATION_STREAM)


def check_seed(seed: int) -> None:
    if not 0 <= seed < 2**32:
        raise UserError(f"seed is {seed}; choose a whole number from 0 to {2**32 - 1}.")


def check_episodes(episodes: int) -> None:
    if not 1 <= episodes <= MOST_EPISODES:
        raise UserError(f"episodes is {episodes}; choose a whole number from 1 to {MOST_EPISODES:,}.")
