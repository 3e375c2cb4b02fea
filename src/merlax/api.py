"""The public functions: what ten lines of Python need."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from merlax import figures
from merlax.algorithms.base import Algorithm
from merlax.core import devices
from merlax.core.players import PolicyPlayer
from merlax.core.rollout import Field
from merlax.envs.base import Env
from merlax.runs import crossplay, evaluation, reader, recorders, session, setup, terminal
from merlax.runs.checkpoints import EVERY_SECONDS
from merlax.runs.evaluation import FINAL_EPISODES, Score
from merlax.runs.loop import Ending
from merlax.runs.reader import Run
from merlax.runs.recorders import Callback


def train(
    env: str | Env,
    algorithm: str | Algorithm = "merl",
    *,
    frames: int = 2_000_000,
    seed: int = 2019,
    preset: str = "fast",
    settings: dict[str, Any] | None = None,
    opponent: str | Path | Algorithm | None = None,
    out: str | Path | None = None,
    force: bool = False,
    quiet: bool = False,
    callbacks: Sequence[Callback] = (),
    checkpoint_every: float = EVERY_SECONDS,
    ignore_memory: bool = False,
) -> Run:
    """Train a team and return its run folder, opened. Ctrl-C ends the run early, with all its files.

    Args:
        env: A world, or the name of one.
        algorithm: An algorithm such as `Merl(population=20)`, or the name of one.
        frames: Budget: joint steps of all training rollouts together.
        seed: Of everything random in the run.
        preset: Settings of a named algorithm: "fast", or "paper" for its tables and Algorithm 1.
        settings: Changes to the algorithm's fields, such as `{"mutation": {"strength": 0.05}}`.
        opponent: In a contest "ddpg" (it learns, the default), "scripted", a run folder whose opponent is to be met,
            frozen, or an algorithm that learns, such as `merlax.ddpg(Td3(discount=0.9))`.
        out: The run folder; by default a new one under `runs/`.
        force: Replace the run that `out` holds already.
        quiet: Show no progress.
        callbacks: Functions that get every row of `progress.csv` as a dict, and end the run by returning True; or
            recorders, such as `merlax.Tracker("wandb")`.
        checkpoint_every: Seconds between two checkpoints (0: after every generation).
        ignore_memory: Begin even if the run does not seem to fit into this machine's memory.

    Examples:
        >>> run = merlax.train("two-rovers", "ea", frames=1_200, out="runs/tiny", quiet=True)
        >>> print(run.path)
        runs/tiny
        >>> int(run.progress["frames"][-1])
        1200
    """
    planned = setup.plan(
        env, algorithm, frames=frames, seed=seed, preset=preset, settings=settings, opponent=opponent
    )  # fmt: skip
    listeners = [*terminal.display(quiet), *recorders.recorders(callbacks)]
    run, ending = session.train(planned, out, force, listeners, checkpoint_every, ignore_memory=ignore_memory)
    return _obey(run, ending)


def resume(
    run: str | Path,
    *,
    env: Env | None = None,
    algorithm: Algorithm | None = None,
    restart: bool = False,
    quiet: bool = False,
    callbacks: Sequence[Callback] = (),
    checkpoint_every: float = EVERY_SECONDS,
    ignore_memory: bool = False,
) -> Run:
    """Continue a run that was interrupted, exactly: it ends as if it had never been.

    Args:
        run: The run folder.
        env: The world again, if it is one of your own.
        algorithm: The algorithm again, if it or one of its operators is of your own.
        restart: Start anew, from generation 0, and keep the old rows aside as `progress.csv.1`.
        quiet: Show no progress.
        callbacks: As for `train`.
        checkpoint_every: Seconds between two checkpoints (0: after every generation).
        ignore_memory: As for `train`.

    Examples:
        A run that a callback ended after its first generation:

        >>> first = lambda row: True
        >>> run = merlax.train("two-rovers", "ea", frames=1_200, out="runs/cut", quiet=True, callbacks=[first])
        >>> run = merlax.resume("runs/cut", quiet=True)
        >>> len(run.progress["frames"])
        2
    """
    listeners = [*terminal.display(quiet), *recorders.recorders(callbacks)]
    opened, ending = session.resume(
        Path(run), listeners, checkpoint_every, env, algorithm, restart=restart, ignore_memory=ignore_memory
    )
    return _obey(opened, ending)


def load(run: str | Path, env: Env | None = None) -> Run:
    """Open a run folder.

    Args:
        run: The folder.
        env: The world again, if it is one of your own.

    Examples:
        >>> run = merlax.load("runs/tiny")
        >>> run.config["seed"]
        2019
    """
    return reader.load(run, env)


def evaluate(
    run: Run | str | Path,
    episodes: int = FINAL_EPISODES,
    seed: int = 0,
    against: Run | str | Path | None = None,
    env: Env | None = None,
) -> Score:
    """Test a run's champion on fresh episodes: its mean score, with a 95% interval.

    Args:
        run: A run, or its folder.
        episodes: How many fresh instances to play.
        seed: Of the instances.
        against: In a contest "scripted", or a run whose opponent to meet instead of the run's own.
        env: The world again, if it is one of your own.

    Examples:
        >>> score = merlax.evaluate("runs/tiny", episodes=4)
        >>> score.episodes, 0.0 <= score.mean <= 1.0
        (4, True)
    """
    evaluation.check_episodes(episodes)
    devices.prepare()
    run = _open(run, env)
    field = run.field
    if against is not None:
        other = "scripted" if against == "scripted" else _open(against, env)
        field = Field(run.env, (crossplay.opponent_of(run, other),))
    return evaluation.evaluate(evaluation.evaluation_key(seed), field, PolicyPlayer(run.champion), episodes)


def play_each_other(
    runs: Sequence[Run | str | Path], episodes: int = FINAL_EPISODES, seed: int = 0, env: Env | None = None
) -> crossplay.Matrix:
    """Every run's champion against every run's opponent and the scripted one, on the same instances.

    Args:
        runs: Runs on one world with an opponent, or their folders.
        episodes: How many fresh instances each pair plays.
        seed: Of the instances.
        env: The world again, if it is one of your own.

    Examples:
        >>> run = merlax.train("keep-away", "ea", frames=2_500, opponent="scripted", out="runs/contest", quiet=True)
        >>> matrix = merlax.play_each_other([run], episodes=4)
        >>> matrix.teams, matrix.opponents
        (('contest',), ('scripted',))
    """
    evaluation.check_episodes(episodes)
    devices.prepare()
    return crossplay.play(evaluation.evaluation_key(seed), [_open(run, env) for run in runs], episodes)


def plot_matrix(matrix: crossplay.Matrix, out: str | Path) -> Path:
    """Draw the scores of all teams against all opponents as a heat map, with their numbers beside it as .csv.

    Args:
        matrix: What `play_each_other` returned.
        out: The file to write: .png, .pdf or .svg.
    """
    scores = np.array([[score.mean for score in line] for line in matrix.scores])
    figures.heat_map(
        scores, matrix.teams, matrix.opponents, Path(out),
        title=f"Mean team score on {matrix.title}", row_name="team of", column_name="opponent of",
    )  # fmt: skip
    Path(out).with_suffix(".csv").write_text(matrix.csv(), encoding="utf-8")
    return Path(out)


def plot(run: Run | str | Path, out: str | Path, env: Env | None = None) -> Path:
    """Draw a run's learning curve, with the published score where there is one.

    Args:
        run: A run, or its folder.
        out: The file to write: .png, .pdf or .svg.
        env: The world again, if it is one of your own.

    Examples:
        >>> merlax.plot("runs/tiny", "curve.png").exists()
        True
    """
    session.plot(_open(run, env), Path(out))
    return Path(out)


def render(run: Run | str | Path, out: str | Path, seed: int = 0, env: Env | None = None) -> Path:
    """Draw one episode of a run's champion.

    Args:
        run: A run, or its folder.
        out: The file to write: .gif for an animation; .png, .pdf or .svg for a picture.
        seed: Of the instance.
        env: The world again, if it is one of your own.

    Examples:
        >>> merlax.render("runs/tiny", "episode.png").exists()
        True
    """
    devices.prepare()
    run = _open(run, env)
    figures.render(run.env, evaluation.trace(run, seed), Path(out))
    return Path(out)


def _open(run: Run | str | Path, env: Env | None) -> Run:
    if not isinstance(run, Run):
        return reader.load(run, env)
    if env is not None:
        reader.env_of(run.config, run.path, env)  # which refuses another than the run's
    return run


def _obey(run: Run, ending: Ending) -> Run:
    """A script that was asked to end shall end; after Ctrl-C it goes on with what there is."""
    if ending.signal == signal.SIGTERM:
        sys.exit(128 + signal.SIGTERM)
    return run
