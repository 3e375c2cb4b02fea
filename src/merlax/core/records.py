"""Typed records: from their fields follow the columns of `progress.csv`, what loggers see, and what must be finite.

A record is an `eqx.Module`. A field is a number, an array of them, another record, or a tuple of records, one for each
learner. A field that is added to a record, or to an algorithm's state, is in all of these at once.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool

_NAMES = "names"
# Metadata of a field whose numbers may be infinite or NaN without harm, such as a population's, of which one may break.
MAY_BREAK = {"may_break": True}


def names(known: Sequence[str]) -> dict[str, Any]:
    """Metadata of a field that holds the index of a name, and is written down as that name."""
    return {_NAMES: tuple(known)}


@dataclasses.dataclass(frozen=True)
class Column:
    """One number of a record, or one row of numbers, as it is written down."""

    name: str
    value: int | float | str | np.ndarray
    must_be_finite: bool

    @property
    def is_finite(self) -> bool:
        return isinstance(self.value, str) or bool(np.isfinite(self.value).all())


def columns(record: Any, prefix: str = "") -> list[Column]:
    """All numbers of a record, in the order of its fields. A second learner's names end in `_2`."""
    found = [_column(f"{prefix}{name}", value, metadata) for name, value, metadata in _fields(record)]
    names = [column.name for column in found]
    assert len(set(names)) == len(names), f"two fields of one name in {sorted(names)}"
    return found


def _fields(record: Any, suffix: str = "") -> Iterator[tuple[str, Any, Any]]:
    for field in dataclasses.fields(record):
        value = getattr(record, field.name)
        if value is None:
            continue
        if isinstance(value, tuple):
            for number, part in enumerate(value, 1):
                yield from _fields(part, suffix if number == 1 else f"{suffix}_{number}")
        elif dataclasses.is_dataclass(value):
            yield from _fields(value, suffix)
        else:
            yield f"{field.name}{suffix}", value, field.metadata


def _may_break(metadata: Any) -> bool:
    return bool(metadata.get("may_break"))


def _column(name: str, value: Any, metadata: Any) -> Column:
    array = np.asarray(value)
    if _NAMES in metadata:
        return Column(name, metadata[_NAMES][int(array)], False)
    return Column(name, array if array.ndim else array.item(), not _may_break(metadata))


def finite_parts(state: Any) -> dict[str, Bool[Array, ""]]:
    """For each part of a state that must not break, such as `learners.0.actor`: whether all its weights are finite."""
    weights: dict[str, list[Array]] = {}
    for name, part in _parts(state):
        weights.setdefault(name, []).extend(leaf for leaf in jax.tree.leaves(part) if eqx.is_inexact_array(leaf))
    return {name: jnp.stack([jnp.isfinite(leaf).all() for leaf in own]).all() for name, own in weights.items() if own}


def finite_flags(state: Any) -> Bool[Array, " part"]:
    """Whether each of the parts that `finite_parts` names is finite, as one array."""
    return jnp.stack([jnp.ones((), bool), *finite_parts(state).values()])


def _parts(state: Any, path: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """All that must not break, by the names of fields and of their fields; what lies deeper goes by these."""
    named = depth < 2
    if isinstance(state, tuple):
        for number, part in enumerate(state):
            yield from _parts(part, f"{path}.{number}" if named else path, depth)
    elif dataclasses.is_dataclass(state):
        for field in dataclasses.fields(state):
            if not _may_break(field.metadata):
                name = f"{path}.{field.name}".lstrip(".") if named else path
                yield from _parts(getattr(state, field.name), name, depth + 1)
    else:
        yield path, state
