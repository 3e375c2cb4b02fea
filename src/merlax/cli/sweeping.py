"""The commands that make many runs at once: sweep, and train with several seeds."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

from merlax.cli.options import Request, TrainOptions, read_request
from merlax.experiments import backends, reproduce, sweeps
from merlax.experiments.backends import Resources
from merlax.experiments.spec import Experiment, Method
from merlax.runs import session
from merlax.types import UserError

Choice: TypeAlias = tuple[str, str]  # an option and one of its values

_ONE_VALUE = ("seeds", "resources", "out", "config", "from", "opponent")  # whose commas mean something else
_FOR_ONE_RUN = ("seed", "go_on", "track", "checkpoint_every", "keep_checkpoint", "pictures", "ignore_memory",
                "distributed", "coordinator", "processes", "process")  # fmt: skip
_DECIDES = ("algorithm", "preset")
_FOR_MANY = ("workers", "on", "resources")


def sweep(args: Sequence[str]) -> int:
    """Train with every value of options that have several, such as --td3.discount 0.5,0.8: one table, one figure."""
    fixed, varied = split(args)
    # What decides which options there are has its first value for all that the runs have in common.
    first = [word for name in _DECIDES if name in varied for word in (f"--{name}", varied[name][0])]
    return run_many(read_request([*fixed, *first], "sweep", sweep.__doc__), fixed, varied, "sweep")


def refuse_many(options: TrainOptions) -> None:
    """A single run has no use for what says where many are made."""
    _refuse(options, _FOR_MANY, "is for several runs: name their seeds with --seeds, or leave it out")


def run_many(request: Request, fixed: Sequence[str], varied: dict[str, list[str]], command: str) -> int:
    """All runs of a request, whose options `varied` have several values each."""
    o = request.options
    seeds = sweeps.read_seeds(o.seeds) or (o.seed,)
    if not o.seeds and not varied:
        raise UserError("Nothing varies: give an option several values, as in --td3.discount 0.5,0.8, or --seeds 0-2.")
    _refuse(o, _FOR_ONE_RUN[1:] if not o.seeds else _FOR_ONE_RUN, "is for one run: leave it out")
    named = None if o.opponent is None else _absolute(o.opponent)
    start = None if o.start is None else str(o.start.resolve())
    read = functools.partial(_planned, fixed, command)

    worlds, settings = (_combined(varied, of_world=flag) for flag in (True, False))
    plans = [read([*worlds[0], *own]) for own in settings]
    methods = [sweeps.method(plan, _label(plan.method, own)) for plan, own in zip(plans, settings, strict=True)]
    tasks = [sweeps.task(read([*own, *settings[0]]), named, start) for own in worlds]
    base = request.plan()
    title = f"{_shown(base.method)} on {base.world}"
    if varied:
        title = f"{base.world}: {', '.join(varied)}" if "algorithm" in varied else f"{title}: {', '.join(varied)}"
    experiment = sweeps.experiment("sweep" if varied else "seeds", title, tasks, methods, o.frames, seeds)
    name = f"{base.name.rpartition('-seed')[0]}-{experiment.name}"
    return _run(experiment, request, name, sweeps.task(base, named, start), sweeps.method(base, "all"))


def _run(experiment: Experiment, request: Request, name: str, task: Any, method: Method) -> int:
    o, first = request.options, next(experiment.jobs())
    session.check(request.plan(), Path(o.out or "runs") / "none", force=True)
    if o.dry_run:
        jobs = list(experiment.jobs())
        print(f"{experiment.title}\n{len(jobs)} runs of {o.frames:,} frames:")
        print("\n".join(f"  {job.name}" for job in jobs))
        return 0
    common = dataclasses.replace(first, task=task, method=method)
    out = sweeps.folder(o.out, name, common, force=o.force)
    root = out.resolve() / reproduce.RUNS
    backend = backends.choose(o.on, Resources.read(o.resources), root, workers=o.workers)
    sweeps.claim(out, common)
    return reproduce.run_and_print(experiment, out, lambda _: backend, quiet=o.quiet)


def split(args: Sequence[str]) -> tuple[list[str], dict[str, list[str]]]:
    """The words that hold for all runs, and the options that have several values, which commas separate."""
    fixed: list[str] = []
    varied: dict[str, list[str]] = {}
    words = list(args)
    while words:
        word = words.pop(0)
        option, equals, value = word.partition("=")
        if word.startswith("--") and not equals and words and not words[0].startswith("--"):
            value = words[0]
        name = option.removeprefix("--").replace("_", "-")
        if not word.startswith("--") or "," not in value or name in _ONE_VALUE:
            fixed.append(word)
            continue
        values = [part.strip() for part in value.split(",")]
        if not equals:
            words.pop(0)
        if name in varied or "" in values or len(set(values)) < len(values):
            raise UserError(f"{option} says '{value}'; give it once, with different values, such as 0.5,0.8.")
        varied[name] = values
    return fixed, varied


def _combined(varied: dict[str, list[str]], *, of_world: bool) -> list[list[Choice]]:
    """All combinations of the values of the world's options, or of the others."""
    own = {name: values for name, values in varied.items() if name.startswith("env.") is of_world}
    return [list(zip(own, values, strict=True)) for values in itertools.product(*own.values())]


def _planned(words: Sequence[str], command: str, choices: Sequence[Choice]) -> Any:
    """The run with these values."""
    more = [part for name, value in choices for part in (f"--{name}", value)]
    return read_request([*words, *more], command, None).plan()


def _label(algorithm: str, choices: Sequence[Choice]) -> str:
    """What a method is called: by the values that tell it from the others, or by its algorithm."""
    told = [_shown(value) if name == "algorithm" else f"{name} {value}" for name, value in choices]
    return ", ".join(told) or _shown(algorithm)


def _shown(algorithm: str) -> str:
    return algorithm.rpartition(":")[2] if ":" in algorithm else algorithm.upper()


def _absolute(opponent: str) -> str:
    """A run folder by a name that holds everywhere; words stay as they are."""
    return str(Path(opponent).resolve()) if Path(opponent).exists() else opponent


def _refuse(options: Any, names: Sequence[str], reason: str) -> None:
    usual = TrainOptions()
    for name in names:
        if getattr(options, name) != getattr(usual, name):
            raise UserError(f"--{name.replace('_', '-')} {reason}.")
