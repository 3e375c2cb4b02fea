"""What ten lines of Python need: train, load, evaluate, plot, render."""

from __future__ import annotations

import dataclasses
import resource
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np

from merlax import adversary, crossplay, devices, display, figures, rollout, runs, setups, training
from merlax.adversary import Learnt, Scripted
from merlax.envs.base import Env
from merlax.published import published
from merlax.rollout import Opponent
from merlax.runs import Run, RunFolder
from merlax.setups import Setup
from merlax.training import Score
from merlax.types import Key, UserError

FINAL_EPISODES = 200
# Evaluations draw their instances from a stream of their own, apart from every training stream.
_EVALUATION_STREAM = 2**31 - 1


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
) -> Run:
    """Train a team and return its run folder, opened.

    `env` is a world or the name of one; `config` is a dict of changes to the preset, such as
    `{"td3": {"discount": 0.9}}`, or a whole configuration. In a world with an opponent, `opponent` is "ddpg" (it
    learns, the default), "scripted", or a run folder whose opponent is to be met, frozen. Ctrl-C ends the run early,
    with all its files.
    """
    setup = setups.plan(
        env, algorithm, frames=frames, seed=seed, preset=preset, changes=config, opponent=opponent
    )  # fmt: skip
    run, _ = train_until(setup, out, force, display.choose(quiet))
    return run


def train_until(setup: Setup, out: str | Path | None, force: bool, show: display.Display) -> tuple[Run, bool]:
    """`train`, which also tells whether the run reached its last frame."""
    match = setup.match()
    training.check_budget(match.algorithm, setup.frames)
    _check_seed(setup.seed)
    devices.use_compilation_cache()
    name = f"{setup.name.lower()}-{setup.algorithm}-seed{setup.seed}"
    path = Path(out) if out is not None else runs.free_path(Path("runs"), name)
    folder = RunFolder(path, setup.record(), force=force)
    show.start(setup.title, setup.frames)
    try:
        finished = training.run(match, folder, show, frames=setup.frames, seed=setup.seed)
    finally:
        show.stop()
        folder.close()
    return _finish(folder, setup.env, finished), finished


def evaluate(
    run: Run | str | Path, episodes: int = FINAL_EPISODES, seed: int = 0, against: Run | str | Path | None = None
) -> Score:
    """Test a run's champion on fresh episodes: its mean score, with a 95% interval.

    In a contest it meets the newest opponent of its own run, or that of the run `against`, or the "scripted" one.
    """
    if episodes < 1:
        raise UserError(f"episodes is {episodes}; choose at least 1.")
    _check_seed(seed)
    run = _open(run)
    return training.evaluate(_evaluation_key(seed), run.env, run.champion, episodes, _opponent(run, against))


def play_each_other(
    folders: Sequence[Run | str | Path], episodes: int = FINAL_EPISODES, seed: int = 0
) -> crossplay.Matrix:
    """Every run's champion against every run's opponent and the scripted one, on the same instances."""
    if episodes < 1:
        raise UserError(f"episodes is {episodes}; choose at least 1.")
    _check_seed(seed)
    return crossplay.play(_evaluation_key(seed), [_open(run) for run in folders], episodes)


def plot_matrix(matrix: crossplay.Matrix, out: str | Path) -> Path:
    """Draw the scores of all teams against all opponents as a heat map."""
    scores = np.array([[score.mean for score in line] for line in matrix.scores])
    figures.heat_map(
        scores, matrix.teams, matrix.opponents, Path(out),
        title=f"Mean team score on {matrix.world}", row_name="team of", column_name="opponent of",
    )  # fmt: skip
    return Path(out)


def plot(run: Run | str | Path, out: str | Path) -> Path:
    """Draw a run's learning curve, with the published score where there is one."""
    run = _open(run)
    known = published(run.config["world"])
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
    figures.render(run.env, trace(run, seed), Path(out))
    return Path(out)


def trace(run: Run, seed: int = 0) -> rollout.Trace:
    """One episode of a run's champion; with the same seed, every team meets the same instance of a world."""
    _check_seed(seed)
    key = jax.random.split(_evaluation_key(seed), 1)[0]
    return jax.jit(rollout.trace, static_argnums=1)(key, run.env, run.champion, run.opponent)


def _finish(folder: RunFolder, env: Env, finished: bool) -> Run:
    """Test the champion on fresh episodes and draw the pictures; an interrupted run gets them, too."""
    if not (folder.path / "champion").exists():
        raise UserError(f"The run in '{folder.path}' was stopped before its first generation ended.")
    run = runs.load(folder.path, env)
    result = dataclasses.asdict(evaluate(run, seed=run.config["seed"]))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    folder.write_json("final.json", result | {"finished": finished, "peak_memory_mb": round(memory)})
    plot(run, folder.path / "learning_curve.png")
    if figures.can_draw(env):
        render(run, folder.path / "champion.gif")
    return run


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


def _check_seed(seed: int) -> None:
    if not 0 <= seed < 2**32:
        raise UserError(f"seed is {seed}; choose a whole number from 0 to {2**32 - 1}.")


def _evaluation_key(seed: int) -> Key:
    return jax.random.fold_in(jax.random.key(seed), _EVALUATION_STREAM)
