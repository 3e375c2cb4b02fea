"""Runs from folders, whatever they hold: finished, still going, or half written; sorted by world and method."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from merlax.runs import progress as rows
from merlax.runs import reader
from merlax.types import UserError

DEEPEST = 6  # folders in each other
MOST_RUNS = 1000
# What makes two runs the same but for their seed.
_METHOD = ("algorithm", "preset", "settings", "opponent", "start", "frames")
_LAST = 10  # tests that tell the score of a run that has not ended


@dataclasses.dataclass(frozen=True)
class Gathered:
    """One run, as far as it goes."""

    path: Path
    config: dict[str, Any]
    progress: dict[str, np.ndarray]
    final: dict[str, Any]  # empty while it goes on
    world: str  # its title

    @property
    def score(self) -> float:
        """The final test's mean, or the mean of the newest tests."""
        mean = self.final.get("mean")
        if mean is not None:
            return float(mean)
        known = self.progress["champion_score"][np.isfinite(self.progress["champion_score"])]
        return float(known[-_LAST:].mean()) if len(known) else float("nan")

    @property
    def method(self) -> str:
        """Everything that decides it but for the world and the seed."""
        return json.dumps({name: self.config.get(name) for name in _METHOD}, sort_keys=True, default=str)


def gather(paths: Iterable[Path]) -> tuple[list[Gathered], list[str]]:
    """All runs in these folders, and sentences on those that cannot be shown."""
    found, notes = [], []
    for path in _folders(paths):
        try:
            found.append(_read(path))
        except UserError as error:
            notes.append(str(error))
    if not found:
        raise UserError(
            notes[0] if notes else "There is no run in these folders; name run folders, or a folder that holds some."
        )
    return found, notes


def _folders(paths: Iterable[Path]) -> list[Path]:
    """Run folders, each once: those that are named, and those inside of others."""
    folders: dict[Path, Path] = {}
    for path in paths:
        inside = [path] if (path / "config.json").exists() else _inside(path)
        if not inside:
            folders.setdefault(path.resolve(), path)  # which says what is wrong with it
        for folder in inside:
            folders.setdefault(folder.resolve(), folder)
        if len(folders) > MOST_RUNS:
            raise UserError(f"There are more than {MOST_RUNS:,} runs in these folders; name fewer.")
    return list(folders.values())


def _inside(path: Path) -> list[Path]:
    found = []
    for folder, below, files in os.walk(path):
        below.sort()
        if "config.json" in files or len(Path(folder).relative_to(path).parts) >= DEEPEST:
            below.clear()
        if "config.json" in files:
            found.append(Path(folder))
    return found


def _read(path: Path) -> Gathered:
    if not path.is_dir():
        raise UserError(f"'{path}' is no folder; name run folders, or a folder that holds some.")
    config = reader.read_config(path)
    if not (path / "progress.csv").exists():
        raise UserError(f"The run in '{path}' has no rows yet; let it finish a generation, or name another.")
    columns = rows.columns(path / "progress.csv")
    if not len(columns["frames"]):
        raise UserError(f"The run in '{path}' has no rows yet; let it finish a generation.")
    columns.setdefault("champion_score", np.full(len(columns["frames"]), np.nan))
    try:
        final = reader.read_final(path)
    except UserError:
        final = {}
    return Gathered(path, config, columns, final, _title(config, path))


def _title(config: dict[str, Any], path: Path) -> str:
    """The world's name, also of one whose code is not here."""
    try:
        return reader.env_title(config["world"], reader.env_of(config, path, None))
    except UserError:
        name = config["world"] or (config.get("shape") or {}).get("class") or "a world of its own"
        fields = ", ".join(f"{key} {value}" for key, value in config["env"].items())
        return f"{name} ({fields})" if fields else str(name)


def by_world(runs: Sequence[Gathered]) -> dict[str, list[Gathered]]:
    """Runs on one world together."""
    groups: dict[str, list[Gathered]] = {}
    for run in runs:
        groups.setdefault(run.world, []).append(run)
    return groups


def by_method(runs: Sequence[Gathered]) -> dict[str, list[Gathered]]:
    """Runs of one world by method, each under a name that says how it differs from the others; seeds in order."""
    groups: dict[str, list[Gathered]] = {}
    for run in runs:
        groups.setdefault(run.method, []).append(run)
    flats = [flat({name: own[0].config.get(name) for name in _METHOD[1:]}) for own in groups.values()]
    named: dict[str, list[Gathered]] = {}
    for own, mine in zip(groups.values(), flats, strict=True):
        algorithm = str(own[0].config["algorithm"])
        rivals = [theirs for other, theirs in zip(groups.values(), flats, strict=True)
                  if str(other[0].config["algorithm"]) == algorithm]  # fmt: skip
        differing = [name for name in mine if any(theirs.get(name) != mine[name] for theirs in rivals)]
        label = ", ".join([algorithm, *(f"{name.removeprefix('settings.')} {mine[name]}" for name in differing[:3])])
        while label in named:
            label += "′"
        named[label] = sorted(own, key=lambda run: run.config["seed"])
    return named


def flat(value: Any, name: str = "") -> dict[str, Any]:
    """A nested configuration as one level: `settings.mutation.strength`."""
    if isinstance(value, dict) and value:
        parts = [flat(own, f"{name}.{key}" if name else str(key)) for key, own in value.items()]
        return {key: own for part in parts for key, own in part.items()}
    if isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
        return flat({str(number): one for number, one in enumerate(value)}, name)
    return {name: value}
