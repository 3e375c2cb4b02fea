"""Where programs run: rollouts and gradient steps are split over a mesh of devices (DESIGN §4)."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from merlax.types import Key

T = TypeVar("T")

AXIS = "device"


def _chosen(flag: str) -> bool:
    """Whether the user has set it in XLA_FLAGS."""
    return flag in os.environ.get("XLA_FLAGS", "")


# Less time to compile, and programs that are no slower (benchmarks/compile_level.py).
_LEVEL = "xla_backend_optimization_level"
QUICK_COMPILE = {} if _chosen(_LEVEL) else {_LEVEL: 1}


def use_all_cores() -> None:
    """Give XLA one host device per core, since most of its CPU programs run on one thread.

    Must run before JAX starts its backend; afterwards, and on a GPU or TPU, it changes nothing.
    """
    if _chosen("xla_force_host_platform_device_count"):
        return
    with contextlib.suppress(RuntimeError):  # JAX runs already
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        jax.config.update("jax_num_cpu_devices", cores)


def mesh(size: int | None = None) -> Mesh:
    """All devices of this process, in a row, or the first few."""
    return Mesh(np.array(jax.devices()[:size]), (AXIS,))


def shard_over(devices: Mesh, function: Callable[..., Any]) -> Callable[..., Any]:
    """Split the leading axis of the first argument and of the result over the devices; the rest is copied to each.

    An axis that does not divide evenly is padded with copies of its first slice, which are dropped again.
    """
    spec, everywhere = PartitionSpec(AXIS), PartitionSpec()

    def sharded(split: Any, *shared: Any) -> Any:
        length = jax.tree.leaves(split)[0].shape[0]
        padding = -length % devices.size
        if padding:
            split = jax.tree.map(lambda leaf: _pad(leaf, padding), split)
        specs = (spec, *(everywhere for _ in shared))
        result = jax.shard_map(function, mesh=devices, in_specs=specs, out_specs=spec, check_vma=False)(split, *shared)
        return jax.tree.map(lambda leaf: leaf[:length], result) if padding else result

    return sharded


def together(devices: Mesh, function: Callable[..., Any]) -> Callable[..., Any]:
    """Split the leading axis of the first argument over the devices, which work out one common result.

    Within it, `average` and `least` are over the devices and `own_key` is different on each.
    """

    def common(split: Any, *shared: Any) -> Any:
        specs = (PartitionSpec(AXIS), *(PartitionSpec() for _ in shared))
        run = jax.shard_map(function, mesh=devices, in_specs=specs, out_specs=PartitionSpec(), check_vma=False)
        return run(split, *shared)

    return common


def average(tree: T) -> T:
    """The mean over the devices, in one exchange: many small ones would cost more than they carry."""
    flat, unravel = ravel_pytree(tree)
    return unravel(jax.lax.pmean(flat, AXIS))


def least(x: jax.Array) -> jax.Array:
    """The smallest over the devices."""
    return jax.lax.pmin(x, AXIS)


def own_key(key: Key) -> Key:
    """A key of this device's own."""
    return jax.random.fold_in(key, jax.lax.axis_index(AXIS))


def _pad(x: jax.Array, length: int) -> jax.Array:
    if jnp.issubdtype(x.dtype, jax.dtypes.prng_key):  # as plain numbers: a copied key would count as reused
        return jax.random.wrap_key_data(_pad(jax.random.key_data(x), length), impl=jax.random.key_impl(x))
    return jnp.concatenate([x, jnp.repeat(x[:1], length, axis=0)])


def spread(devices: Mesh, tree: Any) -> Any:
    """A copy of the tree on every device."""
    return jax.device_put(tree, NamedSharding(devices, PartitionSpec()))


def divide(devices: Mesh, tree: Any) -> Any:
    """The leading axis of the tree split over the devices."""
    return jax.device_put(tree, NamedSharding(devices, PartitionSpec(AXIS)))


def use_compilation_cache() -> None:
    """Keep compiled programs between processes, unless the user has a cache of their own."""
    if jax.config.values.get("jax_compilation_cache_dir") is None:
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        jax.config.update("jax_compilation_cache_dir", str(home / "merlax" / "xla"))
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.2)
