"""The command line: `merlax COMMAND …`. Each command is a function; its parameters are its options."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro
from rich.console import Console
from rich.table import Table
from tyro.conf import Positional, arg

from merlax import api, bench, config, devices, display, envs, evolution, presets, reproduce, setups
from merlax.envs.base import Contest, suggest
from merlax.published import published
from merlax.runs import Run
from merlax.saving import EVERY_SECONDS
from merlax.types import UserError

INTERRUPTED = 130  # the shell's code for Ctrl-C


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
    preset, algorithm = _peek(args, "--preset") or "fast", _peek(args, "--algorithm") or "merl"
    settings, rival = presets.preset(preset, world, algorithm), presets.adversary(preset, world)
    file = _peek(args, "--config")
    if file is not None:
        changes = _read_json(Path(file))
        if isinstance(changes, dict) and "adversary" in changes:
            rival = config.merge(rival, changes.pop("adversary"), "adversary")
        settings = config.merge(settings, changes)
    env: Any = envs.make(world)
    fields = [("env", type(env), env), ("settings", Annotated[type(settings), arg(name="")], settings)]
    if isinstance(env, Contest):
        fields.append(("adversary", type(rival), rival))
    options_type = dataclasses.make_dataclass("Options", fields, bases=(TrainOptions,), frozen=True)
    options = _parse(options_type, "train", args)
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

    options = _parse(Options, "resume", args)
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

    options = _parse(Options, "evaluate", args)
    result = api.evaluate(options.run, options.episodes, options.seed, options.against)
    if options.json:
        print(json.dumps(dataclasses.asdict(result)))
    else:
        print(f"{result} (mean of {result.episodes} episodes, 95% interval)")
    return 0


def run_crossplay(args: Sequence[str]) -> int:
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

    options = _parse(Options, "crossplay", args)
    matrix = api.play_each_other(options.runs, options.episodes, options.seed)
    if options.json:
        print(json.dumps(dataclasses.asdict(matrix)))
    else:
        table = Table("team \\ opponent", *matrix.opponents, box=None, pad_edge=False)
        for team, line in zip(matrix.teams, matrix.scores, strict=True):
            table.add_row(team, *map(str, line))
        Console(width=None if sys.stdout.isatty() else 160).print(table)
    if options.out is not None:
        print(api.plot_matrix(matrix, options.out))
        options.out.with_suffix(".csv").write_text(matrix.csv())
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

    options = _parse(Options, "render", args)
    print(api.render(options.run, options.out, options.seed))
    return 0


def list_envs(args: Sequence[str]) -> int:
    """List all worlds with their sizes."""

    @dataclasses.dataclass(frozen=True)
    class Options:
        json: bool = False
        """Print JSON instead of a table."""

    options = _parse(Options, "envs", args)
    columns = (
        "num_agents",
        "obs_size",
        "act_size",
        "horizon",
        "num_poi",
        "coupling",
        "side",
        "observation_distance",
        "speed",
    )
    rows = {name: {c: getattr(envs.make(name), c, None) for c in columns} for name in envs.ids()}
    if options.json:
        print(json.dumps(rows, indent=2))
        return 0
    table = Table("world", *(c.removeprefix("num_").replace("_", " ") for c in columns), box=None, pad_edge=False)
    for name, row in rows.items():
        table.add_row(name, *("–" if value is None else str(value) for value in row.values()))
    Console(width=None if sys.stdout.isatty() else 120).print(table)
    return 0


def selection_rate(args: Sequence[str]) -> int:
    """Print how often a migrant would be selected by chance alone (appendix B of the paper)."""

    @dataclasses.dataclass(frozen=True)
    class Options:
        population: int = 10
        """Teams in the population (M)."""
        elites: int = 4
        """Teams that survive unchanged (e)."""
        tournament: int = 3
        """Candidates per tournament (t)."""
        trials: int = 1_000_000
        """Simulated selections."""

    o = _parse(Options, "selection-rate", args)
    print(f"{evolution.expected_selection_rate(o.population, o.elites, o.tournament, trials=o.trials):.2f}")
    return 0


def run_bench(args: Sequence[str]) -> int:
    """Measure this machine: rollouts, updates, training, compile time and memory."""

    @dataclasses.dataclass(frozen=True)
    class Options:
        worlds: Annotated[Positional[tuple[str, ...]], arg(metavar="WORLD")] = ("rover-3",)
        """Worlds to measure."""
        preset: Literal["fast", "paper"] = "fast"
        """Whose update to measure."""
        json: bool = False
        """Print JSON instead of a table."""

    options = _parse(Options, "bench", args)
    results = {world: bench.measure(world, options.preset) for world in options.worlds}
    if options.json:
        print(json.dumps(results, indent=2))
        return 0
    table = Table("measure", *results, box=None, pad_edge=False)
    for name in next(iter(results.values())):
        table.add_row(
            name,
            *(f"{result[name]:,.4g}" if result[name] < 100 else f"{result[name]:,.0f}" for result in results.values()),
        )
    Console().print(table)
    return 0


def run_reproduce(args: Sequence[str]) -> int:
    """Run an experiment of the paper and draw its figure; what is finished already is not run again."""

    @dataclasses.dataclass(frozen=True)
    class Options:
        figure: Annotated[Positional[str], arg(metavar="FIGURE")] = ""
        """Name of a figure; --list shows them."""
        list: bool = False
        """List the figures and end."""
        seeds: tuple[int, ...] = ()
        """Seeds to run; by default the experiment's own."""
        frames: int | None = None
        """Budget of every run; by default the paper's."""
        workers: int | None = None
        """Runs at a time; by default one per core, which is fastest."""
        speed: Literal["free", "pinned"] | None = None
        """Speed of the rovers; by default pinned, as the published scores very likely had it."""
        out: Path | None = None
        """Folder for runs and results; by default one under runs/reproduce/."""
        quick: bool = False
        """Everything end to end in a minute or two, too small for its scores to mean anything."""

    options = _parse(Options, "reproduce", args)
    if options.list:
        reproduce.print_list()
        return 0
    experiment, folder = reproduce.choose(
        options.figure, seeds=options.seeds, frames=options.frames, speed=options.speed, quick=options.quick
    )
    return reproduce.run_and_print(experiment, options.out or folder, options.workers)


