"""Several figures as one piece of work: shared runs are made once, and a figure is drawn whenever it gains a seed."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from itertools import zip_longest
from pathlib import Path

from merlax.experiments import board, catalogue, jobs, paper, reproduce, results, runner
from merlax.experiments.backends import Backend
from merlax.experiments.reproduce import RESULTS, RUNS
from merlax.experiments.spec import Experiment, Job, slug
from merlax.types import UserError

ALL = "all"  # the paper's figures


@dataclasses.dataclass(frozen=True)
class Part:
    """One figure with its runs, whose folders it may share with others."""

    experiment: Experiment
    jobs: tuple[Job, ...]

    @property
    def name(self) -> str:
        return self.experiment.name

    def of_seed(self, seed: int) -> list[Job]:
        """Its runs with one seed."""
        return [job for job in self.jobs if job.seed == seed]

    def complete(self, finished: set[Path]) -> list[int]:
        """The seeds with which every method has come to its end on every world."""
        return [seed for seed in self.experiment.seeds if all(job.folder in finished for job in self.of_seed(seed))]


def choose(
    names: Sequence[str],
    *,
    seeds: Sequence[int] = (),
    frames: int | None = None,
    speed: str | None = None,
    quick: bool = False,
    short: bool = False,
) -> tuple[list[Part], Path]:
    """The figures of these names with these changes, and the folder where they belong; `all` names the paper's."""
    if ALL in names and len(names) > 1:
        raise UserError("'all' has every figure of the paper already; name it alone, or name some figures.")
    if len(set(names)) < len(names):
        raise UserError(f"The figures {', '.join(names)} hold one twice; name each of them once.")
    whole = [experiment.name for experiment in paper.EXPERIMENTS] if ALL in names else list(names)
    chosen = []
    for name in whole:
        own = speed if ALL not in names or catalogue.experiment(name).has_speed else None
        changed, _ = reproduce.choose(name, seeds=seeds, frames=frames, speed=own, quick=quick, short=short)
        chosen.append(changed)
    _, folder = reproduce.choose(whole[0], frames=frames, quick=quick, short=short)
    marks = folder.name.removeprefix(whole[0])
    return share(chosen), folder.with_name(f"{ALL}{f'-{speed}' if speed else ''}{marks}")


def share(experiments: Iterable[Experiment]) -> list[Part]:
    """The runs of each figure in folders that follow from what decides a run: whoever asks for the same shares it."""
    return [
        Part(each, tuple(dataclasses.replace(job, place=place(job)) for job in each.jobs())) for each in experiments
    ]


def place(job: Job) -> Path:
    """World, algorithm and a digest of all settings, seed."""
    decides = {name: value for name, value in (jobs.record(job) or jobs.request(job)).items() if name != "seed"}
    digest = hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()
    return Path(slug(job.task.label), f"{slug(job.method.algorithm)}-{digest[:8]}", str(job.seed))


def in_turns(parts: Sequence[Part]) -> list[Job]:
    """All runs, each once: every figure with its first seed, then every figure with its second, and so on."""
    found: dict[Path, Job] = {}
    for turn in zip_longest(*(part.experiment.seeds for part in parts)):
        for part, seed in zip(parts, turn, strict=True):
            for job in () if seed is None else part.of_seed(seed):
                found.setdefault(job.folder, job)
    return list(found.values())


def run_and_print(parts: Sequence[Part], out: Path, where: Callable[[Path], Backend] | None = None) -> int:
    """Run what is missing of these figures, write each as it grows, and return the exit code."""
    root, wanted = out.resolve() / RUNS, in_turns(parts)
    backend = None if where is None else where(root)
    print(f"{len(parts)} figures: {', '.join(part.name for part in parts)}", flush=True)
    writer = Writer(parts, out, {job.folder for job in wanted if jobs.is_finished(job, root)})
    outcome = runner.run(wanted, root, board.choose(), backend, writer.hear)
    for part in parts:
        seeds = part.complete(writer.finished)
        print(f"  {part.name}: {len(seeds)} of {len(part.experiment.seeds)} seeds, in {out / part.name}")
    return reproduce.tell_the_end(outcome, len(wanted), root)


class Writer:
    """Writes results, table and figure of each part whenever it has a seed more than what is written."""

    def __init__(self, parts: Sequence[Part], out: Path, finished: set[Path]):
        """What an earlier process did not get to write is written now."""
        self._parts, self._out, self.finished = parts, out, finished
        for part in parts:
            written = _written(out / part.name)
            if part.complete(finished) and set(part.complete(finished)) != written:
                self._write(part)

    def hear(self, job: Job) -> None:
        """Take a run that has come to its end."""
        before = {part.name: part.complete(self.finished) for part in self._parts}
        self.finished.add(job.folder)
        for part in self._parts:
            if part.complete(self.finished) != before[part.name]:
                self._write(part)

    def _write(self, part: Part) -> None:
        """What cannot be written or drawn ends no run."""
        seeds, folder, root = part.complete(self.finished), self._out / part.name, self._out.resolve() / RUNS
        done = [job for seed in seeds for job in part.of_seed(seed)]
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for job in done:
                _link(folder / RUNS / dataclasses.replace(job, place=None).folder, root / job.folder)
            reproduce.write(part.experiment, done, root, folder)
            print(f"{part.name}: {len(seeds)} of {len(part.experiment.seeds)} seeds, {folder}", flush=True)
        except (UserError, OSError) as error:
            print(f"merlax: the figure {part.name} cannot be written now: {error}", file=sys.stderr, flush=True)


def _written(folder: Path) -> set[int]:
    """The seeds in the results that are there."""
    with contextlib.suppress(UserError):
        return {row.seed for row in results.read(folder / RESULTS).rows}
    return set()


def _link(link: Path, run: Path) -> None:
    """Let a figure's own folder show a shared run under the figure's own names."""
    target = os.path.relpath(run, link.parent.resolve())
    if link.is_symlink() and os.readlink(link) == target:
        return
    link.unlink(missing_ok=True)
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(target, target_is_directory=True)
