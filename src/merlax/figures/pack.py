"""Values with arrays in them as one compressed text, which `assets/unpack.js` reads again.

An array becomes steps of two bytes between its least and its greatest number, and these the differences in time: what
stands still packs to nothing. Whole numbers stay exact where they fit, and `Exact` keeps any.
"""

from __future__ import annotations

import base64
import dataclasses
import gzip
import json
from typing import Any

import numpy as np

LEVELS = 65534  # and one for what is not finite
UNKNOWN = LEVELS + 1


@dataclasses.dataclass(frozen=True)
class Exact:
    """An array whose numbers are kept to the bit, in eight bytes each."""

    values: np.ndarray


def packed(value: Any) -> str:
    """A value of dicts, lists, texts, numbers and arrays, as a text of letters that a page can hold."""
    blob = bytearray()
    text = json.dumps(_plain(value, blob), separators=(",", ":"), allow_nan=False).encode()
    data = len(text).to_bytes(4, "little") + text + bytes(blob)
    return base64.b64encode(gzip.compress(data, 9, mtime=0)).decode()


def _plain(value: Any, blob: bytearray) -> Any:
    if isinstance(value, dict):
        return {str(name): _plain(own, blob) for name, own in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(own, blob) for own in value]
    if isinstance(value, Exact):
        array, at = np.asarray(value.values, "<f8"), len(blob)
        blob += array.tobytes()
        return {"$": [at, list(array.shape)]}
    if isinstance(value, np.ndarray):
        return _steps(value, blob)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value


def _steps(array: np.ndarray, blob: bytearray) -> Any:
    numbers = np.asarray(array, float)
    known = np.isfinite(numbers)
    low, high = (float(numbers[known].min()), float(numbers[known].max())) if known.any() else (0.0, 0.0)
    whole = bool(known.any() and high - low <= LEVELS and (numbers[known] == np.round(numbers[known])).all())
    step = 1.0 if whole else (high - low) / LEVELS
    steps = np.full(numbers.shape, UNKNOWN, np.int64)
    steps[known] = np.round((numbers[known] - low) / step) if step > 0 else 0
    if steps.ndim:
        steps = np.diff(steps, axis=0, prepend=np.zeros((1, *steps.shape[1:]), np.int64))
    split = (steps % (LEVELS + 2)).astype("<u2").reshape(-1, 1).view(np.uint8)
    at = len(blob)
    blob += split.T.tobytes()  # all low bytes, then all high ones
    return {"$": [at, list(numbers.shape), low, step]}
