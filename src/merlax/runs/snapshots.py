"""A run's state as plain arrays with names, and back: what a checkpoint holds."""

from __future__ import annotations

from typing import Any, TypeVar

import jax
import numpy as np

from merlax import files
from merlax.core import replay
from merlax.runs import dealing

T = TypeVar("T")
Arrays = dict[str, np.ndarray]

_MOST_SHARDS = 4096  # devices of one process


def snapshot(state: Any) -> Arrays:
    """All arrays as the host sees them; of the buffers, the part that is filled, shard by shard.

    They are views where they can be: valid only until the state is used up.
    """
    arrays: Arrays = {}
    for path, node in jax.tree_util.tree_flatten_with_path(state, is_leaf=_is_buffer)[0]:
        if _is_buffer(node):
            filled = int(np.max(node.size))
            parts = {"cursor": np.asarray(node.cursor), "size": np.asarray(node.size)}
            for shard in node.rows.addressable_shards:  # each by itself: as a whole, JAX would keep a copy of its own
                parts[f"rows.{shard.index[0].start or 0}"] = np.asarray(shard.data)[:, :filled]
            arrays |= {f"{_name(path)}.{part}": array for part, array in parts.items()}
        else:
            arrays[_name(path)] = np.asarray(node)
    return arrays


def restore(template: T, arrays: Arrays) -> T:
    """A state like `template`, on the same devices, with the numbers of a snapshot."""

    def put(name: str, leaf: Any) -> Any:
        return jax.device_put(arrays[name], leaf.sharding)

    def put_node(path: Any, node: Any) -> Any:
        if not _is_buffer(node):
            return put(_name(path), node)
        name, (shards, capacity, *_) = _name(path), node.rows.shape
        cursor, size = arrays[f"{name}.cursor"], arrays[f"{name}.size"]
        parts = [arrays[f"{name}.rows.{shard}"] for shard in range(len(size))]
        if len(size) == shards:
            rows = np.concatenate(parts)
        else:
            rows, cursor, size = dealing.deal([part[0] for part in parts], cursor, size, shards, capacity)
        rows = np.pad(rows, [(0, whole - part) for whole, part in zip(node.rows.shape, rows.shape, strict=True)])
        return replay.Buffer(
            jax.device_put(rows, node.rows.sharding),
            jax.device_put(cursor, node.cursor.sharding),
            jax.device_put(size, node.size.sharding),
            node.obs_size,
            node.act_size,
            node.leaving,
        )

    return jax.tree_util.tree_map_with_path(put_node, template, is_leaf=_is_buffer)


def check_shapes(described: dict[str, Any], template: Any) -> None:
    """Refuse arrays that are not the state's; only a buffer that is not full is smaller."""
    wanted = {name: (array.shape, array.dtype.name) for name, array in _arrays_of(template, described).items()}
    if wanted.keys() != described.keys():
        raise files.Unreadable("it holds other arrays than this run")
    for name, (shape, dtype, _) in described.items():
        whole, kind = wanted[name]
        fits = len(shape) == len(whole) and all(0 <= a <= b for a, b in zip(shape, whole, strict=True))
        if kind != dtype or not fits or (tuple(whole) != shape and ".rows." not in name):
            raise files.Unreadable(f"{name} has another shape or type")


def _arrays_of(template: Any, described: dict[str, Any]) -> dict[str, Any]:
    """What a snapshot of a state with full buffers would hold, by name, on as many devices as `described` says."""
    found: dict[str, Any] = {}
    for path, node in jax.tree_util.tree_flatten_with_path(template, is_leaf=_is_buffer)[0]:
        name = _name(path)
        if _is_buffer(node):
            whole = node.rows.shape[0] * node.rows.shape[1]
            shards = _shards(described.get(f"{name}.size"), whole) or node.rows.shape[0]
            one = jax.ShapeDtypeStruct((1, whole // shards, *node.rows.shape[2:]), node.rows.dtype)
            each = jax.ShapeDtypeStruct((shards,), node.size.dtype)
            found |= {f"{name}.cursor": each, f"{name}.size": each}
            found |= {f"{name}.rows.{shard}": one for shard in range(shards)}
        else:
            found[name] = node
    return found


def _shards(described: Any, whole: int) -> int | None:
    """On how many devices a buffer lay, by the shape of its sizes; nothing where so many cannot share it."""
    shape = described[0] if described else ()
    return shape[0] if len(shape) == 1 and 0 < shape[0] <= _MOST_SHARDS and whole % shape[0] == 0 else None


def _is_buffer(node: Any) -> bool:
    return isinstance(node, replay.Buffer)


def _name(path: Any) -> str:
    return jax.tree_util.keystr(path, simple=True, separator=".")
