"""An experiment in one command: run what is missing, collect it, measure it, draw it, say what came out."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from merlax.experiments import board, catalogue, drawing, report, results, runner
from merlax.experiments.backends import Backend
from merlax.experiments.results import Results
from merlax.experiments.runner import Outcome
from merlax.experiments.spec import Experiment, Job
from merlax.types import UserError

RESULTS, RUNS = "results.csv", "runs"
INTERRUPTED = 130  # the shell's code for Ctrl-C
_MADE_BY = {"seeds": "train --seeds", "sweep": "sweep"}  # experiments that users make up
_WIDE = 140  # columns of a table that goes to a file


def choose(
    name: str,
    *,
    seeds: Sequence[int] = (),
    worlds: Sequence[str] = (),
    methods: Sequence[str] = (),
    frames: int | None = None,
    speed: str | None = None,
    quick: bool = False,
    short: bool = False,
) -> tuple[Experiment, Path]:
    """An experiment with these changes, and the folder where it belongs: other settings, another folder."""
    if not name:
        raise UserError(f"Name a figure: {', '.join(catalogue.experiments())}.")
    experiment, folder = catalogue.experiment(name), name
    if speed is not None:
        experiment, folder = experiment.at_speed(speed), f"{folder}-{speed}"
    if quick:
        experiment, folder = experiment.quickened(), f"{folder}-quick"
    if short:
        experiment, folder = experiment.shortened(), f"{folder}-short"
    if frames is not None:
        if frames < 1:
            raise UserError(f"frames is {frames}; choose at least 1.")
        experiment, folder = experiment.with_budget(frames), f"{folder}-{frames}"
    if seeds:
        experiment = dataclasses.replace(experiment, seeds=_checked(seeds))
    return experiment.only(worlds, methods), Path("runs", "reproduce", folder)


def run_and_print(
    experiment: Experiment, out: Path, where: Callable[[Path], Backend] | None = None, *, quiet: bool = False
) -> int:
    """Run an experiment in the folder `out`, print what came out of it, and return the exit code.

    `where` makes the engine that runs it, given the folder of all runs; by default this machine's processes. If it is
    `quiet`, only what came out is shown.
    """
    root = out.resolve() / RUNS
    backend = None if where is None else where(root)
    if not quiet:
        print(f"{experiment.title}: {', '.join(task.label for task in experiment.tasks)}", flush=True)
    outcome = runner.run(list(experiment.jobs()), root, board.choose(quiet), backend)
    if outcome.finished:
        _report(experiment, outcome.finished, out)
    return tell_the_end(outcome, len(list(experiment.jobs())), root)


def tell_the_end(outcome: Outcome, total: int, root: Path) -> int:
    """Say what failed, or was interrupted, and return the exit code."""
    for failure in outcome.failed:
        print(f"merlax: failed: {failure.job.name}: {failure.reason}", file=sys.stderr)
    if outcome.interrupted:
        print(
            f"Interrupted; {len(outcome.finished)} of {total} runs are finished. The same command goes on from there."
        )
        return INTERRUPTED
    if outcome.failed:
        log = root / outcome.failed[0].job.folder / "output.log"
        print(
            f"merlax: {_count(len(outcome.failed))} failed (see '{log}'); the same command tries again.",
            file=sys.stderr,
        )
        return 2
    return 0


def plot(paths: Sequence[Path], out: Path | None = None, merged: Path | None = None) -> list[Path]:
    """Draw the figure again, from a results.csv or the folder that holds it, or from several with different runs.

    Several are written as one file to `merged`. Prints the table; gives what was written.
    """
    files = [_results_in(path) for path in paths]
    parts = [results.read(file) for file in files]
    name, beside = parts[0].experiment, files[0].parent
    if name in _MADE_BY:
        raise UserError(f"'{files[0]}' was made by `merlax {_MADE_BY[name]}`; the same command draws it again.")
    experiment = catalogue.experiment(name)
    found = parts[0] if len(parts) == 1 else results.join(parts, experiment)
    figure = drawing.draw(found, beside / RUNS, out or beside / f"{name}.png")
    if merged is not None:
        results.write(found, merged)
    for table in report.tables(found, experiment):
        _print_table(table)
    return [figure] if merged is None else [figure, merged]


def _results_in(path: Path) -> Path:
    if path.is_dir() and not (path / RESULTS).exists():
        raise UserError(f"The folder '{path}' holds no {RESULTS}; name one that `merlax reproduce` wrote.")
    return path / RESULTS if path.is_dir() else path


def print_list() -> None:
    """All figures: what they show and what they take; the paper's first, then ours, then the tuning."""
    for title, experiments in catalogue.parts().items():
        table = Table("figure", "runs", "million frames", title, box=None, pad_edge=False)
        for experiment in experiments:
            jobs = list(experiment.jobs())
            million = f"{sum(job.frames for job in jobs) / 1e6:,.0f}"
            table.add_row(experiment.name, str(len(jobs)), million, experiment.shows)
        console().print(table)
        print()


def write(experiment: Experiment, jobs: Sequence[Job], root: Path, out: Path) -> tuple[list[report.Table], Path]:
    """Results, table and figure of these finished runs, whose folders are below `root`; the tables and the figure."""
    found: Results = results.collect(experiment, jobs, root)
    results.write(found, out / RESULTS)
    tables = report.tables(found, experiment)
    (out / "table.md").write_text("\n".join(map(report.markdown, tables)), encoding="utf-8")
    return tables, drawing.draw(found, out / RUNS, out / f"{experiment.name}.png", experiment)


def _report(experiment: Experiment, jobs: Sequence[Job], out: Path) -> None:
    tables, figure = write(experiment, jobs, out / RUNS, out)
    for table in tables:
        _print_table(table)
    print("\nfinal scores over 200 fresh episodes per run; IQM and P with bootstrap intervals over seeds")
    for file in (out / RESULTS, out / "table.md", figure):
        print(f"  {file}")


def _print_table(lines: report.Table) -> None:
    header, *rows = lines
    table = Table(*header, box=None, pad_edge=False)
    for row in rows:
        table.add_row(*row)
    print()
    console().print(table, markup=False)


def console() -> Console:
    """As wide as the terminal, or wide enough for the tables."""
    return Console(width=None if sys.stdout.isatty() else _WIDE)


def _count(failed: int) -> str:
    return "1 run" if failed == 1 else f"{failed} runs"


def _checked(seeds: Sequence[int]) -> tuple[int, ...]:
    for seed in seeds:
        if not 0 <= seed < 2**32:
            raise UserError(f"seed is {seed}; choose a whole number from 0 to {2**32 - 1}.")
    if len(set(seeds)) < len(seeds):
        raise UserError(f"The seeds {', '.join(map(str, seeds))} hold one twice; give each of them once.")
    return tuple(seeds)
