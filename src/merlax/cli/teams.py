"""The commands that make a run and that use one."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from rich.table import Table
from tyro.conf import Positional, arg

from merlax import api, config, envs
from merlax.algorithms import presets
from merlax.cli.parsing import parse, peek, read_json, show
from merlax.envs.base import Contest
from merlax.runs import display
from merlax.runs import setup as setups
from merlax.runs.reader import Run
from merlax.runs.saving import EVERY_SECONDS
from merlax.types import UserError


@dataclasses.dataclass(frozen=True)
class TrainOptions:
    """What every run has; the world's parameters and the algorithm's settings join them."""

    world: Annotated[Positional[str], arg(metavar="WORLD")]
    """Name of a world; `merlax envs` lists them."""
    algorithm: str = "merl"
    """How to train: merl, ea, es, td3, ddpg, matd3 or maddpg."""
    preset: Literal["fast", "paper"] = "fast"
    """fast: best score per second; paper: the tables and Algorithm 1 of the paper."""
    frames: int = 2_000_000
    """Budget: joint steps of all training rollouts together."""
    seed: int = 2019
    """Seed of everything random in the run."""
    out: Path | None = None
    """Run folder; by default a new one under runs/."""
    force: bool = False
    """Replace the run that --out holds already."""
    opponent: str | None = None
    """In a world with an opponent: ddpg (it learns; the default), scripted, or a run folder whose opponent to meet."""
    config: Path | None = None
    """JSON file with changes to the preset, such as {"td3": {"discount": 0.9}}."""
    checkpoint_every: float = EVERY_SECONDS
    """Seconds between two checkpoints; 0: after every generation."""
    quiet: bool = False
    """Show no progress."""


def train(args: Sequence[str]) -> int:
    """Train a team on a world and leave everything in a run folder."""
    world = _world_in(args)
    preset, algorithm = peek(args, "--preset") or "fast", peek(args, "--algorithm") or "merl"
    settings, rival = presets.preset(preset, world, algorithm), presets.adversary(preset, world)
    env: Any = envs.make(world)
    file = peek(args, "--config")
    if file is not None:
        ours, theirs = setups.divide(read_json(Path(file)), env)
        settings = config.merge(settings, ours)
        rival = config.merge(rival, {} if theirs is None else theirs, "adversary")
    fields = [("env", type(env), env), ("settings", Annotated[type(settings), arg(name="")], settings)]
    if isinstance(env, Contest):
        fields.append(("adversary", type(rival), rival))
    options_type = dataclasses.make_dataclass("Options", fields, bases=(TrainOptions,), frozen=True)
    options = parse(options_type, "train", args, train.__doc__)
    setup = setups.plan(
        options.env, options.algorithm, frames=options.frames, seed=options.seed, preset=options.preset,
        changes=options.settings, opponent=options.opponent, adversary_changes=getattr(options, "adversary", None),
        world=world,
    )  # fmt: skip
    show = display.choose(options.quiet)
    ended = api.train_until(setup, options.out, options.force, show, options.checkpoint_every)
    return _close(*ended, options.quiet)


def resume(args: Sequence[str]) -> int:
    """Continue a run that was interrupted, from its last checkpoint, as if it had never been."""

    @dataclasses.dataclass(frozen=True)
    class Options:
        run: Annotated[Positional[Path], arg(metavar="RUN")]
        """A run folder."""
        checkpoint_every: float = EVERY_SECONDS
        """Seconds between two checkpoints; 0: after every generation."""
        quiet: bool = False
        """Show no progress."""

    options = parse(Options, "resume", args, resume.__doc__)
    ended = api.resume_until(options.run, display.choose(options.quiet), options.checkpoint_every)
    return _close(*ended, options.quiet)


def evaluate(args: Sequence[str]) -> int:
    """Test a run's champion on fresh episodes, without noise."""

    @dataclasses.dataclass(frozen=True)
    class Options:
        run: Annotated[Positional[Path], arg(metavar="RUN")]
        """A run folder."""
        episodes: int = api.FINAL_EPISODES
        """Fresh instances of the world to play."""
        seed: int = 0
        """Seed of the instances."""
        against: str | None = None
        """In a world with an opponent: "scripted", or a run folder whose opponent to meet instead of the run's own."""
        json: bool = False
        """Print JSON instead of a sentence."""

    options = parse(Options, "evaluate", args, evaluate.__doc__)
    result = api.evaluate(options.run, options.episodes, options.seed, options.against)
    if options.json:
        print(json.dumps(dataclasses.asdict(result)))
    else:
        print(f"{result} (mean of {result.episodes} episodes, 95% interval)")
    return 0


