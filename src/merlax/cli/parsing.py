"""What several commands need: options from arguments, objects that arguments name, tables."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import tyro
from rich.console import Console
from rich.table import Table
from tyro.conf import Suppress, arg

from merlax import envs
from merlax.core import devices
from merlax.core.td3 import Td3
from merlax.envs.base import Env
from merlax.runs import reader, teams
from merlax.runs.reader import Run
from merlax.runs.teams import Lineup
from merlax.types import UserError

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_RULE = "\0"  # between the parts of what tyro says


def parse(options: Any, command: str, args: Sequence[str], description: str | None, default: Any = None) -> Any:
    """The options of a command, from its arguments."""
    given = {} if default is None else {"default": default}
    with _one_sentence(command):
        return tyro.cli(options, prog=f"merlax {command}", args=list(args), description=description, **given)


def parse_known(
    options: type, command: str, args: Sequence[str], default: Any = None, description: str | None = None
) -> tuple[Any, list[str]]:
    """The options of a command that are known already, and the arguments that are not."""
    given: Any = {"description": description} | ({} if default is None else {"default": default})
    with _one_sentence(command):
        return tyro.cli(options, prog=f"merlax {command}", args=list(args), return_unknown_args=True, **given)


@contextlib.contextmanager
def _one_sentence(command: str) -> Iterator[None]:
    """What tyro says in a box on standard error, as merlax says it: the reason, and what was meant, if it is near."""
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            yield
    except SystemExit as ended:
        if not ended.code:  # it has shown the help
            raise
        text = [line.strip(" │╰╯") for line in _COLOUR.sub("", said.getvalue()).splitlines()[1:]]  # below its title
        parts = " ".join(line if line.strip("─-") else _RULE for line in text).split(_RULE)
        near = re.findall(r"(?:Perhaps you meant|Arguments similar to [^:]+): +(--\S+)", " ".join(parts))
        reason = next(filter(str.strip, parts), "This cannot be read").strip().removesuffix(" (required)").rstrip(".")
        hint = f" (did you mean {' and '.join(near)}?)" if near else ""
        raise UserError(f"{reason}{hint}; `merlax {command} --help` explains every option.") from ended


class Form:
    """An algorithm as options: its fields, and a single learner's as `--td3.…`, whatever field holds it."""

    def __init__(self, algorithm: Any):
        self.algorithm = algorithm
        values = {field.name: getattr(algorithm, field.name) for field in dataclasses.fields(algorithm)}
        single = [name for name, value in values.items() if isinstance(value, Td3) or _is_one_learner(value)]
        self._held = single[0] if len(single) == 1 else None
        fields: list[Any] = []
        if self._held is not None:
            held = values[self._held]
            learner = held if isinstance(held, Td3) else held[0]
            fields = [(self._held, Suppress[Any], dataclasses.field(default=held)), ("td3", Td3, learner)]
        kind = type(algorithm)
        self.type: type = dataclasses.make_dataclass(kind.__name__, fields, bases=(kind,), frozen=True)
        self.default = self.type(**values)

    def read(self, filled: Any) -> Any:
        """The algorithm that was filled in."""
        values = {field.name: getattr(filled, field.name) for field in dataclasses.fields(self.algorithm)}
        if self._held is not None:
            values[self._held] = filled.td3 if isinstance(values[self._held], Td3) else (filled.td3,)
        return dataclasses.replace(self.algorithm, **values)


def _is_one_learner(value: Any) -> bool:
    return isinstance(value, tuple) and len(value) == 1 and isinstance(value[0], Td3)


def flat(kind: type) -> Any:
    """The type of a field whose own fields become options without a prefix."""
    return Annotated[kind, arg(name="")]


def named_env(name: str | None, run: Path) -> Env | None:
    """The world that an option names, such as `module:World`, with the parameters that it had in a run."""
    return None if name is None else reader.env_like(run, envs.make(name))


def open_run(path: Path, env: str | None) -> Run:
    """A run folder, on the world that an option names, if one does."""
    devices.prepare()
    return reader.load(path, named_env(env, path))


def parse_team(options: type, command: str, args: Sequence[str], description: str | None) -> tuple[Any, list[str]]:
    """The options of a command about a team, and those of the world, if the team is a rule on one."""
    o, rest = parse_known(options, command, args, description=description)
    if rest and not _is_rule(o):
        parse(options, command, args, description)  # which says what is wrong
    return o, rest


def find_team(o: Any, rest: Sequence[str], command: str) -> Run | Lineup:
    """The team that a command is about: a run's, or with --team a rule on a world, whose options `rest` gives."""
    devices.prepare()
    if _is_rule(o):
        return teams.by_rule(_with_options(envs.make(str(o.run)), rest, command), o.team)
    if teams.is_world(o.run) and not o.run.exists():
        teams.find(o.run)  # which says how to name its rule
    return teams.find(open_run(o.run, o.env), o.team)


def _is_rule(o: Any) -> bool:
    return o.team is not None and teams.is_world(o.run)


def _with_options(env: Env, args: Sequence[str], command: str) -> Env:
    """A world with the fields that `--env.…` changes."""
    if not args:
        return env
    if not reader.env_record(env):
        raise UserError(f"This world has no options; leave out {' '.join(args)}.")
    kind = dataclasses.make_dataclass("World", [("env", type(env), env)], frozen=True)
    return parse(kind, command, args, None).env


def show(table: Table, width: int = 120) -> None:
    """Print a table; where the output is not a terminal, as wide as it needs."""
    Console(width=None if sys.stdout.isatty() else width).print(table)
