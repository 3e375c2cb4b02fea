"""Arrays of a checkpoint, read from where Orbax has written them: in pieces of equal size, each a file (zarr).

Orbax and what lies below it would believe the files: allocate what they claim, unpack what they hold, wait for a fifo.
Here an array has the size that is asked for, which its files must explain, byte by byte.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from merlax import files
from merlax.runs import forms


def read(folder: Path, size: int, dtype: str) -> np.ndarray:
    """An array without axes: so many numbers of this type."""
    kind = np.dtype(dtype)
    stored = forms.read(folder / ".zarray", forms.Stored, forms.names(forms.Stored))
    if stored != _plain(size, stored["chunks"][0], kind):
        raise files.Unreadable(f"'{folder.name}' is not stored as {size:,} plain numbers of type {dtype}")
    (length,) = stored["chunks"]
    pieces = [folder / str(number) for number in range(-(-size // length))]
    for piece in pieces:
        files.check_size(piece, length * kind.itemsize, length * kind.itemsize)
    array = np.empty(size, kind)
    for number, piece in enumerate(pieces):
        part = array[number * length :][:length]
        files.read_into(piece, part.view(np.uint8).data)  # what the last one has beyond it, nobody asked for
    return array


def _plain(size: int, length: int, kind: np.dtype) -> dict[str, Any]:
    """What zarr writes of numbers in pieces, without compression."""
    return {
        "chunks": (length,), "compressor": None, "dimension_separator": ".", "dtype": kind.str, "fill_value": None,
        "filters": None, "order": "C", "shape": (size,), "zarr_format": 2,
    }  # fmt: skip
