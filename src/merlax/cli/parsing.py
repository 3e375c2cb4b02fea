"""What several commands need: options from arguments, objects that arguments name, tables."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import tyro
from rich.console import Console
from rich.table import Table
from tyro.conf import Suppress, arg

from merlax import config, envs
from merlax.core.td3 import Td3
from merlax.envs.base import Env
from merlax.runs import reader


def parse(options: Any, command: str, args: Sequence[str], description: str | None, default: Any = None) -> Any:
    """The options of a command, from its arguments."""
    given = {} if default is None else {"default": default}
    return tyro.cli(options, prog=f"merlax {command}", args=list(args), description=description, **given)


def parse_known(options: type, command: str, args: Sequence[str], default: Any) -> tuple[Any, list[str]]:
    """The options of a command that are known already, and the arguments that are not."""
    return tyro.cli(options, prog=f"merlax {command}", args=list(args), default=default, return_unknown_args=True)


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


def named_env(name: str | None, *runs: Path) -> Env | None:
    """The world that an option names, such as `module:World`, with the parameters that the first of the runs had."""
    if name is None or not runs:
        return None
    return config.merge(envs.make(name), reader.read_config(runs[0])["env"], "env")


def show(table: Table, width: int = 120) -> None:
    """Print a table; where the output is not a terminal, as wide as it needs."""
    Console(width=None if sys.stdout.isatty() else width).print(table)
