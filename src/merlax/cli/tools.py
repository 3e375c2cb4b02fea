"""The commands around a run: what there is, how fast it is, and the paper's experiments."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from rich.table import Table
from tyro.conf import Positional, arg

from merlax import envs
from merlax.cli.parsing import parse, show
from merlax.core import evolution
from merlax.experiments import reproduce as experiments
from merlax.runs import bench as benchmark

_SIZES = ("num_agents", "obs_size", "act_size", "horizon")  # that every world has


def list_envs(args: Sequence[str]) -> int:
    """List all worlds with their _SIZES."""

    @dataclasses.dataclass(frozen=True)
    class Options:
        json: bool = False
        """Print JSON instead of a table."""

    options = parse(Options, "envs", args, list_envs.__doc__)
    worlds: dict[str, Any] = {name: envs.make(name) for name in envs.ids()}
    if options.json:
        sizes = {name: {size: getattr(env, size) for size in _SIZES} for name, env in worlds.items()}
        rows = {name: sizes[name] | dataclasses.asdict(env) for name, env in worlds.items()}
        print(json.dumps(rows, indent=2))
        return 0
    table = Table("world", "agents", "obs", "act", "steps", "opponent", "its own parameters", box=None, pad_edge=False)
    for name, env in worlds.items():
        opponent = "yes" if hasattr(env, "opponent") else "no"
        own = [text for text in map(partial(_parameter, env), dataclasses.fields(env)) if text]
        table.add_row(name, *(str(getattr(env, size)) for size in _SIZES), opponent, ", ".join(own))
    show(table, 140)
    return 0


def _parameter(env: Any, field: dataclasses.Field[Any]) -> str:
    """A parameter of a world as the table shows it: _SIZES and words, and what differs from its kind's default."""
    value = getattr(env, field.name)
    shown = isinstance(value, int | str) or (isinstance(value, float) and value != field.default)
    return f"{field.name} {value}" if shown and field.name not in _SIZES else ""


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

    o = parse(Options, "selection-rate", args, selection_rate.__doc__)
    print(f"{evolution.expected_selection_rate(o.population, o.elites, o.tournament, trials=o.trials):.2f}")
    return 0


def bench(args: Sequence[str]) -> int:
    """Measure this machine: rollouts, updates, training, compile time and memory."""

    @dataclasses.dataclass(frozen=True)
    class Options:
        worlds: Annotated[Positional[tuple[str, ...]], arg(metavar="WORLD")] = ("rover-3",)
        """Worlds to measure."""
        preset: Literal["fast", "paper"] = "fast"
        """Whose update to measure."""
        json: bool = False
        """Print JSON instead of a table."""

    options = parse(Options, "bench", args, bench.__doc__)
    results = {world: benchmark.measure(world, options.preset) for world in options.worlds}
    if options.json:
        print(json.dumps(results, indent=2))
        return 0
    table = Table("measure", *results, box=None, pad_edge=False)
    for name in next(iter(results.values())):
        table.add_row(
            name,
            *(f"{result[name]:,.4g}" if result[name] < 100 else f"{result[name]:,.0f}" for result in results.values()),
        )
    show(table)
    return 0


def reproduce(args: Sequence[str]) -> int:
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

    options = parse(Options, "reproduce", args, reproduce.__doc__)
    if options.list:
        experiments.print_list()
        return 0
    experiment, folder = experiments.choose(
        options.figure, seeds=options.seeds, frames=options.frames, speed=options.speed, quick=options.quick
    )
    return experiments.run_and_print(experiment, options.out or folder, options.workers)


def plot(args: Sequence[str]) -> int:
    """Draw the figure of an experiment again, from its results."""

    @dataclasses.dataclass(frozen=True)
    class Options:
        results: Annotated[Positional[Path], arg(metavar="RESULTS")]
        """A results.csv, or the folder that `merlax reproduce` wrote."""
        out: Path | None = None
        """File to write (.png, .pdf or .svg); by default FIGURE.png beside the results."""

    options = parse(Options, "plot", args, plot.__doc__)
    print(experiments.plot(options.results, options.out))
    return 0
