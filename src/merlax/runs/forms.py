"""The forms of merlax's JSON files: their fields, and what each may be. Names that a form does not have are left alone.

`config.json` has the form that `--config` takes and an experiment asks its runs with.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, TypedDict

from merlax import config, files
from merlax.config import LARGEST, Count, Layers, Length, Name, NotNegative, Range
from merlax.types import UserError

LONGEST_RUN = 10**15  # frames: a billion a day for 2,700 years
Seed = Annotated[int, Range(0, 2**32 - 1)]
Frames = Annotated[int, Range(1, LONGEST_RUN)]
Object = dict[str, Any]


class Opponent(TypedDict, total=False):
    """Whom a run's team meets."""

    kind: Name | None
    settings: Object


class Start(TypedDict, total=False):
    """Whose champion a run begins with: where it was, and a number by which its weights are known again."""

    run: Annotated[str, Length(1, 4096)]
    weights: Name


class Config(TypedDict, total=False):
    """`config.json`: everything that decides a run, and what it was made with."""

    format: Count
    world: Name | None
    env: Object
    shape: Object
    algorithm: Name
    preset: Name
    settings: Object
    opponent: Opponent | None
    start: Start | None
    frames: Frames
    seed: Seed
    versions: Annotated[dict[str, Name], Length(0, 100)]
    devices: Count
    processes: Count


class Final(TypedDict, total=False):
    """`final.json`: the champion's test, and whether the run has reached its last frame."""

    mean: float | None
    interval95: float | None
    episodes: Count
    finished: bool
    peak_memory_mb: NotNegative


class Sizes(TypedDict, total=False):
    """`policy.json`: the sizes of a team's network, whether it has gains, and spaces, where agents differ or choose."""

    format: Count
    num_agents: Count
    obs_size: Count
    act_size: Count
    hidden: Layers
    tuned: bool
    obs_sizes: Annotated[tuple[Count, ...], Length(1, 10_000)]
    act_sizes: Annotated[tuple[Count, ...], Length(1, 10_000)]
    choose: Annotated[tuple[bool, ...], Length(1, 10_000)]
    masked: bool


class Place(TypedDict, total=False):
    """How far a checkpoint is."""

    generation: Annotated[int, Range(0, LARGEST)]
    frames: Annotated[int, Range(0, LONGEST_RUN)]
    seconds: NotNegative
    rounds: Annotated[int, Range(0, LARGEST)]


class Manifest(TypedDict, total=False):
    """What a checkpoint says of itself; of each array the shape, the type and a checksum."""

    format: Count
    run: Object
    position: Place
    arrays: dict[str, tuple[Annotated[tuple[Annotated[int, Range(0)], ...], Length(0, 32)], Name, int]]
    checksum: Name


class Stored(TypedDict, total=False):
    """`.zarray`: how an array lies on disk."""

    shape: Annotated[tuple[Annotated[int, Range(0)], ...], Length(1, 1)]
    chunks: Annotated[tuple[Annotated[int, Range(1)], ...], Length(1, 1)]
    dtype: Name


def fill(form: Any, data: Any, needs: Iterable[str] = ()) -> dict[str, Any]:
    """The object of a file as a form has it, with the fields that are needed, or half a sentence on what is wrong."""
    try:
        filled = config.checked(data, form, "")
    except UserError as error:
        raise files.Unreadable(str(error).removesuffix(".")) from error
    for name in needs:
        if name not in filled:
            raise files.Unreadable(f"it lacks '{name}'")
    return filled


def read(path: Path, form: Any, needs: Iterable[str] = (), limit: int = files.JSON_BYTES) -> dict[str, Any]:
    """A JSON file in a form, or half a sentence on what is wrong with it."""
    return fill(form, files.read_json(path, limit), needs)


def names(form: Any) -> tuple[str, ...]:
    """The fields of a form."""
    return tuple(form.__annotations__)
