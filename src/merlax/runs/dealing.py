"""Replay buffers that lay on some devices, dealt anew to another number of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Dealt = tuple[np.ndarray, np.ndarray, np.ndarray]


def deal(parts: Sequence[np.ndarray], cursor: np.ndarray, size: np.ndarray, shards: int, capacity: int) -> Dealt:
    """Rows, cursors and sizes for so many devices with room for `capacity` transitions each; of too many, the newest.

    Args:
        parts: For each device that had a part, its rows [filled, agent, row].
        cursor: Where its next transition would have gone.
        size: How many it held.
        shards: Devices that get a part.
        capacity: Transitions that each of them has room for.
    """
    ordered = [_oldest_first(rows, int(c), int(n)) for rows, c, n in zip(parts, cursor, size, strict=True)]
    length = min(len(rows) for rows in ordered)
    newest = np.stack([rows[len(rows) - length :] for rows in ordered], axis=1)  # [time, part, agent, row]
    line = newest.reshape(-1, *newest.shape[2:])
    each = min(capacity, len(line) // shards)
    line = line[len(line) - each * shards :]
    rows = line.reshape(each, shards, *line.shape[1:]).swapaxes(0, 1)
    return rows, np.full(shards, each % capacity, cursor.dtype), np.full(shards, each, size.dtype)


def _oldest_first(rows: np.ndarray, cursor: int, size: int) -> np.ndarray:
    """A cyclic buffer in the order of time."""
    return rows[:size] if cursor >= size else np.concatenate([rows[cursor:size], rows[:cursor]])
