"""What the results say: a band per method for the curves, a row per method for the table."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np
from jaxtyping import Float

from merlax.experiments import statistics
from merlax.experiments.results import ALWAYS, Results
from merlax.experiments.spec import REFERENCE, Experiment
from merlax.experiments.statistics import Estimate
from merlax.figures.series import are_shares, running_mean

HEADER = ("world", "method", "runs", "mean ± 95%", "IQM [95%]", "published", f"P({REFERENCE} better)")
GRID = 200
UNKNOWN = Estimate(math.nan, math.nan, math.nan)

Table: TypeAlias = list[tuple[str, ...]]  # its header, then its rows


@dataclasses.dataclass(frozen=True)
class Summary:
    """The final scores of one method on one world, or on all of them."""

    world: str
    method: str
    scores: tuple[float, ...]
    mean: Estimate
    iqm: Estimate
    published: float | None = None
    reference_better: Estimate | None = None
    """How likely a run of MERL beats a run of this method."""

    def cells(self) -> tuple[str, ...]:
        """The row as text, in the order of `HEADER`."""
        known = "–" if self.published is None else f"{self.published:.2f}"
        iqm = "–" if math.isnan(self.iqm.value) else f"{self.iqm.value:.3f} {_interval(self.iqm)}".rstrip()
        chance = self.reference_better
        better = "–" if chance is None else f"{chance.value:.2f} {_interval(chance)}".rstrip()
        return (self.world, self.method, str(len(self.scores)), plus_minus(self.mean), iqm, known, better)


def summarise(results: Results, experiment: Experiment) -> list[Summary]:
    """A row per world and method; with several worlds also one per method over all of them.

    Shares have a mean over worlds; touches and distances do not, and say only who beats whom.
    """
    rows = [
        _summary(results, [world], method, experiment.published(world, method))
        for world in results.worlds
        for method in results.methods(world)
    ]
    if len(results.worlds) > 1:
        everywhere = [
            m for m in results.methods(results.worlds[0]) if all(m in results.methods(w) for w in results.worlds)
        ]
        overall = [_summary(results, results.worlds, method, None) for method in everywhere]
        if are_shares(np.array([score for row in overall for score in row.scores])):
            return rows + overall
        rows += [dataclasses.replace(row, mean=UNKNOWN, iqm=UNKNOWN) for row in overall if row.reference_better]
    return rows


def further_measures(results: Results) -> list[str]:
    """What was measured of the finished runs beyond what every run has, in the order of the file."""
    return [measure for measure in dict.fromkeys(row.measure for row in results.rows) if measure not in ALWAYS]


def tables(results: Results, experiment: Experiment) -> list[Table]:
    """The final scores and, where more was measured, means over seeds of that."""
    found: list[Table] = [[HEADER, *(row.cells() for row in summarise(results, experiment))]]
    further = further_measures(results)
    if further:
        names = ("world", "method", *(measure.replace("_", " ") for measure in further))
        found.append([names, *_further_rows(results, further)])
    return found


def _further_rows(results: Results, measures: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for world in results.worlds:
        for method in results.methods(world):
            values = [list(results.final(world, method, measure).values()) for measure in measures]
            yield world, method, *(plus_minus(statistics.mean(own)) if own else "–" for own in values)


def markdown(table: Table) -> str:
    """The table for a page."""
    header, *rows = table
    lines = [header, ("---",) * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def band(
    results: Results, world: str, method: str, measure: str, smooth: float
) -> tuple[Float[np.ndarray, " time"], statistics.Bands] | None:
    """Frames, and mean and 95% interval over seeds, of running means that reach back over a share of the run."""
    curves = list(results.curves(world, method, measure).values())
    if not curves:
        return None
    first, last = max(frames[0] for frames, _ in curves), min(frames[-1] for frames, _ in curves)
    grid = np.linspace(min(first, last), last, GRID)
    smoothed = [np.interp(grid, frames, _smoothed(values, smooth)) for frames, values in curves]
    return grid, statistics.mean_band(np.stack(smoothed))


def plus_minus(estimate: Estimate) -> str:
    """The mean and its interval as one speaks of them: 0.694 ± 0.064."""
    if math.isnan(estimate.value):
        return "–"
    half = "" if math.isnan(estimate.low) else f" ± {estimate.half_width:.3f}"
    return f"{estimate.value:.3f}{half}"


def _summary(results: Results, worlds: Sequence[str], method: str, published: float | None) -> Summary:
    by_seed = [results.final(world, method) for world in worlds]
    own = [list(scores.values()) for scores in by_seed]
    reference = [list(results.final(world, REFERENCE).values()) for world in worlds]
    better = None
    if method != REFERENCE and all(reference):
        better = statistics.probability_of_improvement(reference, own)
    common = [seed for seed in by_seed[0] if all(seed in scores for scores in by_seed)]
    over_worlds = [float(np.mean([scores[seed] for scores in by_seed])) for seed in common]
    mean = statistics.mean(over_worlds) if common else UNKNOWN
    name = worlds[0] if len(worlds) == 1 else f"all {len(worlds)} worlds"
    return Summary(name, method, tuple(np.concatenate(own)), mean, statistics.iqm(*own), published, better)


def _smoothed(values: Float[np.ndarray, " n"], share: float) -> Float[np.ndarray, " n"]:
    return running_mean(values, max(1, round(share * len(values))))


def _interval(estimate: Estimate) -> str:
    return "" if math.isnan(estimate.low) else f"[{estimate.low:.2f}, {estimate.high:.2f}]"
