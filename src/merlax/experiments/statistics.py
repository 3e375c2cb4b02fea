"""What a handful of seeds can tell: intervals over runs, and which of two methods is better."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.special import stdtrit  # `scipy.stats` would double the time that the command line takes to start

RESAMPLES = 2000

Scores = Sequence[float] | Float[np.ndarray, " _"]
Bands = tuple[Float[np.ndarray, " time"], Float[np.ndarray, " time"], Float[np.ndarray, " time"]]


@dataclass(frozen=True)
class Estimate:
    """A number with its 95% interval; the interval's ends are NaN where too few seeds tell nothing of it."""

    value: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        """Half of the interval's length: what follows the ± of a symmetric one."""
        return (self.high - self.low) / 2


def mean(scores: Scores) -> Estimate:
    """The mean over seeds with Student's t interval, as in the paper."""
    middle, low, high = mean_band(np.asarray(scores, float)[:, None])
    return Estimate(float(middle[0]), float(low[0]), float(high[0]))


def mean_band(values: Float[np.ndarray, "seed time"]) -> Bands:
    """The mean over seeds and the ends of its t interval, at each instant."""
    seeds = _enough(len(values))
    middle = values.mean(axis=0)
    if seeds == 1:
        unknown = np.full_like(middle, math.nan)
        return middle, unknown, unknown
    half = stdtrit(seeds - 1, 0.975) * values.std(axis=0, ddof=1) / math.sqrt(seeds)
    return middle, middle - half, middle + half


def iqm(*worlds: Scores) -> Estimate:
    """The interquartile mean of all runs: the mean of their middle half, which one odd seed does not move.

    Its bootstrap draws seeds anew within each world, never across worlds (Agarwal et al. 2021).
    """
    strata = [_scores(world) for world in worlds]
    drawn = np.concatenate([_resample(world, stream) for stream, world in enumerate(strata)], axis=1)
    value = float(_middle_mean(np.concatenate(strata)[None])[0])
    return _bootstrapped(value, _middle_mean(drawn), min(len(world) for world in strata))


def probability_of_improvement(ours: Sequence[Scores], theirs: Sequence[Scores]) -> Estimate:
    """How likely a run of ours beats a run of theirs on the same world, on average over worlds; a tie counts half.

    `ours[i]` and `theirs[i]` are the scores of all seeds on world i. The interval is a stratified bootstrap's.
    """
    if len(ours) != len(theirs):
        raise ValueError(f"{len(ours)} worlds on one side, {len(theirs)} on the other")
    pairs = [(_scores(a), _scores(b)) for a, b in zip(ours, theirs, strict=True)]
    value = float(np.mean([_wins(a[None], b[None])[0] for a, b in pairs]))
    drawn = [_wins(_resample(a, 2 * i), _resample(b, 2 * i + 1)) for i, (a, b) in enumerate(pairs)]
    fewest = min(min(len(a), len(b)) for a, b in pairs)
    return _bootstrapped(value, np.mean(drawn, axis=0), fewest)


def _middle_mean(scores: Float[np.ndarray, "draw seed"]) -> Float[np.ndarray, " draw"]:
    """The mean without a quarter of the scores, rounded down, at each end."""
    cut = scores.shape[1] // 4
    return np.sort(scores, axis=1)[:, cut : scores.shape[1] - cut].mean(axis=1)


def _wins(a: Float[np.ndarray, "draw seed"], b: Float[np.ndarray, "draw other"]) -> Float[np.ndarray, " draw"]:
    difference = a[:, :, None] - b[:, None, :]
    return ((difference > 0) + 0.5 * (difference == 0)).mean(axis=(1, 2))


def _resample(scores: Float[np.ndarray, " seed"], stream: int) -> Float[np.ndarray, "draw seed"]:
    """Seeds drawn with replacement, the same ones on every call: a table must not change when it is printed again."""
    random = np.random.default_rng([2019, stream])
    return scores[random.integers(len(scores), size=(RESAMPLES, len(scores)))]


def _bootstrapped(value: float, drawn: Float[np.ndarray, " draw"], fewest: int) -> Estimate:
    if fewest < 2:
        return Estimate(value, math.nan, math.nan)
    low, high = np.percentile(drawn, [2.5, 97.5])
    return Estimate(value, float(low), float(high))


def _scores(scores: Scores) -> Float[np.ndarray, " seed"]:
    array = np.asarray(scores, float)
    _enough(len(array))
    return array


def _enough(seeds: int) -> int:
    if seeds < 1:
        raise ValueError("there is no score to describe")
    return seeds
