"""All runs of an experiment in one tidy CSV: a row for each number."""

from __future__ import annotations

import csv
import dataclasses
import math
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from merlax import files
from merlax.experiments.spec import Experiment, Job
from merlax.runs import progress, reader
from merlax.runs.forms import LONGEST_RUN
from merlax.types import UserError, shown

COLUMNS = ("experiment", "world", "method", "seed", "frames", "measure", "value")
CURVES = ("champion_score", "best_fitness", "mean_fitness", "learner_score")
ENDS = ("final_score", "seconds", "peak_memory_mb")
# Columns of what became of migrants, of each learner's and the tuned one, and what is kept of them.
MIGRANTS = {"migrant_fate": "migrant_selected"} | {f"migrant_fate_{n}": f"migrant_selected_{n}" for n in range(2, 33)}
SELECTED = MIGRANTS | {"tuned_fate": "tuned_selected"}
ALWAYS = (*CURVES, *SELECTED.values(), *ENDS)  # what a run itself tells; an experiment may measure more
POINTS = 200  # per run and measure
_BYTES = 20_000_000  # of a file: fifteen times that of the longest experiment
_LARGEST = 1e100  # number, so that sums stay finite


@dataclasses.dataclass(frozen=True)
class Row:
    """One number: what was measured, in which run, after how many frames."""

    experiment: str
    world: str
    method: str
    seed: int
    frames: int
    measure: str
    value: float


@dataclasses.dataclass(frozen=True)
class Results:
    """The numbers of one experiment."""

    rows: tuple[Row, ...]

    @property
    def experiment(self) -> str:
        return self.rows[0].experiment

    @property
    def worlds(self) -> list[str]:
        """The worlds, in the order of the file."""
        return list(dict.fromkeys(row.world for row in self.rows))

    def methods(self, world: str) -> list[str]:
        """The methods that were run on a world, in the order of the file."""
        return list(dict.fromkeys(row.method for row in self.rows if row.world == world))

    def final(self, world: str, method: str, measure: str = "final_score") -> dict[int, float]:
        """The last value of a measure, by seed."""
        return {seed: float(values[-1]) for seed, (_, values) in self.curves(world, method, measure).items()}

    def curves(self, world: str, method: str, measure: str) -> dict[int, tuple[np.ndarray, np.ndarray]]:
        """Frames and values of a measure, by seed."""
        found: dict[int, list[tuple[int, float]]] = {}
        for row in self.rows:
            if (row.world, row.method, row.measure) == (world, method, measure):
                found.setdefault(row.seed, []).append((row.frames, row.value))
        sorted_points = {seed: np.array(sorted(points), float) for seed, points in sorted(found.items())}
        return {seed: (points[:, 0], points[:, 1]) for seed, points in sorted_points.items()}


def collect(experiment: Experiment, jobs: Iterable[Job], root: Path) -> Results:
    """Read the finished runs of an experiment, sorted by world, method and seed as the experiment has them."""
    order = {
        (w.label, m.label): i for i, (w, m) in enumerate((w, m) for w in experiment.tasks for m in experiment.methods)
    }
    ordered = sorted(jobs, key=lambda job: (order[job.task.label, job.method.label], job.seed))
    rows = [row for job in ordered for row in _rows(experiment.name, job, root / job.folder)]
    if experiment.measure is not None:
        ends = {(row.world, row.method, row.seed): row for row in rows if row.measure == "final_score"}
        for job, measure, value in experiment.measure(ordered, root):
            end = ends[job.task.label, job.method.label, job.seed]
            rows.append(dataclasses.replace(end, measure=measure, value=value))
    return Results(tuple(rows))


def write(results: Results, path: Path) -> None:
    """Write the CSV, all of it or nothing."""
    temporary = path.with_name(path.name + ".new")
    with temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerows((*dataclasses.astuple(row)[:-1], f"{row.value:.6g}") for row in results.rows)
    os.replace(temporary, path)


def read(path: Path) -> Results:
    """Read the CSV again; whatever `write` would not have written is refused."""
    try:
        lines = files.read_csv(path, _BYTES, cells=_BYTES)
        if tuple(next(lines, ())) != COLUMNS:
            raise UserError(f"'{path}' is not a results file: its first line must be {','.join(COLUMNS)}.")
        rows = tuple(_parse(cells, f"'{path}', line {number}") for number, cells in enumerate(lines, 2))
    except files.Unreadable as error:
        raise UserError(f"The results '{path}' cannot be read ({error}).") from error
    if not rows:
        raise UserError(f"'{path}' holds no results yet; let a run finish first.")
    return _checked(rows, f"The results '{path}'")


