"""One run from its plan to its last file."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import jax

from merlax import config, figures
from merlax.algorithms.base import Algorithm
from merlax.config import Count
from merlax.core import devices
from merlax.envs.base import Env
from merlax.envs.check import refuse_misshapen
from merlax.runs import (
    checkpoints,
    continuing,
    evaluation,
    forms,
    hosts,
    loop,
    memory,
    process,
    reader,
    replays,
    setup,
    teams,
)
from merlax.runs.loop import Ending
from merlax.runs.reader import Run
from merlax.runs.recorders import Beginning, Recorder
from merlax.runs.saver import EVERY_SECONDS, Onlooker, Saver
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
    keep_checkpoint: bool = True,
    pictures: bool = True,
) -> tuple[Run, Ending]:
    """Make a new run; `keep_checkpoint` keeps the last one, so that it can be extended."""
    hosts.compare(planned.record())
    start = planned.start and planned.start.policy

    def folder() -> RunFolder:
        path = check(planned, out, force, every, ignore_memory=ignore_memory)
        return RunFolder(path, planned.record(), force=force, start=start)

    return _go(planned, hosts.announce(folder), recorders, every, keep=keep_checkpoint, pictures=pictures)


def follow(planned: Setup) -> Ending:
    """Take part in a new run that the first process makes."""
    hosts.compare(planned.record())
    hosts.hear()
    return _follow(planned)


def follow_resumed(path: Path, env: Env | None = None, algorithm: Algorithm | None = None) -> Ending:
    """Take part in a run that the first process continues."""
    told = hosts.hear()
    return _follow(setup.from_record(told["config"], path, env, algorithm), resume=not told["restart"])


def _follow(planned: Setup, *, resume: bool = False) -> Ending:
    beginning = Beginning(Path(), planned.title, {}, planned.frames)
    with process.caught_signals() as caught:
        return loop.run(
            planned.game(), hosts.Bystander(), [], Onlooker(), beginning, caught, seed=planned.seed, resume=resume
        )


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


Standing = Literal["finished", "interrupted", ""]


def standing(record: dict[str, Any] | None, path: Path, number: int | None = None) -> Standing:
    """How far a folder is with exactly the run of this record; nothing if it must start anew.

    Where a number of devices is given, what was made on another number cannot be continued.
    """
    try:
        found = reader.read_config(path)
    except UserError:
        return ""
    if record is None or {name: found.get(name) for name in record} != record:
        return ""
    if reader.is_finished(path):
        return "finished"
    same = number is None or found.get("devices") == number
    return "interrupted" if same and checkpoints.all_of(path / checkpoints.FOLDER) else ""


def resume(
    path: Path,
    recorders: Sequence[Recorder],
    every: float = EVERY_SECONDS,
    env: Env | None = None,
    algorithm: Algorithm | None = None,
    *,
    frames: int | None = None,
    restart: bool = False,
    ignore_memory: bool = False,
    keep_checkpoint: bool = True,
    pictures: bool = True,
) -> tuple[Run, Ending]:
    """Continue a run that was interrupted, on as many devices as it had; or, on purpose, start it anew.

    With other `frames` than it had, it is extended to so many, be it finished or not.
    """
    how: Any = {"resume": not restart, "restart": restart, "keep": keep_checkpoint, "pictures": pictures}
    if hosts.count() > 1:
        told = {"restart": restart}
        data = hosts.announce(lambda: _resumable(path, restart, frames), lambda data: told | {"config": data})
        planned = setup.from_record(data, path, env, algorithm)
        continuing.warn_of_versions(data)
        continuing.warn_of_processes(data, path)
        return _go(planned, RunFolder(path), recorders, every, **how)
    data = _resumable(path, restart, frames)
    number = config.checked(data.get("devices"), Count, f"'devices' in '{path / 'config.json'}'")
    devices.prepare(number)
    if data.get("processes", 1) > 1:
        continuing.warn_of_processes(data, path)
        number = min(number, jax.device_count())
    if number > jax.device_count():
        raise UserError(
            f"The run in '{path}' was made on {number} devices but there are {jax.device_count()} here; resume it on "
            f"as many, for instance with XLA_FLAGS=--xla_force_host_platform_device_count={number}."
        )
    with devices.only(number):
        planned = setup.from_record(data, path, env, algorithm)
        if not ignore_memory:
            memory.check(planned.game())
        _refuse(continuing.too_short(planned.game(), path, data["frames"]))
        continuing.warn_of_versions(data)
        return _go(planned, RunFolder(path), recorders, every, **how)


def _resumable(path: Path, restart: bool, frames: int | None) -> dict[str, Any]:
    """What the folder says of a run that can be continued, to so many frames; else refuse, before it is touched."""
    data = reader.read_config(path)
    frames = frames and config.checked(frames, forms.Frames, "frames")
    obstacle = continuing.obstacle(path, restart, frames)
    if obstacle and process.is_locked(path):  # a run that somebody is just making may look like that
        raise process.taken(path)
    if reader.is_finished(path):
        checkpoints.tidy(path / checkpoints.FOLDER, keep=True)  # what a process left that was killed at its very end
    _refuse(obstacle)
    return data if frames is None else data | {"frames": frames}


def _go(
    planned: Setup,
    folder: RunFolder,
    recorders: Sequence[Recorder],
    every: float,
    *,
    resume: bool = False,
    restart: bool = False,
    keep: bool = True,
    pictures: bool = True,
) -> tuple[Run, Ending]:
    """Train in an open folder, then finish it."""
    listeners = [*folder.recorders(), *recorders]
    beginning = Beginning(folder.path, planned.title, folder.config | {"frames": planned.frames}, planned.frames)
    saver = Saver(folder.path, folder.config, every, keep=keep)
    with contextlib.ExitStack() as stack:
        for close in (folder.close, saver.close, *(recorder.stop for recorder in listeners)):
            stack.callback(close)
        with folder.faults():
            if resume or restart:  # once more, now that nobody else works here
                _refuse(continuing.obstacle(folder.path, restart, planned.frames))
            if planned.frames != folder.config["frames"]:
                folder.extend(planned.frames)
            if restart:
                folder.start_anew()
            saver.begin()
        caught = stack.enter_context(process.caught_signals())
        game, seed = planned.game(), planned.seed
        ending = loop.run(game, folder, listeners, saver, beginning, caught, seed=seed, resume=resume)
        with folder.faults():
            run = finish(folder, planned.env, ending, pictures=pictures)
            if ending.finished:
                saver.tidy()
            return run, ending


def finish(folder: RunFolder, env: Env, ending: Ending, *, pictures: bool = True) -> Run:
    """Test the champion on fresh episodes and draw the pictures, if any; an interrupted run gets them, too."""
    if not (folder.path / "champion").exists():
        raise process.StoppedError(
            f"The run in '{folder.path}' was stopped before its first generation ended; `merlax resume` continues it.",
            ending.signal or signal.SIGINT,
        )
    run = reader.load(folder.path, env)
    key = evaluation.evaluation_key(run.config["seed"])
    score = evaluation.evaluate(key, run.field, run.player, evaluation.FINAL_EPISODES)
    result = dataclasses.asdict(score) | {"finished": ending.finished, "peak_memory_mb": process.peak_memory_mb()}
    curve, film = folder.path / "learning_curve.png", folder.path / "champion.gif"
    if pictures:
        plot(run, curve)
        _film(run, film)
    else:
        for outdated in (curve, film):
            outdated.unlink(missing_ok=True)
    folder.write_json("final.json", result)  # the last file: a run that says it is finished lacks nothing
    return run


def _film(run: Run, out: Path) -> None:
    """An episode of the champion, where the world says how it looks; what is wrong with that ends no run."""
    if figures.is_drawn(run.env):
        try:
            replays.render([run], out)
        except UserError as error:
            _LOG.warning("%s The run lacks its champion.gif.", error)


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
