"""For mkdocstrings: the fields of a dataclass are its parameters, with their bounds, defaults and docstrings."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import logging
import types
import typing
from typing import Any

import griffe

from merlax.config import Length, Range


class WarningsAreErrors(logging.Handler):
    """A docstring that does not fit its signature ends the build, as a broken link does."""

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno >= logging.WARNING and "griffe" in record.name:
            raise SystemExit(f"docs: {record.getMessage()}")


logging.getLogger().addHandler(WarningsAreErrors())


class FieldsAreParameters(griffe.Extension):
    """Adds a table of parameters to the docstring of every dataclass that merlax defines; Equinox has its own."""

    def on_class(self, *, cls: griffe.Class, **kwargs: Any) -> None:
        module = "eqx.Module" in map(str, cls.bases)
        if not module and not any(decorator.callable_path == "dataclasses.dataclass" for decorator in cls.decorators):
            return
        found = getattr(importlib.import_module(cls.module.path), cls.name, None)
        if cls.docstring is None or not dataclasses.is_dataclass(found) or not isinstance(found, type):
            return
        if module and not any(member.is_function and name == "__init__" for name, member in cls.members.items()):
            cls.set_member("__init__", constructor(found))
            return
        fields = [field for field in dataclasses.fields(found) if field.init]
        if fields and not any(section.kind.value == "parameters" for section in cls.docstring.parse("google")):
            hints, texts = typing.get_type_hints(found, include_extras=True), docstrings(found)
            lines = [
                f"    {each.name} ({kind(hints[each.name])}): {texts.get(each.name) or about(hints[each.name])}"
                for each in fields
            ]
            head, mark, example = cls.docstring.value.partition("\n\nExamples:")
            cls.docstring.value = head + "\n\nArgs:\n" + "\n".join(lines) + mark + example
        cls.docstring.parser = griffe.Parser.google


def constructor(cls: Any) -> griffe.Function:
    """What Equinox makes of a module's fields."""
    hints, positional = typing.get_type_hints(cls), griffe.ParameterKind.positional_or_keyword
    parameters = [griffe.Parameter("self", kind=positional)]
    for each in dataclasses.fields(cls):
        default = None if each.default is dataclasses.MISSING else repr(each.default)
        parameters.append(
            griffe.Parameter(each.name, annotation=kind(hints[each.name]), kind=positional, default=default)
        )
    return griffe.Function("__init__", parameters=griffe.Parameters(*parameters))


def docstrings(cls: type) -> dict[str, str]:
    """The text below each field, of the class and of those that it extends; a part without one has its class'."""
    texts = {}
    for each in reversed(cls.__mro__):
        if dataclasses.is_dataclass(each) and each.__module__.startswith("merlax"):
            tree = griffe.visit("m", filepath=None, code=inspect.getsource(each))  # pyright: ignore[reportArgumentType]
            for name, member in tree.members[each.__name__].members.items():
                if member.is_attribute and member.docstring:
                    texts[name] = " ".join(member.docstring.value.split())
    return texts


def about(hint: Any) -> str:
    """What a part is for: the first sentence of its class."""
    part = typing.get_args(typing.get_args(hint)[0])[0] if typing.get_origin(hint) is typing.Annotated else hint
    return (inspect.getdoc(part) or "").split("\n\n")[0]


def kind(hint: Any) -> str:
    """A type as a reader wants it: "whole number, 1 to 1,000" instead of `Annotated[int, Range(1, 1000)]`."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return kind(args[0]) + bounds(args[1])
    if origin is typing.Literal:
        return " or ".join(repr(arg) for arg in args)
    if origin in (types.UnionType, typing.Union):
        return " or ".join(kind(arg) for arg in args)
    if origin is tuple:
        return f"tuple, each a {kind(args[0])}" if args[-1] is ... else f"({', '.join(kind(arg) for arg in args)})"
    plain = {int: "whole number", float: "number", bool: "True or False", str: "text", type(None): "nothing"}
    return plain.get(hint) or getattr(hint, "__name__", str(hint))


def bounds(limit: Any) -> str:
    """What a number may be, in words."""
    if isinstance(limit, Length) or not isinstance(limit, Range) or limit.low == float("-inf"):
        return ""
    low = f" above {limit.low:,}" if limit.above else f" from {limit.low:,}"
    return low + (f" to {limit.high:,}" if limit.high < 2**31 - 1 else "")
