"""One run from its plan to its last file."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from merlax import figures
from merlax.algorithms.base import Algorithm
from merlax.core import devices
from merlax.core.players import PolicyPlayer
from merlax.envs.base import Env
from merlax.runs import checkpoints, evaluation, loop, process, reader, setup
from merlax.runs.checkpoints import EVERY_SECONDS, Saver
from merlax.runs.loop import Ending
from merlax.runs.reader import Run
from merlax.runs.recorders import Beginning, Recorder
from merlax.runs.setup import Setup
from merlax.runs.writer import RunFolder, free_path
from merlax.types import UserError

_LOG = logging.getLogger("merlax")


def train(
    planned: Setup, out: str | Path | None, force: bool, recorders: Sequence[Recorder], every: float = EVERY_SECONDS
) -> tuple[Run, Ending]:
    """Make a new run."""
    devices.prepare()
    evaluation.check_seed(planned.seed)
    loop.check_budget(planned.game(), planned.frames)
    path = Path(out) if out is not None else free_path(Path("runs"), planned.name)
    Saver(path, planned.record(), every)  # refuses a wrong interval before anything is written
    return _go(planned, RunFolder(path, planned.record(), force=force), recorders, every, resume=False)


def resume(
    path: Path,
    recorders: Sequence[Recorder],
    every: float = EVERY_SECONDS,
    env: Env | None = None,
    algorithm: Algorithm | None = None,
) -> tuple[Run, Ending]:
    """Continue a run that was interrupted."""
    devices.prepare()
    data = reader.read_config(path)
    if reader.is_finished(path):
        raise UserError(f"The run in '{path}' has reached its last frame; there is nothing to resume.")
    planned = setup.from_record(data, path, env, algorithm)
    _check_machine(data, path)
    return _go(planned, RunFolder(path), recorders, every, resume=True)


def _go(
    planned: Setup, folder: RunFolder, recorders: Sequence[Recorder], every: float, *, resume: bool
) -> tuple[Run, Ending]:
    """Train in an open folder, then finish it."""
    listeners = [*folder.recorders(), *recorders]
    beginning = Beginning(folder.path, planned.title, folder.config, planned.frames)
    saver = Saver(folder.path, folder.config, every)
    with contextlib.ExitStack() as stack:
        for close in (folder.close, saver.close, *(recorder.stop for recorder in listeners)):
            stack.callback(close)
        ending = loop.run(planned.game(), folder, listeners, saver, beginning, seed=planned.seed, resume=resume)
        with folder.faults():
            return finish(folder, planned.env, ending.finished), ending


def finish(folder: RunFolder, env: Env, finished: bool) -> Run:
    """Test the champion on fresh episodes and draw the pictures; an interrupted run gets them, too."""
    if not (folder.path / "champion").exists():
        raise UserError(f"The run in '{folder.path}' was stopped before its first generation ended.")
    run = reader.load(folder.path, env)
    key = evaluation.evaluation_key(run.config["seed"])
    score = evaluation.evaluate(key, run.field, PolicyPlayer(run.champion), evaluation.FINAL_EPISODES)
    result = dataclasses.asdict(score) | {"finished": finished, "peak_memory_mb": process.peak_memory_mb()}
    folder.write_json("final.json", result)
    plot(run, folder.path / "learning_curve.png")
    if figures.can_draw(env):
        figures.render(run.env, evaluation.trace(run), folder.path / "champion.gif")
    if finished:  # nothing is left to go on from
        shutil.rmtree(folder.path / checkpoints.FOLDER, ignore_errors=True)
    return run


def plot(run: Run, out: Path) -> None:
    """Draw a run's learning curve, with the published score where there is one."""
    known = run.published
    figures.learning_curve(
        run.progress,
        out,
        title=f"{run.title}\n{run.config['algorithm']}, seed {run.config['seed']}",
        published=known.score if known else None,
        published_label="published MERL" if known else "",
    )


def _check_machine(data: dict[str, Any], path: Path) -> None:
    """The same numbers need the same number of devices, and promise to be the same only with the same versions."""
    here = reader.versions()
    if data.get("devices") != here["devices"]:
        raise UserError(
            f"The run in '{path}' was made on {data.get('devices')} devices but there are {here['devices']} here; "
            "resume it on as many, for instance with XLA_FLAGS=--xla_force_host_platform_device_count="
            f"{data.get('devices')}."
        )
    old = data.get("versions") or {}
    changed = [f"{name} {old.get(name)} → {version}" for name, version in here["versions"].items()
               if old.get(name) != version and name != "python"]  # fmt: skip
    if changed:
        _LOG.warning("resumed with other versions (%s): numbers may differ", ", ".join(changed))
