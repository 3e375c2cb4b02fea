"""The commands around the paper's experiments: reproduce, plot."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from tyro.conf import Positional, arg

from merlax.cli.parsing import parse
from merlax.experiments import backends, plan, whole
from merlax.experiments import reproduce as experiments
from merlax.experiments.backends import Resources
from merlax.types import UserError


def reproduce(args: Sequence[str]) -> int:
    """Run an experiment, the paper's or ours, and draw its figure; what is finished already is not run again.

    `merlax reproduce all` runs all figures of the paper, seed by seed; --plan tells how long that takes.
    """

    @dataclasses.dataclass(frozen=True)
    class Options:
        figures: Annotated[Positional[tuple[str, ...]], arg(metavar="FIGURE")] = ()
        """Name of a figure, of several, or all; --list shows them."""
        list: bool = False
        """List the figures and end."""
        plan: bool = False
        """Print every kind of run, its rate on this machine and the hours left; what is not known is measured first."""
        seeds: tuple[int, ...] = ()
        """Seeds to run; by default the experiment's own."""
        worlds: tuple[str, ...] = ()
        """Worlds to run; by default all of the experiment's. Figure and results are of this part; other runs stay."""
        methods: tuple[str, ...] = ()
        """Methods to run, by their names in the figure; by default all."""
        frames: int | None = None
        """Budget of every run; by default the experiment's own."""
        workers: int | None = None
        """Runs at a time on this machine; by default one per core, which is fastest."""
        on: Literal["local", "ray", "slurm"] = "local"
        """Where: this machine's processes, a Ray cluster (pip install 'merlax[ray]') or SLURM ('merlax[slurm]')."""
        resources: str = ""
        """What every run gets there, such as cpu=4,gpu=0.5; by default one core."""
        speed: Literal["free", "pinned"] | None = None
        """Speed of the rovers; by default pinned, as the published scores very likely had it."""
        out: Path | None = None
        """Folder for runs and results; by default one under runs/reproduce/."""
        quick: bool = False
        """Everything end to end in a minute or two, too small for its scores to mean anything."""
        short: bool = False
        """Contests with 3 million frames instead of 10, EA and ES alone with 30 instead of 100."""

    options = parse(Options, "reproduce", args, reproduce.__doc__)
    if options.list:
        experiments.print_list()
        return 0
    changes = {name: getattr(options, name) for name in ("seeds", "frames", "speed", "quick", "short")}
    where = functools.partial(backends.choose, options.on, Resources.read(options.resources), workers=options.workers)
    several = len(options.figures) > 1 or whole.ALL in options.figures
    if several:
        if options.worlds or options.methods:
            raise UserError("--worlds and --methods choose a part of one figure; name only that one.")
        parts, folder = whole.choose(options.figures, **changes)
    else:
        part = {"worlds": options.worlds, "methods": options.methods}
        experiment, folder = experiments.choose("".join(options.figures), **changes, **part)
        parts = [whole.Part(experiment, tuple(experiment.jobs()))]
    out = options.out or folder
    if options.plan:
        if options.on != "local":
            raise UserError("--plan tells what this machine does; leave out --on.")
        return plan.print_plan(parts, out.resolve() / experiments.RUNS, where(out))
    if several:
        return whole.run_and_print(parts, out, where)
    return experiments.run_and_print(parts[0].experiment, out, where)


def plot(args: Sequence[str]) -> int:
    """Draw the figure of an experiment again, from its results, and print its table.

    Results of several machines, with other seeds or methods each, are drawn together.
    """

    @dataclasses.dataclass(frozen=True)
    class Options:
        results: Annotated[Positional[tuple[Path, ...]], arg(metavar="RESULTS")]
        """A results.csv, or the folder that `merlax reproduce` wrote; or several."""
        out: Path | None = None
        """File to write (.png, .pdf or .svg); by default FIGURE.png beside the first results."""
        merged: Path | None = None
        """Also write all results to this file."""

    options = parse(Options, "plot", args, plot.__doc__)
    if not options.results:
        raise UserError("Name a results.csv, or a folder that holds one.")
    for file in experiments.plot(options.results, options.out, options.merged):
        print(file)
    return 0