def join(parts: Sequence[Results], experiment: Experiment) -> Results:
    """Results of one experiment that were made apart, say on several machines, sorted as the experiment has them."""
    worlds, methods = [task.label for task in experiment.tasks], [method.label for method in experiment.methods]
    place = lambda label, known: known.index(label) if label in known else len(known)  # noqa: E731
    rows = [row for part in parts for row in part.rows]
    rows.sort(key=lambda row: (place(row.world, worlds), place(row.method, methods), row.seed))
    return _checked(tuple(rows), "All these results together")


def _checked(rows: tuple[Row, ...], what: str) -> Results:
    if len({row.experiment for row in rows}) > 1:
        raise UserError(f"{what} mix several experiments; keep each in a file of its own.")
    if len({dataclasses.replace(row, value=0.0) for row in rows}) < len(rows):
        raise UserError(f"{what} give a number twice for the same run, measure and frames; remove one of them.")
    return Results(rows)


def _parse(cells: list[str], where: str) -> Row:
    if len(cells) != len(COLUMNS):
        raise UserError(f"{where} has {len(cells)} cells instead of {len(COLUMNS)}; correct or remove it.")
    experiment, world, method, seed, frames, measure, value = cells
    for name in (experiment, world, method, measure):
        if not 0 < len(name) <= files.LONGEST_NAME or not name.isprintable():
            raise UserError(f"{where} has an empty name, or one that is none ({shown(name)}); correct or remove it.")
    try:
        row = Row(experiment, world, method, int(seed), int(frames), measure, float(value))
    except ValueError as error:
        raise UserError(f"{where} has no number where one belongs ({shown(str(error))}); correct it.") from error
    if not (0 <= row.seed < 2**32 and 0 <= row.frames <= LONGEST_RUN and abs(row.value) <= _LARGEST):  # nor NaN
        raise UserError(f"{where} has an impossible number; correct or remove it.")
    return row


def _rows(experiment: str, job: Job, folder: Path) -> Iterator[Row]:
    """A run's curves, thinned, and what its end tells."""

    def row(frames: float, measure: str, value: float) -> Row:
        return Row(experiment, job.task.label, job.method.label, job.seed, int(frames), measure, float(value))

    columns = _columns(folder / "progress.csv")
    for measure, values in columns.items():
        if measure in (*CURVES, *SELECTED.values()):
            for frames, value in thin(columns["frames"], values):
                yield row(frames, measure, value)
    final = reader.read_final(folder)
    if final.get("mean") is None or final.get("peak_memory_mb") is None or not len(columns["frames"]):
        raise UserError(
            f"The run in '{folder}' has not been tested, or has no rows; remove the folder to run it again."
        )
    last = columns["frames"][-1]
    values = final["mean"], columns["seconds"][-1], final["peak_memory_mb"]
    for measure, value in zip(ENDS, values, strict=True):
        yield row(last, measure, value)


def thin(frames: np.ndarray, values: np.ndarray, points: int = POINTS) -> Iterator[tuple[float, float]]:
    """At most `points` of a curve: means of equally many neighbours, each at its last frame; NaN is left out."""
    known = np.isfinite(values)
    frames, values = frames[known], values[known]
    for part in np.array_split(np.arange(len(values)), min(points, max(1, len(values)))):
        if len(part):
            yield float(frames[part[-1]]), float(values[part].mean())


def _columns(path: Path) -> dict[str, np.ndarray]:
    """The numeric columns of a progress.csv, and for every migrant 1 where it survived selection, 0 where not."""
    found = progress.columns(path)
    if "seconds" not in found:
        raise UserError(f"'{path}' has no column seconds; remove its folder to run it again.")
    chosen = {name: _survived(found[fates]) for fates, name in SELECTED.items() if fates in found}
    kept = {name: found[name] for name in ("frames", "seconds", *CURVES) if name in found}
    return kept | chosen


def _survived(fates: np.ndarray) -> np.ndarray:
    return np.array([float(fate != "discarded") if isinstance(fate, str) and fate else math.nan for fate in fates])
