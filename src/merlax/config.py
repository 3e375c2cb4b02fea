"""Configurations: frozen dataclasses whose bounds stand at their fields, to JSON or TOML and back, strictly.

A field says what it may be (`fraction: Share = 0.1`), and whoever makes the object wrongly, in Python, in a file or on
the command line, reads the same sentence. A field that holds a part (an operator, a learner) is a nested object; a part
of another class than the field's own carries that class as "type". Nothing here imports what a file names: a class that
is not merlax's own must be given again by the user.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import inspect
import json
import math
import os
import sys
import types
import typing
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeVar

from merlax import files
from merlax.types import UserError, shown, suggest

C = TypeVar("C")


@dataclasses.dataclass(frozen=True)
class Range:
    """What a number may be: from `low` (or above it) to `high`."""

    low: int | float = -math.inf
    high: int | float = math.inf
    above: bool = False
    """Whether `low` itself is too low."""

    def __contains__(self, value: int | float) -> bool:
        return (self.low < value if self.above else self.low <= value) and value <= self.high

    def advice(self, value: int | float) -> str:
        """What to do about a value that is outside: "from 0 to 1", "of at least 1"."""
        if self.high < LARGEST:
            return f"from {self.low:,} to {self.high:,}"
        if value > self.high:
            return f"of at most {self.high:,}"
        return f"above {self.low:,}" if self.above else f"of at least {self.low:,}"


@dataclasses.dataclass(frozen=True)
class Length:
    """How many items a tuple or a dict may hold, or a text characters, which must be printable."""

    low: int = 0
    high: int | float = math.inf


LARGEST = 2**31 - 1  # whole number that a compiled program counts to
Count = Annotated[int, Range(1, LARGEST)]
Few = Annotated[int, Range(1, 1000)]  # bodies of a world, each of which sees all the others
Name = Annotated[str, Length(1, 200)]
Share = Annotated[float, Range(0, 1)]
Positive = Annotated[float, Range(0, above=True)]
NotNegative = Annotated[float, Range(0)]
Layers = Annotated[tuple[Count, ...], Length(1, 32)]


@dataclasses.dataclass(frozen=True)
class Checked:
    """A dataclass that refuses values other than its fields declare. Checks over several fields join in `check`.

    Examples:
        >>> merlax.Fitness(episodes=0)
        Traceback (most recent call last):
            ...
        merlax.types.UserError: episodes is 0; make it a whole number of at least 1.
    """

    _known: ClassVar[dict[str, type]] = {}  # by the name under which files mention them

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.__module__.startswith("merlax."):
            Checked._known[cls.__name__] = cls

    def __post_init__(self) -> None:
        for name, hint in _hints(type(self)).items():
            object.__setattr__(self, name, checked(getattr(self, name), hint, name))  # frozen for everybody else
        self.check()

    def check(self) -> None:
        """Refuse fields that do not fit each other."""


def checked(value: Any, hint: Any, path: str) -> Any:
    """The value as a field of this type has it (3 as 3.0, a list as a tuple), or one sentence on what is wrong."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is Annotated:
        return _within(checked(value, arguments[0], path), arguments[1:], path)
    if origin in (typing.Union, types.UnionType):
        if value is None and type(None) in arguments:
            return None
        return checked(value, next(a for a in arguments if a is not type(None)), path)
    if origin is typing.Literal:
        if not isinstance(value, str | int) or isinstance(value, bool) or value not in arguments:
            raise UserError(f"{path} is {shown(value)}; choose {' or '.join(map(repr, arguments))}.")
        return arguments[arguments.index(value)]
    if origin is tuple:
        if not isinstance(value, list | tuple):
            raise UserError(f"{path} is {shown(value)}; give a list.")
        kinds = [arguments[0]] * len(value) if arguments[-1] is Ellipsis else arguments
        if len(kinds) != len(value):
            raise UserError(f"{path} is {shown(value)}; give {len(kinds)} values.")
        return tuple(checked(item, kind, path) for item, kind in zip(value, kinds, strict=True))
    if origin is dict or typing.is_typeddict(hint):
        return _fields(value, hint, path)
    if hint is float or hint is int:
        return _number(value, hint, path)
    if hint in (bool, str) and not isinstance(value, hint):
        raise UserError(f"{path} is {shown(value)}; give a value of type {hint.__name__}.")
    if _is_part(hint) and not (dataclasses.is_dataclass(type(value)) and _serves(type(value), hint)):
        raise UserError(
            f"{path} is {shown(value)}; give an object of a frozen dataclass that serves as {hint.__name__}."
        )
    return value


