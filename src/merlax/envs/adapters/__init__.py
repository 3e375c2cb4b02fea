"""Worlds of other libraries, by prefix, such as `jaxmarl:ID`. Each library is an extra, imported only when used."""

from __future__ import annotations

import builtins
import contextlib
import importlib
import importlib.util
import sys
import warnings
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from merlax.envs.adapters.foreign import named
from merlax.envs.base import Env
from merlax.types import UserError, suggest

PREFIXES = ("jaxmarl", "jumanji", "pettingzoo")  # each the name of a library, of its extra, and of its module here
_BESIDE = {"pettingzoo": ("loky",)}  # what else of its extra is needed at once


def prefix_of(name: str) -> str | None:
    """The prefix of a world's name, if it is one of another library."""
    prefix, colon, _ = name.partition(":")
    return prefix if colon and prefix in PREFIXES else None


def is_shipped(name: str) -> bool:
    """Whether a name is one of a library's own worlds, rather than of code that its user has written."""
    return prefix_of(name) is not None and name.count(":") == 1


def installed(prefix: str) -> bool:
    """Whether a library is there, with all that its extra brings."""
    return all(importlib.util.find_spec(name) is not None for name in (prefix, *_BESIDE.get(prefix, ())))


def ids(prefix: str) -> list[str]:
    """The names of all worlds of a library that is installed, without its prefix."""
    return _adapter(prefix).ids()


def make(name: str, options: dict[str, Any]) -> Env:
    """The world of this name, with changes to its fields."""
    prefix, _, identifier = name.partition(":")
    adapter, known = _adapter(prefix), ids(prefix)
    if prefix == "pettingzoo":
        adapter.refuse_missing(identifier)
        identifier = identifier if ":" in identifier else adapter.canonical(identifier)
        known = [*known, *([identifier] if ":" in identifier else [])]
    if identifier not in known:
        raise UserError(f"There is no world '{name}'{suggest(name, [f'{prefix}:{each}' for each in known])}; "
                        f"`merlax envs` lists them all.")  # fmt: skip
    return adapter.kind(identifier)(**{option: named(value) for option, value in options.items()})


def _adapter(prefix: str) -> ModuleType:
    if not installed(prefix):
        raise UserError(f"The worlds of {prefix} are an extra that is not installed: pip install 'merlax[{prefix}]'.")
    try:
        with _silent():
            return importlib.import_module(f"merlax.envs.adapters.{prefix}_worlds")
    except Exception as error:  # whatever another library throws
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise UserError(f"The library {prefix} is installed but cannot be imported ({reason}).") from error


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Libraries greet and warn when they are imported, which would spoil what merlax prints.

    JaxMARL's imports set standard output and error on their way, so that redirecting them is not enough, and they must
    be put back.
    """
    said, streams = builtins.print, (sys.stdout, sys.stderr)
    builtins.print = lambda *args, **kwargs: None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        builtins.print = said
        sys.stdout, sys.stderr = streams
