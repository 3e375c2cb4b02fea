"""Configurations as plain data: to JSON and back, strictly."""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from typing import Any, TypeVar

from merlax.types import UserError, suggest

C = TypeVar("C")


def to_dict(config: Any) -> dict[str, Any]:
    """The fields of a dataclass, nested ones included."""
    return dataclasses.asdict(config)


def merge(default: C, changes: Any, where: str = "") -> C:
    """A copy of the dataclass `default` with `changes`, each checked against the type of its field."""
    if not isinstance(changes, dict):
        raise UserError(f"'{where or 'the configuration'}' must be an object with named fields, not {changes!r}.")
    fields = {field.name for field in dataclasses.fields(default)}  # type: ignore[arg-type]
    hints = typing.get_type_hints(type(default))
    values: dict[str, Any] = {}
    for name, value in changes.items():
        path = f"{where}.{name}" if where else name
        if name not in fields:
            raise UserError(f"There is no option '{path}'{suggest(name, sorted(fields))}; remove or rename it.")
        current = getattr(default, name)
        if dataclasses.is_dataclass(current):
            values[name] = merge(current, value, path)
        else:
            values[name] = _checked(value, hints[name], path)
    return dataclasses.replace(default, **values)  # type: ignore[type-var]


def _checked(value: Any, hint: Any, path: str) -> Any:
    """The value as the field's type has it, or one sentence on what is wrong."""
    if isinstance(value, float) and not math.isfinite(value):
        raise UserError(f"'{path}' is {value}; give a finite number.")
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        if value is None and type(None) in arguments:
            return None
        return _checked(value, next(a for a in arguments if a is not type(None)), path)
    if origin is typing.Literal:
        if value not in arguments:
            raise UserError(f"'{path}' is {value!r}; choose one of {', '.join(map(repr, arguments))}.")
        return value
    if origin is tuple:
        if not isinstance(value, list | tuple):
            raise UserError(f"'{path}' is {value!r}; give a list.")
        return tuple(_checked(item, arguments[0], path) for item in value)
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, hint) or (isinstance(value, bool) and hint is not bool):
        raise UserError(f"'{path}' is {value!r}; give a value of type {hint.__name__}.")
    return value


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
