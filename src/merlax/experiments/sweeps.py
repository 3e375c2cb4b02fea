"""Experiments that a user makes up: one run with several seeds, or with several values of its settings."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from merlax import config, envs, files
from merlax.algorithms import presets
from merlax.experiments import jobs
from merlax.experiments.spec import Experiment, Figure, Job, Method, Quick, Task
from merlax.runs import forms, reader
from merlax.runs.process import make_folder
from merlax.runs.reader import DDPG
from merlax.runs.recorders import write_text
from merlax.runs.setup import Setup
from merlax.types import UserError, shown

MOST_RUNS = 10_000
MOST_LINES = 8  # that a figure of curves can tell apart
REQUEST = "request.json"  # in the folder of a sweep: what all of its runs have in common


def read_seeds(text: str) -> tuple[int, ...]:
    """Seeds from what a user types: "0-4", or "1,5,7-9"."""
    found: list[int] = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        match = re.fullmatch(r"(\d{1,10})(?:-(\d{1,10}))?", part)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if first > last or last >= 2**32 or last - first >= MOST_RUNS:
            raise UserError(f"--seeds says {shown(text)}; give whole numbers and ranges, such as 0-4 or 1,5,7-9.")
        found += range(first, last + 1)
    if len(set(found)) < len(found):
        raise UserError(f"--seeds says {shown(text)}, which holds a seed twice; give each of them once.")
    return tuple(found)


def task(planned: Setup, opponent: str | None, start: str | None) -> Task:
    """The world of a planned run, against the opponent and from the champion that the user named."""
    assert planned.world is not None, "a world that has no name cannot be asked for"
    usual = reader.env_record(envs.make(planned.world))
    options = {name: value for name, value in reader.env_record(planned.env).items() if value != usual.get(name)}
    rival: Mapping[str, Any] = {}
    if planned.opponent_kind == DDPG:
        usual = config.to_dict(presets.opponent(planned.preset, planned.world))
        rival = _changes(usual, config.to_dict(planned.opponent))
    return Task(planned.world, options, opponent=opponent, opponent_settings=rival, start=start)


def method(planned: Setup, label: str) -> Method:
    """The algorithm of a planned run."""
    usual = config.to_dict(presets.preset(planned.preset, planned.world, planned.method))
    return Method(label, planned.method, _changes(usual, config.to_dict(planned.algorithm)), planned.preset)


def experiment(
    name: str, title: str, tasks: Sequence[Task], methods: Sequence[Method], frames: int, seeds: Sequence[int]
) -> Experiment:
    """All of them together, with curves, or with final scores where there would be too many curves."""
    runs = len(tasks) * len(methods) * len(seeds)
    if runs > MOST_RUNS:
        raise UserError(f"These are {runs:,} runs; give fewer seeds or values, for at most {MOST_RUNS:,}.")
    for what, labels in (("worlds", [t.label for t in tasks]), ("methods", [m.label for m in methods])):
        if len(set(labels)) < len(labels):
            raise UserError(f"Two of the {what} are the same ({labels[0]}, …); give each value once.")
    figure: Figure = "curves" if len(methods) <= MOST_LINES else "finals"
    return Experiment(name, title, "", figure, tuple(tasks), tuple(methods), frames, Quick(1, {}), tuple(seeds))


def folder(out: Path | None, name: str, common: Job, *, force: bool = False) -> Path:
    """Where a sweep belongs: a folder that is free, or holds runs that have the same in common."""
    text = _text(common)
    if out is None:
        numbered = itertools.chain([name], (f"{name}-{number}" for number in itertools.count(2)))
        out = next(path for path in (Path("runs", each) for each in numbered) if _is_free(path, text))
    elif not force and not _is_free(out, text):
        raise UserError(f"'{out}' holds other runs already; choose another --out, or replace them with --force.")
    return out


def claim(out: Path, common: Job) -> None:
    """Write down what all runs of a folder have in common."""
    make_folder(out)
    try:
        write_text(out / REQUEST, _text(common))
    except OSError as error:
        raise UserError(f"The folder '{out}' cannot be written ({error.strerror}); choose another --out.") from error


def _text(common: Job) -> str:
    asked = {name: value for name, value in jobs.request(common).items() if name != "seed"}
    named = {"start": {"run": common.task.start}} if common.task.start else {}
    return json.dumps(asked | named, indent=2) + "\n"


def _is_free(path: Path, text: str) -> bool:
    """Whether a folder holds nothing yet, or a sweep with just this in common."""
    if not path.exists():
        return True
    try:
        return forms.read(path / REQUEST, forms.Config) == json.loads(text)
    except files.Unreadable:
        return path.is_dir() and not any(path.iterdir())


def _changes(usual: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """What differs from a preset, as a file would say it; of learners in their places, what differs of each."""
    return {name: _change(usual.get(name), value) for name, value in own.items() if value != usual.get(name)}


def _change(usual: Any, own: Any) -> Any:
    if isinstance(usual, dict) and isinstance(own, dict) and usual.get("type") == own.get("type"):
        return _changes(usual, own)
    if isinstance(usual, list) and isinstance(own, list) and len(usual) == len(own) and all(map(_is_object, own)):
        return [_change(*both) for both in zip(usual, own, strict=True)]
    return own


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)