def _fields(value: Any, hint: Any, path: str) -> dict[str, Any]:
    """An object of a file: each value as its field declares it, or all of one type. A form leaves other names alone."""
    if not isinstance(value, dict):
        raise UserError(f"{path or 'the file'} is {shown(value)}; give an object with named fields.")
    kinds = _hints(hint) if typing.is_typeddict(hint) else dict.fromkeys(value, typing.get_args(hint)[1])
    prefix = f"{path}." if path else ""
    return value | {name: checked(value[name], kind, prefix + name) for name, kind in kinds.items() if name in value}


def _is_part(hint: Any) -> bool:
    """Whether a field of this type holds an operator, a learner or the like: a dataclass, or what a protocol asks."""
    return isinstance(hint, type) and (dataclasses.is_dataclass(hint) or getattr(hint, "_is_runtime_protocol", False))


def _serves(kind: type, hint: Any) -> bool:
    """Whether objects of a class can stand in a field of this type.

    Where the field asks for a protocol, merlax's own classes name it, and a user's must take as many arguments.
    """
    if not isinstance(hint, type) or not issubclass(kind, hint):
        return False
    if hint in kind.__mro__ or not getattr(hint, "_is_protocol", False):
        return True
    return kind not in Checked._known.values() and all(
        _takes(getattr(kind, name), asked) for name, asked in vars(hint).items()
        if inspect.isfunction(asked) and (name == "__call__" or not name.startswith("_"))
    )  # fmt: skip


def _takes(function: Any, asked: Any) -> bool:
    """Whether a function can be called with the arguments that another has."""
    try:
        inspect.signature(function).bind(*inspect.signature(asked).parameters)
    except TypeError:
        return False
    return True


def _number(value: Any, kind: type, path: str) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UserError(f"{path} is {shown(value)}; give a {'whole number' if kind is int else 'number'}.")
    if not abs(value) <= sys.float_info.max:  # nor is NaN, nor a whole number that no float holds
        raise UserError(f"{path} is {shown(value)}; give a finite number.")
    if kind is int and not isinstance(value, int):
        raise UserError(f"{path} is {value!r}; make it a whole number.")
    return kind(value)


def _within(value: Any, bounds: tuple[Any, ...], path: str) -> Any:
    for bound in bounds:
        if isinstance(bound, Range) and value not in bound:
            kind = "whole number" if isinstance(value, int) else "number"
            raise UserError(f"{path} is {shown(value)}; make it a {kind} {bound.advice(value)}.")
        if isinstance(bound, Length):
            _check_length(value, bound, path)
    return value


def _check_length(value: Any, bound: Length, path: str) -> None:
    if len(value) < bound.low:
        raise UserError(f"{path} is {shown(value)}; give at least one.")
    if len(value) > bound.high:
        raise UserError(f"{path} is {shown(value)}, with {len(value):,} items; give at most {bound.high:,}.")
    if isinstance(value, str) and not value.isprintable():
        raise UserError(f"{path} is {shown(value)}; use only characters that can be printed.")


@functools.cache
def _hints(kind: type) -> dict[str, Any]:
    """The types of the fields of a dataclass or a form; whatever else it is has none."""
    if typing.is_typeddict(kind):
        return typing.get_type_hints(kind, include_extras=True)
    if not dataclasses.is_dataclass(kind):
        return {}
    hints = typing.get_type_hints(kind, include_extras=True)
    return {field.name: hints[field.name] for field in dataclasses.fields(kind)}


def to_dict(config: Any) -> dict[str, Any]:
    """The fields of a dataclass as plain data; nested objects that are not of their field's own class name theirs."""
    return {name: _plain(getattr(config, name), hint) for name, hint in _hints(type(config)).items()}


