"""What several commands need: options from arguments, files that options name, tables."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import tyro
from rich.console import Console
from rich.table import Table

from merlax.types import UserError


def parse(options: Any, command: str, args: Sequence[str], description: str | None) -> Any:
    """The options of a command, from its arguments."""
    return tyro.cli(options, prog=f"merlax {command}", args=list(args), description=description)


def peek(args: Sequence[str], option: str) -> str | None:
    """The value of an option that decides the defaults of others: `--option value` or `--option=value`."""
    for this, after in pairwise([*args, ""]):
        if this == option:
            return after
        if this.startswith(f"{option}="):
            return this.removeprefix(f"{option}=")
    return None


def read_json(path: Path) -> Any:
    """What a config file holds."""
    try:
        return json.loads(path.read_text())
    except OSError as error:
        raise UserError(f"The config file '{path}' cannot be read ({error.strerror}).") from error
    except ValueError as error:
        raise UserError(f"The config file '{path}' is not valid JSON ({error}).") from error


def show(table: Table, width: int = 120) -> None:
    """Print a table; where the output is not a terminal, as wide as it needs."""
    Console(width=None if sys.stdout.isatty() else width).print(table)
