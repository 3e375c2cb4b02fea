"""One run from its plan to its last file."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import shutil
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax

from merlax import config, figures
from merlax.algorithms.base import Algorithm
from merlax.config import Count
from merlax.core import devices
from merlax.envs.base import Env
from merlax.envs.check import refuse_misshapen
from merlax.runs import checkpoints, evaluation, loop, memory, process, progress, reader, replays, setup, teams
from merlax.runs.checkpoints import EVERY_SECONDS, Saver
from merlax.runs.loop import Ending
from merlax.runs.reader import Run
from merlax.runs.recorders import Beginning, Recorder
from merlax.runs.setup import Setup
from merlax.runs.writer import RunFolder, free_path, refuse_taken
from merlax.types import UserError

_LOG = logging.getLogger("merlax")


def train(
    planned: Setup,
    out: str | Path | None,
    force: bool,
    recorders: Sequence[Recorder],
    every: float = EVERY_SECONDS,
    *,
    ignore_memory: bool = False,
) -> tuple[Run, Ending]:
    """Make a new run."""
    path = check(planned, out, force, every, ignore_memory=ignore_memory)
    folder = RunFolder(path, planned.record(), force=force)
    return _go(planned, folder, recorders, every)


def check(
    planned: Setup, out: str | Path | None, force: bool, every: float = EVERY_SECONDS, *, ignore_memory: bool = False
) -> Path:
    """Refuse what cannot become a run, before anything is compiled or written; the folder that it will have."""
    devices.prepare()
    evaluation.check_seed(planned.seed)
    refuse_misshapen(planned.env)
    if not ignore_memory:
        memory.check(planned.game())
    loop.check_budget(planned.game(), planned.frames)
    path = Path(out) if out is not None else free_path(Path("runs"), planned.name)
    Saver(path, planned.record(), every)  # refuses a wrong interval
    refuse_taken(path, force)
    return path


def resume(
    path: Path,
    recorders: Sequence[Recorder],
    every: float = EVERY_SECONDS,
    env: Env | None = None,
    algorithm: Algorithm | None = None,
    *,
    restart: bool = False,
    ignore_memory: bool = False,
) -> tuple[Run, Ending]:
    """Continue a run that was interrupted, on as many devices as it had; or, on purpose, start it anew."""
    data = reader.read_config(path)
    number = config.checked(data.get("devices"), Count, f"'devices' in '{path / 'config.json'}'")
    obstacle = _obstacle(path, restart)
    if obstacle and (path / process.LOCK).exists():
        with contextlib.suppress(OSError):  # a folder that is read-only is nobody's
            process.lock(path).release()  # a run that somebody is just making may look like that
    if reader.is_finished(path):
        _drop_checkpoints(path)  # those that a process left which was killed at its very end
    _refuse(obstacle)  # before anything is touched
    devices.prepare(number)
    if number > jax.device_count():
        raise UserError(
            f"The run in '{path}' was made on {number} devices but there are {jax.device_count()} here; resume it on "
            f"as many, for instance with XLA_FLAGS=--xla_force_host_platform_device_count={number}."
        )
    with devices.only(number):
        planned = setup.from_record(data, path, env, algorithm)
        if not ignore_memory:
            memory.check(planned.game())
        _warn_of_versions(data)
        return _go(planned, RunFolder(path), recorders, every, resume=not restart, restart=restart)


def _go(
    planned: Setup,
    folder: RunFolder,
    recorders: Sequence[Recorder],
    every: float,
    *,
    resume: bool = False,
    restart: bool = False,
) -> tuple[Run, Ending]:
    """Train in an open folder, then finish it."""
    listeners = [*folder.recorders(), *recorders]
    beginning = Beginning(folder.path, planned.title, folder.config, planned.frames)
    saver = Saver(folder.path, folder.config, every)
    with contextlib.ExitStack() as stack:
        for close in (folder.close, saver.close, *(recorder.stop for recorder in listeners)):
            stack.callback(close)
        with folder.faults():
            if resume or restart:  # once more, now that nobody else works here
                _refuse(_obstacle(folder.path, restart))
            if restart:
                folder.start_anew()
            saver.begin()
        caught = stack.enter_context(process.caught_signals())
        game, seed = planned.game(), planned.seed
        ending = loop.run(game, folder, listeners, saver, beginning, caught, seed=seed, resume=resume)
        with folder.faults():
            return finish(folder, planned.env, ending), ending


def finish(folder: RunFolder, env: Env, ending: Ending) -> Run:
    """Test the champion on fresh episodes and draw the pictures; an interrupted run gets them, too."""
    if not (folder.path / "champion").exists():
        raise process.StoppedError(
            f"The run in '{folder.path}' was stopped before its first generation ended; `merlax resume` continues it.",
            ending.signal or signal.SIGINT,
        )
    run = reader.load(folder.path, env)
    key = evaluation.evaluation_key(run.config["seed"])
    score = evaluation.evaluate(key, run.field, run.player, evaluation.FINAL_EPISODES)
    result = dataclasses.asdict(score) | {"finished": ending.finished, "peak_memory_mb": process.peak_memory_mb()}
    plot(run, folder.path / "learning_curve.png")
    _film(run, folder.path / "champion.gif")
    folder.write_json("final.json", result)  # the last file: a run that says it is finished lacks nothing
    if ending.finished:
        _drop_checkpoints(folder.path)
    return run


def _film(run: Run, out: Path) -> None:
    """An episode of the champion, where the world says how it looks; what is wrong with that ends no run."""
    if figures.is_drawn(run.env):
        try:
            replays.render([run], out)
        except UserError as error:
            _LOG.warning("%s The run lacks its champion.gif.", error)


def _drop_checkpoints(path: Path) -> None:
    """Of a run that has reached its last frame: nothing is left to go on from."""
    shutil.rmtree(path / checkpoints.FOLDER, ignore_errors=True)


def plot(run: Run, out: Path) -> None:
    """Draw a run's learning curve, with hand rules and the published score where there are any.

    In a contest the rules meet the run's newest opponent, whom the last tests of its champions met.
    """
    known = run.published
    lines = {teams.label(rule): score.mean for rule, score in teams.yardsticks(run).items()}
    figures.learning_curve(
        run.progress,
        out,
        title=f"{run.title}\n{run.config['algorithm']}, seed {run.config['seed']}",
        references=lines | ({"published MERL": known.score} if known else {}),
    )


def _refuse(reason: str) -> None:
    if reason:
        raise UserError(reason)


def _obstacle(path: Path, restart: bool) -> str:
    """Why a run cannot be continued: it is at its end, or its rows and its checkpoints do not fit each other."""
    if reader.is_finished(path):
        return f"The run in '{path}' has reached its last frame; there is nothing to resume."
    if restart:
        return ""
    table, folder = path / "progress.csv", path / checkpoints.FOLDER
    rows, reached = progress.number(table), checkpoints.reached(folder)
    begun = rows or ((path / "champion").exists() and not table.exists())  # it is there before the first champion
    if reached is None and begun:
        found = f"'{table}' has {rows} rows but '{folder}' no checkpoint to go on from; put the checkpoints back"
    elif reached is not None and rows < reached:
        found = f"'{table}' has {rows} rows but the newest in '{folder}' goes on after {reached}; put the rows back"
    else:
        return ""
    return f"{found}, or start anew with --restart (in Python restart=True), which keeps the old rows aside."


def _warn_of_versions(data: dict[str, Any]) -> None:
    """Numbers promise to be the same only with the same versions."""
    old = data.get("versions") or {}
    changed = [f"{name} {old.get(name)} → {version}" for name, version in reader.versions()["versions"].items()
               if old.get(name) != version and name != "python"]  # fmt: skip
    if changed:
        _LOG.warning("resumed with other versions (%s): numbers may differ", ", ".join(changed))