def _plain(value: Any, hint: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_plain(item, _item(hint)) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # JSON has no word for it
    if not dataclasses.is_dataclass(value):
        return value
    tag = {} if hint is type(value) else {"type": name_of(type(value))}
    return tag | to_dict(value)


def _item(hint: Any) -> Any:
    """The type of a tuple's first item."""
    inner = typing.get_args(typing.get_args(hint)[0] if typing.get_origin(hint) is Annotated else hint)
    return inner[0] if inner else Any


def name_of(kind: type) -> str:
    """How files mention a class: merlax's own by its name, another by its module, too."""
    return kind.__name__ if Checked._known.get(kind.__name__) is kind else f"{kind.__module__}:{kind.__qualname__}"


def merge(default: C, changes: Any, where: str = "") -> C:
    """A copy of the dataclass `default` with `changes`, a dict such as a file holds, each checked at its field."""
    if not isinstance(changes, dict):
        raise UserError(f"'{where or 'the configuration'}' must be an object with named fields, not {shown(changes)}.")
    hints = _hints(type(default))
    values: dict[str, Any] = {}
    for name, value in changes.items():
        path = f"{where}.{name}" if where else str(name)
        if name not in hints:
            raise UserError(f"There is no option '{path}'{suggest(str(name), sorted(hints))}; remove or rename it.")
        values[name] = _merged(getattr(default, name), value, hints[name], path)
    try:
        return dataclasses.replace(default, **values) if values else default  # type: ignore[type-var]
    except UserError as error:
        raise UserError(f"In '{where}': {error}" if where else str(error)) from error


def _merged(current: Any, value: Any, hint: Any, path: str) -> Any:
    if isinstance(current, tuple) and any(dataclasses.is_dataclass(item) for item in current):
        if not isinstance(value, list | tuple) or not value:
            raise UserError(f"'{path}' is {shown(value)}; give a list of objects with named fields.")
        # Each starts from the one in its place, and those beyond the last from the last.
        starts = [*current, *[current[-1]] * len(value)]
        pairs = enumerate(zip(starts, value, strict=False))
        return tuple(_part(start, item, _item(hint), f"{path}.{i}") for i, (start, item) in pairs)
    if dataclasses.is_dataclass(current):
        return _part(current, value, hint, path)
    return checked(value, hint, path)


def _part(current: Any, value: Any, hint: Any, path: str) -> Any:
    """A nested object: of the class that "type" names, or of the current one's."""
    if not isinstance(value, dict) or "type" not in value:
        return merge(current, value, path)
    name, rest = value["type"], {key: item for key, item in value.items() if key != "type"}
    if name == name_of(type(current)):
        return merge(current, rest, path)
    kind = Checked._known.get(name) if isinstance(name, str) else None
    if kind is None:
        raise UserError(
            f"'{path}' is of type {shown(name)}, which is not part of merlax, and no file is allowed to import code; "
            "give the algorithm that holds it again, as an object, or as module:Name on the command line."
        )
    if not _serves(kind, hint):
        raise UserError(f"'{path}' is of type {name!r}, which cannot serve there; leave out the type.")
    return merge(kind(), rest, path)


def to_json(data: Any, indent: int | None = None) -> str:
    """Data as JSON that every parser reads: null stands for a number that is not finite."""
    return json.dumps(_strict(data), indent=indent, allow_nan=False)


def _strict(data: Any) -> Any:
    if isinstance(data, dict):
        return {name: _strict(value) for name, value in data.items()}
    if isinstance(data, list | tuple):
        return [_strict(item) for item in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data


def difference(recorded: Any, given: Any, where: str = "") -> str:
    """Where two plain configurations differ, in words; nothing if they are alike."""
    if isinstance(recorded, dict) and isinstance(given, dict):
        for name in [*recorded, *(name for name in given if name not in recorded)]:
            path = f"{where}.{name}" if where else name
            found = difference(recorded.get(name), given.get(name), path)
            if found:
                return found
        return ""
    both_nan = recorded != recorded and given != given
    return "" if both_nan or recorded == given else f"{where} was {shown(recorded)} and is {shown(given)}"


def read(path: Path) -> dict[str, Any]:
    """What a configuration file holds: TOML if it ends so, else JSON."""
    try:
        data = files.read_toml(path) if path.suffix == ".toml" else files.read_json(path)
    except files.Unreadable as error:
        raise UserError(f"The config file '{path}' cannot be read: {error}.") from error
    if not isinstance(data, dict):
        raise UserError(f"The config file '{path}' must hold an object with named fields, not {shown(data)}.")
    return data


def import_object(name: str) -> Any:
    """What `module:Name` names, looked for in the current folder, too. Only for names that the user has typed."""
    module, _, attribute = name.partition(":")
    here = os.getcwd()
    if here not in sys.path:
        sys.path.insert(0, here)  # a console script does not look there by itself
    try:
        found = importlib.import_module(module)
    except Exception as error:  # whatever the user's own module throws
        reason = " ".join(str(error).split()) or type(error).__name__
        raise UserError(f"The module '{module}' of '{name}' cannot be imported ({reason}).") from error
    try:
        return functools.reduce(getattr, attribute.split("."), found)
    except AttributeError as error:
        near = suggest(attribute, [each for each in vars(found) if not each.startswith("_")])
        raise UserError(f"The module '{module}' holds no '{attribute}'{near}.") from error
