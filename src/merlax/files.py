"""The one place that reads files which somebody else may have made.

Regular files only: a fifo would let merlax wait, a device never ends. Never more is read than a file of its kind may
have, nor more than its size explains, and sizes are compared before anything is allocated. Whatever is wrong with a
file is told in half a sentence of merlax's own, since a library may advise to load it unsafely.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import math
import os
import stat
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

import numpy as np

from merlax.types import UserError, shown

JSON_BYTES = 1_000_000
TOML_BYTES = 16_000  # Python's own reader takes time with the square of a long name
PROGRESS_BYTES = 500_000_000  # of `progress.csv`: 20,000 generations of a thousand teams
CSV_LINE_BYTES = 16_000_000  # which holds the fitness of a million teams
ARRAYS_BYTES = 2_000_000_000
DEEPEST = 20  # objects and lists in each other
LONGEST_NAME = 200  # of a field

_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_DIRECTORY_BYTES = 100_000  # of the list of contents of an archive
_HEADER_BYTES = 4_000  # of an array


class Unreadable(UserError):  # noqa: N818
    """Why a file cannot be used, in half a sentence; whoever asked for it says which file, and what to do."""


class Shape(NamedTuple):
    """What an array must be."""

    shape: tuple[int, ...]
    dtype: str

    @property
    def nbytes(self) -> int:
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize


@contextlib.contextmanager
def opened(path: Path, limit: int) -> Iterator[tuple[BinaryIO, int]]:
    """A regular file of at most `limit` bytes, or a link to one, open for reading, and its size."""
    try:
        _refuse_special(os.stat(path))  # before it is opened, for that alone may act on a device
        descriptor = os.open(path, _FLAGS)
        with os.fdopen(descriptor, "rb") as file:
            found = os.fstat(descriptor)
            _refuse_special(found)
            if found.st_size > limit:
                raise Unreadable(f"it has {found.st_size:,} bytes, and no more than {limit:,} are read")
            yield file, found.st_size
    except OSError as error:
        raise Unreadable(error.strerror or type(error).__name__) from error


def _refuse_special(found: os.stat_result) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise Unreadable("it is a folder")
    if not stat.S_ISREG(found.st_mode):
        raise Unreadable("it is not a regular file")


def check_size(path: Path, least: int, limit: int = ARRAYS_BYTES) -> None:
    """Refuse a file that cannot hold what it should."""
    with opened(path, limit) as (_, size):
        if size < least:
            raise Unreadable(f"'{path.name}' has {size:,} bytes, and what it should hold has {least:,}")


def read_bytes(path: Path, limit: int) -> bytes:
    """What a file holds."""
    with opened(path, limit) as (file, size):
        return file.read(size)


def read_into(path: Path, target: memoryview, limit: int = ARRAYS_BYTES) -> None:
    """Fill a piece of memory from a file, without a copy."""
    with opened(path, limit) as (file, _):
        if cast(io.BufferedReader, file).readinto(target) != len(target):
            raise Unreadable(f"'{path.name}' is cut short")


def read_text(path: Path, limit: int) -> str:
    """What a file holds, as text with plain line ends."""
    try:
        return io.TextIOWrapper(io.BytesIO(read_bytes(path, limit)), "utf-8").read()
    except UnicodeDecodeError as error:
        raise Unreadable("it is not text") from error


def read_tail(path: Path, limit: int) -> str:
    """The last bytes of a file of any size, as text."""
    with opened(path, 2**63) as (file, size):
        file.seek(max(0, size - limit))
        return file.read(limit).decode(errors="replace")


def read_json(path: Path, limit: int = JSON_BYTES) -> Any:
    """What a JSON file holds."""
    return _parsed(json.loads, "JSON", read_text(path, limit))


def read_toml(path: Path, limit: int = TOML_BYTES) -> Any:
    """What a TOML file holds."""
    return _parsed(tomllib.loads, "TOML", read_text(path, limit))


def _parsed(parse: Any, kind: str, text: str) -> Any:
    try:
        data = parse(text)
        _check_plain(data)
    except RecursionError as error:
        raise Unreadable(f"it is not valid {kind}: it is nested too deeply") from error
    except ValueError as error:
        raise Unreadable(f"it is not valid {kind} ({_one_line(error)})") from error
    return data


def _check_plain(data: Any) -> None:
    """Refuse what a sentence, a file or a screen cannot hold: deep nesting, half characters, names without end."""
    level = [data]
    for _ in range(DEEPEST):
        for value in level:
            if isinstance(value, str):
                value.encode()  # half a surrogate pair is a ValueError
            if isinstance(value, dict) and not all(len(name) <= LONGEST_NAME and name.isprintable() for name in value):
                raise ValueError("a name in it is too long, or not printable")
        level = [item for value in level if isinstance(value, dict | list)
                 for item in (value.values() if isinstance(value, dict) else value)]  # fmt: skip
        if not level:
            return
    raise RecursionError


def read_csv(path: Path, limit: int, *, cells: int, whole_lines: bool = False) -> Iterator[list[str]]:
    """The rows of a CSV file, one by one; with `whole_lines`, not a last one whose line has no end.

    Args:
        path: The file.
        limit: Bytes that it may have.
        cells: Cells that it may have, for each takes more memory than its text.
        whole_lines: For a file that is still being written.
    """
    csv.field_size_limit(max(csv.field_size_limit(), CSV_LINE_BYTES))
    left = cells
    try:
        with opened(path, limit) as (file, size):
            for row in csv.reader(_lines(file, size, whole_lines), strict=True):
                left -= len(row)
                if left < 0:
                    raise Unreadable(f"it has more than {cells:,} cells")
                yield row
    except UnicodeDecodeError as error:
        raise Unreadable("it is not text") from error
    except csv.Error as error:
        raise Unreadable(f"it is not valid CSV ({_one_line(error)})") from error


def _lines(file: BinaryIO, size: int, whole: bool) -> Iterator[str]:
    while size > 0 and (line := file.readline(min(size, CSV_LINE_BYTES))):
        size -= len(line)
        if not line.endswith(b"\n"):
            if len(line) == CSV_LINE_BYTES:
                raise Unreadable(f"a line in it has more than {CSV_LINE_BYTES:,} bytes")
            if whole:
                return
        yield line.decode()


def read_arrays(path: Path, wanted: Mapping[str, Shape], limit: int = ARRAYS_BYTES) -> dict[str, np.ndarray]:
    """Of the arrays in an .npz file, those that are wanted, each of the wanted shape and type; others are not touched.

    They must be stored as they are, so that the file's size explains theirs.
    """
    with opened(path, limit) as (file, size):
        if sum(shape.nbytes for shape in wanted.values()) > size:
            raise Unreadable(f"'{path.name}' has {size:,} bytes, which is less than the arrays that it should hold")
        _check_directory(file, size)
        try:
            with zipfile.ZipFile(file) as archive:
                return {name: _array(archive, name, shape) for name, shape in wanted.items()}
        except (Unreadable, OSError):
            raise
        except Exception as error:  # of many kinds, as a broken archive pleases
            raise Unreadable("it is no archive of plain arrays, or damaged") from error


def _check_directory(file: BinaryIO, size: int) -> None:
    """Refuse an archive whose list of contents is longer than that of a few arrays."""
    file.seek(max(0, size - 22))
    end = file.read(22)  # of an archive without a comment, as numpy makes it
    length = int.from_bytes(end[12:16], "little")
    if not end.startswith(b"PK\x05\x06") or length > _DIRECTORY_BYTES:
        raise Unreadable("it is no archive of a few arrays")


def _array(archive: zipfile.ZipFile, name: str, wanted: Shape) -> np.ndarray:
    if f"{name}.npy" not in archive.NameToInfo:
        raise Unreadable(f"it holds no array {name}")
    entry = archive.getinfo(f"{name}.npy")
    if entry.compress_type != zipfile.ZIP_STORED or entry.file_size != entry.compress_size:
        raise Unreadable(f"{name} is compressed")
    if entry.file_size > wanted.nbytes + _HEADER_BYTES:
        raise Unreadable(f"{name} is larger than it should be")
    with archive.open(entry) as file:
        data = file.read()
    shape, fortran, dtype, start = _header(data, name)
    if shape != wanted.shape or dtype.str != np.dtype(wanted.dtype).newbyteorder("<").str:
        raise Unreadable(f"{name} has shape {shown(shape)} and type {dtype.name}")
    if len(data) - start != wanted.nbytes:
        raise Unreadable(f"{name} is cut short, or longer than it says")
    return np.frombuffer(data, dtype, offset=start).reshape(shape, order="F" if fortran else "C")


def _header(data: bytes, name: str) -> tuple[tuple[int, ...], bool, np.dtype, int]:
    """What an array says of itself, and where its numbers begin."""
    start = io.BytesIO(data[:_HEADER_BYTES])
    try:
        if np.lib.format.read_magic(start) != (1, 0):
            raise ValueError
        return *np.lib.format.read_array_header_1_0(start, max_header_size=_HEADER_BYTES), start.tell()
    except Exception as error:  # whatever numpy says, perhaps with advice to trust the file
        raise Unreadable(f"{name} is not an array of plain numbers") from error


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
