"""`progress.csv`, read again: its columns, its newest row, or how many there are."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from merlax import files
from merlax.runs.recorders import ALWAYS
from merlax.types import UserError, shown

CELLS = 10_000_000  # 300,000 generations of MERL; each may take 60 bytes of memory
COUNTERS = ("generation", "frames", "seconds")
NUMBERS = (*COUNTERS, "champion_score", "best_fitness", "mean_fitness", "learner_score", "opponent_score")
_TAIL = 100_000  # bytes that surely hold the last row, which may carry a thousand fitnesses
_NEAR = 100  # rows in which the newest test is looked for: of longer runs, not every generation is tested
_MOST = 2.0**53  # of a counter: the largest whole number that a float has
_LARGEST = float(np.finfo(np.float32).max)


def columns(path: Path) -> dict[str, np.ndarray]:
    """The columns, as numbers where they are numbers (an empty cell is NaN), else as text.

    A last row without its end is not one. What no run writes is refused.
    """
    try:
        rows = files.read_csv(path, files.PROGRESS_BYTES, cells=CELLS, whole_lines=True)
        header: list[str] = next(rows, [*ALWAYS])
        _check_header(header)
        cells = _by_column(header, rows)
        return {name: _column(name, own) for name, own in zip(header, cells, strict=True)}
    except files.Unreadable as error:
        raise UserError(f"'{path}' cannot be read: {error}.") from error


def newest(path: Path) -> dict[str, str] | None:
    """The last complete row, without reading all others; nothing if there is none.

    Where its generation was not tested, it has the score of the newest test that is near.
    """
    try:
        with files.opened(path, files.PROGRESS_BYTES) as (file, size):
            header = file.readline(_TAIL)
            file.seek(max(len(header), size - _TAIL))
            lines = file.read(_TAIL).decode(errors="replace").split("\n")[:-1]
        read = lambda line: next(csv.DictReader([header.decode(errors="replace"), line]))  # noqa: E731
        if not lines:
            return None
        row, earlier = read(lines[-1]), reversed(lines[-_NEAR:-1])
        while row.get("champion_score") == "" and (line := next(earlier, None)):
            row["champion_score"] = read(line).get("champion_score") or ""
        return row
    except (files.Unreadable, csv.Error, StopIteration):
        return None


def number(path: Path) -> int:
    """How many complete rows there are; none if there is no such file."""
    if not path.exists():
        return 0
    try:
        with files.opened(path, files.PROGRESS_BYTES) as (file, _):
            lines = sum(block.count(b"\n") for block in iter(lambda: file.read(2**20), b""))
    except files.Unreadable as error:
        raise UserError(f"'{path}' cannot be read: {error}.") from error
    return max(0, lines - 1)


def _check_header(header: list[str]) -> None:
    if len(set(header)) < len(header) or not all(name.isprintable() for name in header):
        raise files.Unreadable("its first line has a name twice, or one that cannot be printed")
    for name in ("generation", "frames"):
        if name not in header:
            raise files.Unreadable(f"it has no column {name}")


def _by_column(header: list[str], rows: Iterator[list[str]]) -> list[list[str]]:
    cells: list[list[str]] = [[] for _ in header]
    for number, row in enumerate(rows, 2):
        if len(row) != len(header):
            raise files.Unreadable(f"line {number} has {len(row)} cells instead of {len(header)}")
        for column, cell in zip(cells, row, strict=True):
            column.append(cell)
    return cells


def _column(name: str, cells: list[str]) -> np.ndarray:
    try:
        found = np.array([float(cell) if cell else np.nan for cell in cells])
    except ValueError as error:
        if name in NUMBERS:
            raise files.Unreadable(f"{name} is no number in a row ({shown(str(error))})") from error
        return np.array(cells, object)  # as text of one width, each would be as long as the longest
    if name in COUNTERS:
        possible = (found >= 0) & (found <= _MOST)  # nor NaN
    else:
        possible = ~np.isfinite(found) | (np.abs(found) <= _LARGEST)
    if name in NUMBERS and not possible.all():
        raise files.Unreadable(f"{name} is {found[~possible][0]:g} in a row, which is impossible")
    return found
