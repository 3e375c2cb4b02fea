"""What a field of a configuration may be; anything else is refused in one sentence that names it."""

from __future__ import annotations

import math
from typing import Any

from merlax.types import UserError


def whole(config: Any, *names: str, least: int = 1) -> None:
    """Whole numbers of at least `least`."""
    for name in names:
        value = getattr(config, name)
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise UserError(f"{name} is {value!r}; make it a whole number of at least {least}.")


def positive(config: Any, *names: str) -> None:
    """Finite numbers above 0."""
    for name in names:
        if not _number(config, name) > 0:
            raise UserError(f"{name} is {getattr(config, name)}; make it a number above 0.")


def not_negative(config: Any, *names: str) -> None:
    """Finite numbers of at least 0."""
    for name in names:
        if not _number(config, name) >= 0:
            raise UserError(f"{name} is {getattr(config, name)}; make it a number of at least 0.")


def share(config: Any, *names: str) -> None:
    """Numbers from 0 to 1."""
    for name in names:
        if not 0 <= _number(config, name) <= 1:
            raise UserError(f"{name} is {getattr(config, name)}; make it a number from 0 to 1.")


def layers(config: Any, *names: str) -> None:
    """At least one layer, each of at least one unit."""
    for name in names:
        if not getattr(config, name) or min(getattr(config, name)) < 1:
            raise UserError(f"{name} is {getattr(config, name)}; give at least one layer, each of at least 1 unit.")


def choice(config: Any, name: str, *values: Any) -> None:
    """One of these values."""
    if getattr(config, name) not in values:
        options = " or ".join(repr(value) for value in values)
        raise UserError(f"{name} is {getattr(config, name)!r}; choose {options}.")


def _number(config: Any, name: str) -> float:
    value = getattr(config, name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise UserError(f"{name} is {value!r}; give a finite number.")
    return value
