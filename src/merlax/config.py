"""Configurations as plain data: to JSON and back, strictly."""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from typing import Any, TypeVar

from merlax.envs.base import suggest
from merlax.types import UserError

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
