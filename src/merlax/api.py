"""What ten lines of Python need: train, load, evaluate, plot, render."""

from __future__ import annotations

import dataclasses
import logging
import shutil
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from merlax import figures
from merlax.algorithms import opponents as adversary
from merlax.algorithms.match import Match
from merlax.algorithms.opponents import Learnt, Scripted
from merlax.core import devices
from merlax.core.rollout import Opponent
from merlax.envs.base import Env
from merlax.runs import checkpoints, crossplay, display, evaluation
from merlax.runs import loop as training
from merlax.runs import reader as runs
from merlax.runs import setup as setups
from merlax.runs import writer as folders
from merlax.runs.evaluation import Score
from merlax.runs.reader import Run
from merlax.runs.saving import EVERY_SECONDS, Saver
from merlax.runs.setup import Setup
from merlax.runs.writer import RunFolder
from merlax.types import UserError

FINAL_EPISODES = 200


def train(
    env: str | Env,
    algorithm: str = "merl",
    *,
    frames: int = 2_000_000,
    seed: int = 2019,
    preset: str = "fast",
    config: Any = None,
    opponent: str | Path | None = None,
    out: str | Path | None = None,
    force: bool = False,
    quiet: bool = False,
    checkpoint_every: float = EVERY_SECONDS,
) -> Run:
    """Train a team and return its run folder, opened.

    `env` is a world or the name of one; `config` is a dict of changes to the preset, such as
    `{"td3": {"discount": 0.9}}`, or a whole configuration. In a world with an opponent, `opponent` is "ddpg" (it
    learns, the default), "scripted", or a run folder whose opponent is to be met, frozen; changes to how it learns
    stand under "adversary" in `config`. Ctrl-C ends the run early, with all its files; `resume` continues it. Every
    `checkpoint_every` seconds (0: every generation) there is a checkpoint to continue from.
    """
    setup = setups.plan(
        env, algorithm, frames=frames, seed=seed, preset=preset, changes=config, opponent=opponent
    )  # fmt: skip
    run, ended_by = train_until(setup, out, force, display.choose(quiet), checkpoint_every)
    _obey(ended_by)
    return run


def resume(
    run: str | Path, *, env: Env | None = None, quiet: bool = False, checkpoint_every: float = EVERY_SECONDS
) -> Run:
    """Continue a run that was interrupted, exactly: it ends as if it had never been.

    A run on a world of your own needs that world again, as `env`.
    """
    opened, ended_by = resume_until(run, display.choose(quiet), checkpoint_every, env)
    _obey(ended_by)
    return opened


def train_until(
    setup: Setup, out: str | Path | None, force: bool, show: display.Display, every: float = EVERY_SECONDS
) -> tuple[Run, int | None]:
    """`train`, which also tells the signal that ended the run, if one did."""
    match = setup.match()
    training.check_budget(match.algorithm, setup.frames)
    evaluation.check_seed(setup.seed)
    name = f"{setup.name.lower()}-{setup.algorithm}-seed{setup.seed}"
    path = Path(out) if out is not None else folders.free_path(Path("runs"), name)
    Saver(path, setup.record(), every)  # refuses a wrong interval before anything is written
    folder = RunFolder(path, setup.record(), force=force)
    return _go(setup, match, folder, show, every, resume=False)


def resume_until(
    run: str | Path, show: display.Display, every: float = EVERY_SECONDS, env: Env | None = None
) -> tuple[Run, int | None]:
    """`resume`, likewise."""
    path = Path(run)
    data = runs.read_config(path)
    if runs.is_finished(path):
        raise UserError(f"The run in '{path}' has reached its last frame; there is nothing to resume.")
    setup = setups.from_record(data, path, env)
    _check_machine(data, path)
    match = setup.match()
    return _go(setup, match, RunFolder(path), show, every, resume=True)


def _go(
    setup: Setup, match: Match, folder: RunFolder, show: display.Display, every: float, *, resume: bool
) -> tuple[Run, int | None]:
    """Train in an open folder, then finish it."""
    devices.use_compilation_cache()
    show.start(setup.title, setup.frames)
    try:
        saver = Saver(folder.path, folder.config, every)
        ended_by = training.run(match, folder, show, saver, frames=setup.frames, seed=setup.seed, resume=resume)
        with folder.faults():
            return _finish(folder, setup.env, finished=ended_by is None), ended_by
    finally:
        show.stop()
        folder.close()


