"""The public functions: what ten lines of Python need."""

from __future__ import annotations

import importlib.util
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from merlax import envs, figures
from merlax.algorithms.base import Algorithm
from merlax.core import devices
from merlax.core.rollout import Field
from merlax.envs.base import Env
from merlax.envs.outside import Outside
from merlax.figures import page, style
from merlax.figures.series import Bars
from merlax.runs import (
    crossplay,
    diagnosis,
    evaluation,
    exports,
    reader,
    recorders,
    replays,
    session,
    setup,
    teams,
    terminal,
)
from merlax.runs.diagnosis import Diagnosis
from merlax.runs.evaluation import FINAL_EPISODES, Score
from merlax.runs.loop import Ending
from merlax.runs.reader import Run
from merlax.runs.recorders import Callback
from merlax.runs.saver import EVERY_SECONDS
from merlax.runs.teams import Lineup
from merlax.types import UserError


def train(
    env: str | Env,
    algorithm: str | Algorithm = "merl",
    *,
    frames: int = 2_000_000,
    seed: int = 2019,
    preset: str = "fast",
    settings: dict[str, Any] | None = None,
    opponent: str | Path | Algorithm | None = None,
    start: Run | str | Path | None = None,
    out: str | Path | None = None,
    force: bool = False,
    quiet: bool = False,
    callbacks: Sequence[Callback] = (),
    checkpoint_every: float = EVERY_SECONDS,
    keep_checkpoint: bool = True,
    pictures: bool = True,
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
        start: A run, or its folder, whose champion to begin with, on this or another world whose agents see and do as
            many numbers; none: random teams.
        out: The run folder; by default a new one under `runs/`.
        force: Replace the run that `out` holds already.
        quiet: Show no progress.
        callbacks: Functions that get every row of `progress.csv` as a dict, and end the run by returning True; or
            recorders, such as `merlax.Tracker("wandb")`.
        checkpoint_every: Seconds between two checkpoints (0: after every generation).
        keep_checkpoint: Keep the last one when the run is finished, so that `resume(run, frames=…)` can extend it.
        pictures: Draw the learning curve and an episode of the champion in the end.
        ignore_memory: Begin even if the run does not seem to fit into this machine's memory.

    Examples:
        >>> run = merlax.train("two-rovers", "ea", frames=1_200, out="runs/tiny", quiet=True)
        >>> print(run.path)
        runs/tiny
        >>> int(run.progress["frames"][-1])
        1200
    """
    planned = setup.plan(
        env, algorithm, frames=frames, seed=seed, preset=preset, settings=settings, opponent=opponent, start=start
    )
    listeners = [*terminal.display(quiet), *recorders.recorders(callbacks)]
    run, ending = session.train(
        planned, out, force, listeners, checkpoint_every,
        ignore_memory=ignore_memory, keep_checkpoint=keep_checkpoint, pictures=pictures,
    )  # fmt: skip
    return _obey(run, ending)


def resume(
    run: str | Path,
    *,
    frames: int | None = None,
    env: Env | None = None,
    algorithm: Algorithm | None = None,
    restart: bool = False,
    quiet: bool = False,
    callbacks: Sequence[Callback] = (),
    checkpoint_every: float = EVERY_SECONDS,
    keep_checkpoint: bool = True,
    pictures: bool = True,
    ignore_memory: bool = False,
) -> Run:
    """Continue a run that was interrupted, exactly: it ends as if it had never been. Or extend one.

    Args:
        run: The run folder.
        frames: Another budget, larger than the run's own: it goes on to there, also if it is finished, and ends as if
            it had been made for so many frames.
        env: The world again, if it is one of your own.
        algorithm: The algorithm again, if it or one of its operators is of your own.
        restart: Start anew, from generation 0, and keep the old rows aside as `progress.csv.1`.
        quiet: Show no progress.
        callbacks: As for `train`.
        checkpoint_every: Seconds between two checkpoints (0: after every generation).
        keep_checkpoint: As for `train`.
        pictures: As for `train`.
        ignore_memory: As for `train`.

    Examples:
        A run that a callback ended after its first generation:

        >>> first = lambda row: True
        >>> run = merlax.train("two-rovers", "ea", frames=1_200, out="runs/cut", quiet=True, callbacks=[first])
        >>> run = merlax.resume("runs/cut", quiet=True)
        >>> len(run.progress["frames"])
        2

        The same run, twice as long:

        >>> run = merlax.resume("runs/cut", frames=2_400, quiet=True)
        >>> len(run.progress["frames"])
        4
    """
    listeners = [*terminal.display(quiet), *recorders.recorders(callbacks)]
    opened, ending = session.resume(
        Path(run), listeners, checkpoint_every, env, algorithm,
        frames=frames, restart=restart, ignore_memory=ignore_memory, keep_checkpoint=keep_checkpoint,
        pictures=pictures,
    )  # fmt: skip
    return _obey(opened, ending)


def check(env: str | Env) -> list[str]:
    """All that is wrong with a world, a sentence each that says what to change; an empty list if nothing is.

    Training refuses a world by what can be told without playing it; this plays a few episodes, too.

    Args:
        env: A world, or the name of one.

    Examples:
        >>> merlax.check("two-rovers")
        []
    """
    return envs.check(envs.make(env) if isinstance(env, str) else env)


def to_pettingzoo(env: str | Env, render_mode: str | None = None) -> Any:
    """A world as PettingZoo's `ParallelEnv`: the team is `agent_0`, …, an opponent `opponent_0`, ….

    Each agent is paid its own reward; what pays its team is `team_reward` in its info.

    Args:
        env: A world, or the name of one.
        render_mode: "rgb_array", so that `render()` returns a picture.

    Examples:
        >>> world = merlax.to_pettingzoo("predator-prey")
        >>> obs, infos = world.reset(seed=0)
        >>> world.agents
        ['agent_0', 'agent_1', 'agent_2', 'opponent_0']
        >>> obs, rewards, terminations, truncations, infos = world.step({agent: [0.0, 0.0] for agent in world.agents})
        >>> infos["agent_0"]
        {'team_reward': 0.0}
    """
    if importlib.util.find_spec("pettingzoo") is None:
        raise UserError("PettingZoo is an extra that is not installed: pip install 'merlax[pettingzoo]'.")
    from merlax.runs.parallel import ParallelWorld

    world = envs.make(env) if isinstance(env, str) else env
    if isinstance(world, Outside):
        raise UserError(f"{world.name} is PettingZoo's already; give a world of merlax's.")
    return ParallelWorld(world, render_mode)


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
    run: Run | Lineup | Env | str | Path,
    episodes: int = FINAL_EPISODES,
    seed: int = 0,
    against: Run | str | Path | None = None,
    env: Env | None = None,
    team: str | None = None,
) -> Score:
    """Test a run's champion, or a hand rule, on fresh episodes: the mean score, with a 95% interval.

    Args:
        run: A run, or its folder; with `team` also a world, or its name.
        episodes: How many fresh instances to play.
        seed: Of the instances.
        against: In a contest a rule for the opponent, such as "scripted" or "still", or a run whose opponent to meet
            instead of the run's own.
        env: The world of a run again, if it is one of your own.
        team: A hand rule that plays instead of a champion: "scripted", or another of the world's own, or "still".

    Examples:
        >>> score = merlax.evaluate("runs/tiny", episodes=4)
        >>> score.episodes, 0.0 <= score.mean <= 1.0
        (4, True)
    """
    evaluation.check_episodes(episodes)
    devices.prepare()
    played = teams.find(run, team, env)
    if against is None:
        field = played.field
    else:
        folder = isinstance(against, Run) or Path(against).exists()
        other = _open(against, env) if folder else str(against)
        field = Field(played.env, (crossplay.opponent_of(played, other),))
    return evaluation.evaluate(evaluation.evaluation_key(seed), field, played.player, episodes)


def play_each_other(
    runs: Sequence[Run | str | Path], episodes: int = FINAL_EPISODES, seed: int = 0, env: Env | None = None
) -> crossplay.Matrix:
    """Every run's champion and the hand rule against every run's opponent and the scripted one, on the same instances.

    Args:
        runs: Runs on one world with an opponent, or their folders.
        episodes: How many fresh instances each pair plays.
        seed: Of the instances.
        env: The world again, if it is one of your own.

    Examples:
        >>> run = merlax.train("keep-away", "ea", frames=2_500, opponent="scripted", out="runs/contest", quiet=True)
        >>> matrix = merlax.play_each_other([run], episodes=4)
        >>> matrix.teams, matrix.opponents
        (('contest', 'scripted'), ('scripted',))
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


def render(
    run: Run | Lineup | Env | str | Path,
    out: str | Path,
    seed: int = 0,
    env: Env | None = None,
    team: str | None = None,
    *,
    compare: Run | Lineup | str | Path | None = None,
    episodes: int | None = None,
) -> Path:
    """Show episodes of a run's champion, or of a hand rule: as a page that plays them, a film, or a picture.

    Args:
        run: A run, or its folder; with `team` also a world, or its name.
        out: The file to write: .html for a page; .gif or .mp4 for a film; .png, .pdf or .svg for a picture.
        seed: Of the first instance.
        env: The world of a run again, if it is one of your own.
        team: A hand rule that plays instead of a champion, as for `evaluate`.
        compare: Another run on the same world, or the name of a hand rule, to be seen beside it on the same instances.
        episodes: How many instances a page holds to choose from, 5 by default, or 1 of a world that another library
            draws; a film or a picture shows one.

    Examples:
        >>> merlax.render("runs/tiny", "episode.png").exists()
        True
    """
    devices.prepare()
    first = teams.find(run, team, env)
    others = [] if compare is None else [teams.beside(first, compare, env)]
    replays.render([first, *others], Path(out), seed, episodes)
    return Path(out)


def diagnose(
    run: Run | Lineup | Env | str | Path,
    episodes: int = diagnosis.EPISODES,
    seed: int = 0,
    env: Env | None = None,
    team: str | None = None,
) -> Diagnosis:
    """Tell how a run's champion, or a hand rule, fails: what each agent adds, where they are at the end, and more.

    Args:
        run: A run, or its folder; with `team` also a world, or its name.
        episodes: How many fresh instances to play.
        seed: Of the instances.
        env: The world of a run again, if it is one of your own.
        team: A hand rule that plays instead of a champion, as for `evaluate`.

    Examples:
        >>> found = merlax.diagnose("runs/tiny", episodes=4)
        >>> found.score.episodes
        4
    """
    evaluation.check_episodes(episodes)
    devices.prepare()
    return diagnosis.diagnose(teams.find(run, team, env), episodes, seed)


def plot_diagnosis(found: Diagnosis, out: str | Path) -> Path:
    """Draw what `diagnose` found as one figure: the scores of all episodes, and bars for each finding.

    Args:
        found: What `diagnose` returned.
        out: The file to write: .png, .pdf or .svg.

    Examples:
        >>> merlax.plot_diagnosis(merlax.diagnose("runs/tiny", episodes=4), "why.png").exists()
        True
    """
    bars = [Bars(f.says, f.classes, f.values, f.percent, f.interval95) for f in found.findings[1:]]
    figures.draw_diagnosis(found.scores, bars, Path(out), title=f"{found.title}: {found.score}")
    return Path(out)


def report(runs: Sequence[str | Path], out: str | Path, env: Env | None = None) -> list[str]:
    """Make one page of runs, and return sentences on what it could not show.

    Args:
        runs: Run folders, or folders that hold some; those on different worlds are shown world by world.
        out: The file to write: .html.
        env: The world again, if it is one of your own, so that its best team can be seen.

    Examples:
        >>> merlax.report(["runs/tiny"], "report.html")
        []
    """
    from merlax.experiments import dossier  # which takes SciPy, that nothing else here needs

    if not runs:
        refuse_no_runs()
    style.check_suffix(Path(out), (page.SUFFIX,))
    devices.prepare()
    return dossier.write([Path(run) for run in runs], Path(out), env)


def export(run: Run | str | Path, out: str | Path) -> Path:
    """Write a run's champion as one file for other programs.

    Args:
        run: A run, or its folder.
        out: The file to write: .onnx for a network that onnxruntime plays without JAX (it takes
            `pip install 'merlax[onnx]'`), .safetensors for the weights alone.

    Examples:
        >>> merlax.export("runs/tiny", "team.safetensors").exists()
        True
    """
    exports.export(run.path if isinstance(run, Run) else Path(run), Path(out))
    return Path(out)


def refuse_no_runs() -> NoReturn:
    """A page of nothing."""
    raise UserError("There is nothing to show; name run folders, or a folder that holds some.")


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