def plot(args: Sequence[str]) -> int:
    """Draw the figure of an experiment again, from its results."""

    @dataclasses.dataclass(frozen=True)
    class Options:
        results: Annotated[Positional[Path], arg(metavar="RESULTS")]
        """A results.csv, or the folder that `merlax reproduce` wrote."""
        out: Path | None = None
        """File to write (.png, .pdf or .svg); by default FIGURE.png beside the results."""

    options = _parse(Options, "plot", args)
    print(reproduce.plot(options.results, options.out))
    return 0


COMMANDS: dict[str, Callable[[Sequence[str]], int]] = {
    "train": train,
    "resume": resume,
    "evaluate": evaluate,
    "crossplay": run_crossplay,
    "render": render,
    "envs": list_envs,
    "reproduce": run_reproduce,
    "plot": plot,
    "bench": run_bench,
    "selection-rate": selection_rate,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; every error is one sentence and exit code 2, unless --debug asks for the traceback."""
    args = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in args
    args = [a for a in args if a != "--debug"]
    try:
        return _dispatch(args)
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        if debug:
            raise
        hint = "" if isinstance(error, UserError) else " This looks like a fault of merlax: --debug shows where."
        print(f"merlax: {error}{hint}", file=sys.stderr)
        return 2


def _dispatch(args: list[str]) -> int:
    if not args or args[0] in ("-h", "--help"):
        _help()
        return 0 if args else 2
    name, *rest = args
    if name not in COMMANDS:
        raise UserError(f"There is no command '{name}'{suggest(name, list(COMMANDS))}; `merlax --help` lists them.")
    devices.use_compilation_cache()
    return COMMANDS[name](rest)


def _help() -> None:
    print("usage: merlax COMMAND [OPTIONS]\n\nmerlax trains teams of agents (MERL).\n\ncommands:")
    for name, command in COMMANDS.items():
        print(f"  {name:<16} {(command.__doc__ or '').splitlines()[0]}")
    print("\n`merlax COMMAND --help` explains every option; --debug shows the traceback of an error.")


def _parse(options: Any, command: str, args: Sequence[str]) -> Any:
    return tyro.cli(options, prog=f"merlax {command}", args=list(args), description=COMMANDS[command].__doc__)


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


def _peek(args: Sequence[str], option: str) -> str | None:
    """The value of an option that decides the defaults of others: `--option value` or `--option=value`."""
    for this, after in pairwise([*args, ""]):
        if this == option:
            return after
        if this.startswith(f"{option}="):
            return this.removeprefix(f"{option}=")
    return None


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text())
    except OSError as error:
        raise UserError(f"The config file '{path}' cannot be read ({error.strerror}).") from error
    except ValueError as error:
        raise UserError(f"The config file '{path}' is not valid JSON ({error}).") from error


def _close(run: Run, ended_by: int | None, quiet: bool) -> int:
    """The last words of a run, and its exit code: 128 + the signal that ended it, as a shell has it."""
    if not quiet:
        _summary(run, ended_by is None)
    return 0 if ended_by is None else 128 + ended_by


def _summary(run: Run, finished: bool) -> None:
    """The result beside the published one, and where everything lies."""
    result = json.loads((run.path / "final.json").read_text())
    known = published(run.config["world"])
    print("" if finished else "\nInterrupted; the run folder is complete up to here, and `merlax resume` continues it.")
    score = f"{result['mean']:.3f} ± {result['interval95']:.3f}"
    print(f"champion   {score} over {result['episodes']} fresh episodes, {run.world}")
    if known:
        print(f"published  {known.score:.2f} ({known.source})")
    for name in ("progress.csv", "learning_curve.png", "champion.gif"):
        if (run.path / name).exists():
            print(f"           {run.path / name}")


if __name__ == "__main__":
    sys.exit(main())
