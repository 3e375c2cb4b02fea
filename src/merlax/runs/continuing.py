"""Whether a run can be continued, or extended, and what is to be said of it."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import jax

from merlax.algorithms.game import Game
from merlax.runs import checkpoints, hosts, progress, reader

_LOG = logging.getLogger("merlax")


def obstacle(path: Path, restart: bool, frames: int | None = None) -> str:
    """Why a run cannot be continued, to so many frames: it is at its end, or its files do not fit each other."""
    budget, folder = reader.read_config(path).get("frames", 0), path / checkpoints.FOLDER
    frames, finished = budget if frames is None else frames, reader.is_finished(path)
    if frames < budget or (restart and frames != budget):
        least = "leave out --frames, or train anew" if restart else "give more, or train anew with fewer"
        return f"frames is {frames:,} but the run in '{path}' was made for {budget:,}; {least}."
    if finished and frames == budget:
        more = "" if restart else "; --frames (in Python frames=) with more extends it"
        return f"The run in '{path}' has reached its last frame; there is nothing to resume{more}."
    if restart:
        return ""
    table = path / "progress.csv"
    rows, reached = progress.number(table), checkpoints.reached(folder)
    if finished and reached is None:
        return (
            f"The run in '{path}' kept no checkpoint when it was finished, so it cannot be extended; "
            f"train one with {frames:,} frames anew."
        )
    begun = rows or ((path / "champion").exists() and not table.exists())  # it is there before the first champion
    if reached is None and begun:
        found = f"'{table}' has {rows} rows but '{folder}' no checkpoint to go on from; put the checkpoints back"
    elif reached is not None and rows < reached:
        found = f"'{table}' has {rows} rows but the newest in '{folder}' goes on after {reached}; put the rows back"
    else:
        return ""
    return f"{found}, or start anew with --restart (in Python restart=True), which keeps the old rows aside."


def too_short(game: Game, path: Path, frames: int) -> str:
    """Why a run that is to be extended would not even get one more generation."""
    if not reader.is_finished(path):
        return ""
    done = progress.columns(path / "progress.csv")["frames"]
    least = int(done[-1] if len(done) else 0) + game.frames_per_generation()
    if least <= frames:
        return ""
    return (
        f"frames is {frames:,}, which is too few for another generation of the run in '{path}'; give {least:,} or more."
    )


def warn_of_processes(data: dict[str, Any], path: Path) -> None:
    """Numbers promise to be the same only with as many devices in as many processes."""
    before, now = (data.get("processes", 1), data.get("devices")), (hosts.count(), jax.device_count())
    if before != now:
        _LOG.warning(
            "The run in '%s' was made by %s process(es) with %s devices in all and goes on with %s and %s, so the last "
            "bits of its numbers may differ.",
            path, *before, *now,
        )  # fmt: skip


def warn_of_versions(data: dict[str, Any]) -> None:
    """Numbers promise to be the same only with the same versions."""
    old = data.get("versions") or {}
    changed = [f"{name} {old.get(name)} → {version}" for name, version in reader.versions()["versions"].items()
               if old.get(name) != version and name != "python"]  # fmt: skip
    if changed:
        _LOG.warning("resumed with other versions (%s): numbers may differ", ", ".join(changed))
