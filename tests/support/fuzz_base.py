"""Valid things that a fuzzer damages: run folders, a checkpoint, tables, configurations."""

from __future__ import annotations

import json
import os
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import merlax
from merlax import algorithms
from merlax.core.networks import TeamPolicy
from merlax.experiments import jobs, results
from merlax.experiments.spec import Job, Method, Task
from merlax.runs import checkpoints, setup
from merlax.runs.recorders import Beginning
from merlax.runs.setup import Setup
from merlax.runs.writer import RunFolder
from tests.support.weights import weights

TINY = {"population": 6, "fitness": {"episodes": 1}, "actor_hidden": [4]}
LEARNER = {"batch": 4, "buffer": 60, "burn_in": 1, "updates_per_frame": 0.1, "critic_hidden": [4]}


class Base:
    """Valid things to begin with, in a folder; made once."""

    def __init__(self, folder: Path, *, trained: bool = False, bomb_bytes: int = 0):
        """With `trained`, also a run that was interrupted; with `bomb_bytes`, a champion that is so large inside."""
        self.folder = folder
        if not (folder / "made").exists():
            folder.mkdir(parents=True, exist_ok=True)
            _make(folder, trained, bomb_bytes)
            (folder / "made").touch()
        self.bomb = folder / "bomb.npz" if (folder / "bomb.npz").exists() else None
        self.configs = [json.loads(json.dumps(record)) for record in _records()]
        self.options = sorted({option for record in self.configs for option in train_options(record)})
        self.checkpoint_files = sorted(files(folder / "stopped" / checkpoints.FOLDER, folder / "stopped"))


def _make(folder: Path, trained: bool, bomb_bytes: int) -> None:
    _finished(folder / "team", _plan("two-rovers"))
    _finished(folder / "contest", _plan("predator-prey", opponent_settings={"learner": LEARNER, "actor_hidden": [4]}))
    (folder / "results.csv").write_text(_table())
    if trained:
        _interrupted(folder / "stopped")
    if bomb_bytes:
        _bomb(folder / "team" / "champion" / "weights.npz", folder / "bomb.npz", bomb_bytes)


def _plan(world: str, **options: Any) -> Setup:
    env = merlax.make(world) if world == "two-rovers" else merlax.make(world, horizon=3)
    return setup.plan(env, "ea", frames=360, seed=1, settings=TINY, world=world, **options)


def _finished(path: Path, planned: Setup) -> None:
    """A run as it is at its end, but that nobody has trained its teams."""
    folder = RunFolder(path, planned.record())
    folder.csv.start(Beginning(path, "", {}, planned.frames))
    for generation in (1, 2):
        scores = {"champion_score": 0.5, "best_fitness": 0.5, "mean_fitness": 0.25, "fitness": np.zeros(6)}
        folder.csv.record({"generation": generation, "frames": 180 * generation, "seconds": 1.5} | scores)
    folder.csv.stop()
    save = folder.save_champion, folder.save_opponent
    for side, keep in zip(planned.env.sides, save, strict=False):
        keep(weights(lambda key, side=side: TeamPolicy(key, side, (4,))))
    tested = {"mean": 0.5, "interval95": 0.1, "episodes": 200}
    folder.write_json("final.json", tested | {"finished": True, "peak_memory_mb": 400})
    folder.close()


def _interrupted(path: Path) -> None:
    """A real run of MERL with a checkpoint, and one more generation to come."""
    settings = TINY | {"learners": [LEARNER], "explore_episodes": 1}
    stop: Any = [lambda row: row["generation"] == 2]
    env = merlax.make("two-rovers", horizon=3)
    merlax.train(env, "merl", settings=settings, frames=100, seed=1, out=path, quiet=True, callbacks=stop)
    shutil.rmtree(path / "events", ignore_errors=True)


def _bomb(champion: Path, path: Path, size: int) -> None:
    """The champion, and an array of zeros, which takes next to no room as long as it is packed."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, zipfile.ZipFile(champion) as small:
        for name in small.namelist():
            archive.writestr(name, small.read(name), zipfile.ZIP_STORED)
        with archive.open("extra.npy", "w", force_zip64=True) as file:
            header = {"descr": "<f4", "fortran_order": False, "shape": (size // 4,)}
            np.lib.format.write_array_header_1_0(file, header)
            for _ in range(size // 10**7):
                file.write(bytes(10**7))


def _table() -> str:
    lines = [",".join(results.COLUMNS)]
    for method in ("MERL", "EA"):
        for seed in (1, 2, 3):
            lines += [f"scores,rover-3,{method},{seed},{frames},champion_score,0.{seed}" for frames in (100, 200)]
            lines += [f"scores,rover-3,{method},{seed},200,{measure},{seed}" for measure in results.ENDS]
    return "\n".join(lines) + "\n"


def _records() -> Iterator[dict[str, Any]]:
    """What config.json says, for every algorithm and some worlds, and what a request says."""
    for algorithm in algorithms.names():
        for world in ("two-rovers", "rover-3", "predator-prey"):
            yield setup.plan(world, algorithm, frames=2_000_000, seed=1).record()
    yield {"world": "rover-1", "settings": {"population": 12, "mutation": {"strength": 0.05}}, "frames": 500_000}
    yield {"world": "keep-away", "algorithm": "matd3", "preset": "paper", "env": {"num_landmarks": 3}, "seed": 3}
    yield jobs.request(job())


def job() -> Job:
    """What an experiment would ask to get the run `team`."""
    return Job(Task("two-rovers"), Method("EA", "ea", changes=TINY), seed=1, frames=360)


def train_options(record: dict[str, Any]) -> Iterator[str]:
    """The options of `train`, as somebody types them."""
    parts = {"env.": record.get("env"), "": record.get("settings")}
    parts["opponent."] = (record.get("opponent") or {}).get("settings")
    for prefix, fields in parts.items():
        yield from _names(prefix, fields or {})


def _names(prefix: str, fields: dict[str, Any]) -> Iterator[str]:
    for name, value in fields.items():
        if name == "type":
            continue
        if name in ("learner", "learners"):
            yield from _names(f"{prefix}td3.", value[0] if isinstance(value, list) else value)
        elif isinstance(value, dict):
            yield from _names(f"{prefix}{name}.", value)
        else:
            yield f"--{prefix}{name}".replace("_", "-")


def files(folder: Path, root: Path) -> Iterator[str]:
    """All files and empty folders in a folder, by their paths from `root`."""
    for parent, folders, names in os.walk(folder):
        for name in [*names, *(each for each in folders if not os.listdir(Path(parent, each)))]:
            yield str(Path(parent, name).relative_to(root))