def crossplay(args: Sequence[str]) -> int:
    """Play every run's team against every run's opponent and the scripted one: a table and a heat map."""

    @dataclasses.dataclass(frozen=True)
    class Options:
        runs: Annotated[Positional[tuple[Path, ...]], arg(metavar="RUN")]
        """Run folders on one world with an opponent."""
        episodes: int = api.FINAL_EPISODES
        """Fresh instances of the world to play, the same for every pair."""
        seed: int = 0
        """Seed of the instances."""
        out: Path | None = None
        """Heat map to write (.png, .pdf or .svg), with the scores beside it as .csv."""
        json: bool = False
        """Print JSON instead of a table."""

    options = parse(Options, "crossplay", args, crossplay.__doc__)
    matrix = api.play_each_other(options.runs, options.episodes, options.seed)
    if options.json:
        print(json.dumps(dataclasses.asdict(matrix)))
    else:
        table = Table("team \\ opponent", *matrix.opponents, box=None, pad_edge=False)
        for team, line in zip(matrix.teams, matrix.scores, strict=True):
            table.add_row(team, *map(str, line))
        show(table, 160)
    if options.out is not None:
        print(api.plot_matrix(matrix, options.out))
    return 0


def render(args: Sequence[str]) -> int:
    """Draw one episode of a run's champion."""

    @dataclasses.dataclass(frozen=True)
    class Options:
        run: Annotated[Positional[Path], arg(metavar="RUN")]
        """A run folder."""
        out: Path
        """File to write: .gif for an animation; .png, .pdf or .svg for a picture."""
        seed: int = 0
        """Seed of the instance."""

    options = parse(Options, "render", args, render.__doc__)
    print(api.render(options.run, options.out, options.seed))
    return 0


def _world_in(args: Sequence[str]) -> str:
    """The world named on the command line: its parameters become options, so it is needed first."""
    known = [a for a in args if a in envs.ids()]
    if known:
        return known[0]
    if args and not args[0].startswith("-"):
        envs.make(args[0])  # unknown: says so
    if "-h" in args or "--help" in args:
        return "rover-3"
    raise UserError(f"Name a world to train on: {', '.join(envs.ids())}.")


def _close(run: Run, ended_by: int | None, quiet: bool) -> int:
    """The last words of a run, and its exit code: 128 + the signal that ended it, as a shell has it."""
    if not quiet:
        _summary(run, ended_by is None)
    return 0 if ended_by is None else 128 + ended_by


def _summary(run: Run, finished: bool) -> None:
    """The result beside the published one, and where everything lies."""
    result = json.loads((run.path / "final.json").read_text())
    known = run.published
    print("" if finished else "\nInterrupted; the run folder is complete up to here, and `merlax resume` continues it.")
    score = f"{result['mean']:.3f} ± {result['interval95']:.3f}"
    print(f"champion   {score} over {result['episodes']} fresh episodes, {run.world}")
    if known:
        print(f"published  {known.score:.2f} ({known.source})")
    for name in ("progress.csv", "learning_curve.png", "champion.gif"):
        if (run.path / name).exists():
            print(f"           {run.path / name}")
