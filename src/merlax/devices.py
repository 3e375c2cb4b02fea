"""Where programs run: a mesh over all devices for rollouts, one device for the learner (DESIGN §4)."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

AXIS = "pop"
# For programs that are compiled often and run briefly: half the compile time and, measured, no slower.
QUICK_COMPILE = {"xla_backend_optimization_level": 2}


def use_all_cores() -> None:
    """Give XLA one host device per core, since most of its CPU programs run on one thread.

    Must run before JAX starts its backend; afterwards, and on a GPU or TPU, it changes nothing.
    """
    if "xla_force_host_platform_device_count" in os.environ.get("XLA_FLAGS", ""):
        return  # the user has chosen
    with contextlib.suppress(RuntimeError):  # JAX runs already
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        jax.config.update("jax_num_cpu_devices", cores)


def mesh() -> Mesh:
    """All devices of this process, in a row."""
    return Mesh(np.array(jax.devices()), (AXIS,))


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


def _pad(x: jax.Array, length: int) -> jax.Array:
    if jnp.issubdtype(x.dtype, jax.dtypes.prng_key):  # as plain numbers: a copied key would count as reused
        return jax.random.wrap_key_data(_pad(jax.random.key_data(x), length), impl=jax.random.key_impl(x))
    return jnp.concatenate([x, jnp.repeat(x[:1], length, axis=0)])


def spread(devices: Mesh, tree: Any) -> Any:
    """A copy of the tree on every device."""
    return jax.device_put(tree, NamedSharding(devices, PartitionSpec()))


def gather(devices: Mesh, tree: Any) -> Any:
    """The whole tree on the first device, where the learner lives."""
    return jax.device_put(tree, devices.devices.flat[0])


def use_compilation_cache() -> None:
    """Keep compiled programs between processes, unless the user has a cache of their own."""
    if jax.config.values.get("jax_compilation_cache_dir") is None:
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        jax.config.update("jax_compilation_cache_dir", str(home / "merlax" / "xla"))
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.2)
