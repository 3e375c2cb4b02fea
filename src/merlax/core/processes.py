"""Several processes: what is played is split over the devices of all; whatever else there is, each does for itself.

Each holds the whole state and learns the same from the same rollouts, so that only these go from one to the other: all
at once, for an exchange between processes costs more than a gradient step.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

from merlax.core import devices

T = TypeVar("T")
_compiled = partial(jax.jit, compiler_options=devices.QUICK_COMPILE)


def number() -> int:
    """How many processes there are."""
    return jax.process_count()


def by_all(program: Callable[..., Any], shapes: T, *args: Any) -> T:
    """Run a program on all devices of all processes, and bring its result, which has these shapes, to each.

    Args:
        program: Compiled for nobody else; every leaf of its result has a leading axis that `devices.shard_over` split.
        shapes: Of the result, without the padding of an uneven split.
        args: The same in every process.
    """
    with devices.across():
        split = program(*jax.tree.map(_to_all, args))
        exchanged = _exchange(jax.tree.leaves(split))
    wanted, structure = jax.tree.flatten(shapes)
    parts = jax.tree.leaves(split)
    shards = exchanged.shape[0]
    sizes = tuple((part.shape[0] // shards, *whole.shape) for part, whole in zip(parts, wanted, strict=True))
    own = exchanged.addressable_data(0)
    leaves = _unpack(own, sizes, tuple(np.dtype(whole.dtype).name for whole in wanted))
    return devices.spread(None, jax.tree.unflatten(structure, leaves))


def _to_all(leaf: Any) -> Any:
    """What every process has alike, as one array on the devices of all."""
    leaf = jnp.asarray(leaf) if not isinstance(leaf, jax.Array) else leaf
    here = {shard.device: shard.data for shard in leaf.addressable_shards} if leaf.is_fully_replicated else {}
    parts = [here[device] if device in here else jax.device_put(leaf, device) for device in jax.local_devices()]
    everywhere = NamedSharding(devices.mesh(), PartitionSpec())
    return jax.make_array_from_single_device_arrays(leaf.shape, everywhere, parts)


@_compiled
def _exchange(leaves: list[jax.Array]) -> jax.Array:
    """All leaves in one exchange: a line for each device, on each device."""

    def pack(leaves: list[jax.Array]) -> jax.Array:
        return jnp.concatenate([devices.as_floats(leaf).reshape(-1) for leaf in leaves])[None]

    mesh, split = devices.mesh(), PartitionSpec(devices.AXIS)
    lines = jax.shard_map(pack, mesh=mesh, in_specs=split, out_specs=split, check_vma=False)(leaves)
    return jax.lax.with_sharding_constraint(lines, NamedSharding(mesh, PartitionSpec()))


@partial(_compiled, static_argnums=(1, 2))
def _unpack(lines: jax.Array, sizes: tuple[tuple[int, ...], ...], types: tuple[str, ...]) -> list[jax.Array]:
    """The leaves again, without padding; of each, the rows on one device and the shape of the whole."""
    found, start = [], 0
    for (rows, length, *rest), name in zip(sizes, types, strict=True):
        end = start + rows * int(np.prod(rest))
        floats = lines[:, start:end].reshape(-1, *rest)[:length]
        found.append(devices.from_floats(floats, jax.ShapeDtypeStruct(floats.shape, name)))
        start = end
    return found