def evaluate(
    run: Run | str | Path, episodes: int = FINAL_EPISODES, seed: int = 0, against: Run | str | Path | None = None
) -> Score:
    """Test a run's champion on fresh episodes: its mean score, with a 95% interval.

    In a contest it meets the newest opponent of its own run, or that of the run `against`, or the "scripted" one.
    """
    _check_episodes(episodes)
    evaluation.check_seed(seed)
    run = _open(run)
    return evaluation.evaluate(
        evaluation.evaluation_key(seed), run.env, run.champion, episodes, _opponent(run, against)
    )


def play_each_other(
    folders: Sequence[Run | str | Path], episodes: int = FINAL_EPISODES, seed: int = 0
) -> crossplay.Matrix:
    """Every run's champion against every run's opponent and the scripted one, on the same instances."""
    _check_episodes(episodes)
    evaluation.check_seed(seed)
    return crossplay.play(evaluation.evaluation_key(seed), [_open(run) for run in folders], episodes)


def plot_matrix(matrix: crossplay.Matrix, out: str | Path) -> Path:
    """Draw the scores of all teams against all opponents as a heat map, with their numbers beside it as .csv."""
    scores = np.array([[score.mean for score in line] for line in matrix.scores])
    figures.heat_map(
        scores, matrix.teams, matrix.opponents, Path(out),
        title=f"Mean team score on {matrix.world}", row_name="team of", column_name="opponent of",
    )  # fmt: skip
    Path(out).with_suffix(".csv").write_text(matrix.csv())
    return Path(out)


def plot(run: Run | str | Path, out: str | Path) -> Path:
    """Draw a run's learning curve, with the published score where there is one."""
    run = _open(run)
    known = run.published
    figures.learning_curve(
        run.progress,
        Path(out),
        title=f"{run.world}\n{run.config['algorithm']}, seed {run.config['seed']}",
        published=known.score if known else None,
        published_label="published MERL" if known else "",
    )
    return Path(out)


def render(run: Run | str | Path, out: str | Path, seed: int = 0) -> Path:
    """Draw one episode of a run's champion: an animation (.gif) or a picture (.png, .pdf, .svg)."""
    run = _open(run)
    figures.render(run.env, evaluation.trace(run, seed), Path(out))
    return Path(out)


def _finish(folder: RunFolder, env: Env, finished: bool) -> Run:
    """Test the champion on fresh episodes and draw the pictures; an interrupted run gets them, too."""
    if not (folder.path / "champion").exists():
        raise UserError(f"The run in '{folder.path}' was stopped before its first generation ended.")
    run = runs.load(folder.path, env)
    result = dataclasses.asdict(evaluate(run, seed=run.config["seed"]))
    folder.write_json("final.json", result | {"finished": finished, "peak_memory_mb": _peak_memory()})
    plot(run, folder.path / "learning_curve.png")
    if figures.can_draw(env):
        render(run, folder.path / "champion.gif")
    if finished:  # nothing is left to go on from
        shutil.rmtree(folder.path / checkpoints.FOLDER, ignore_errors=True)
    return run


def _peak_memory() -> int | None:
    """In MB, where the system tells."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit)


def _opponent(run: Run, against: Run | str | Path | None) -> Opponent | None:
    """Whom a run's champion is to meet."""
    if against is None:
        return run.opponent
    if run.opponent is None:
        raise UserError(f"{run.world} has no opponent; leave --against out.")
    if against == "scripted":
        return Scripted()
    other = _open(against)
    if type(other.env) is not type(run.env) or other.opponent is None:
        raise UserError(f"The opponent in '{other.path}' was made for {other.world}, not for {run.world}.")
    if isinstance(other.opponent, Learnt):
        adversary.check_fits(other.opponent.policy, run.env, str(other.path))
    return other.opponent


def _open(run: Run | str | Path) -> Run:
    return run if isinstance(run, Run) else runs.load(run)


def _check_machine(data: dict[str, Any], path: Path) -> None:
    """The same numbers need the same number of devices, and promise to be the same only with the same versions."""
    here = runs.versions()
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
        logging.getLogger("merlax").warning("resumed with other versions (%s): numbers may differ", ", ".join(changed))


def _obey(ended_by: int | None) -> None:
    """A script that was asked to end shall end; after Ctrl-C it goes on with what there is."""
    if ended_by == signal.SIGTERM:
        sys.exit(128 + signal.SIGTERM)


def _check_episodes(episodes: int) -> None:
    if episodes < 1:
        raise UserError(f"episodes is {episodes}; choose at least 1.")
