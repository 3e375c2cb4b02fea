"""Where programs run: rollouts and gradient steps are split over a mesh of devices.

Within a program that somebody else compiles (`jax.jit(jax.vmap(...))` over whole runs), nothing is split: see `inline`.
"""

from __future__ import annotations

import contextlib
import logging
import math
import os
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.flatten_util import ravel_pytree
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from merlax.types import Key

T = TypeVar("T")

AXIS = "device"
_LOG = logging.getLogger("merlax")
_inline: ContextVar[bool] = ContextVar("inline", default=False)
_across: ContextVar[bool] = ContextVar("across", default=False)
_limit: int | None = None  # of the whole process, whose devices they are, whichever thread trains


def _chosen(flag: str) -> bool:
    """Whether the user has set it in XLA_FLAGS."""
    return flag in os.environ.get("XLA_FLAGS", "")


# Less time to compile, and programs that are no slower (benchmarks/compile_level.py).
_LEVEL = "xla_backend_optimization_level"
QUICK_COMPILE = {} if _chosen(_LEVEL) else {_LEVEL: 1}


def prepare(most: int | None = None) -> None:
    """Get JAX ready to train: one host device per core, and compiled programs that are kept between processes.

    Most of XLA's CPU programs run on one thread, so a core each doubles the rollouts. Where JAX runs already, merlax
    trains on what there is, and says so.

    Args:
        most: Host devices that are enough, even if there are more cores.
    """
    use_compilation_cache()
    if _chosen("xla_force_host_platform_device_count"):
        return
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    wanted = min(most or cores, cores)
    try:
        jax.config.update("jax_num_cpu_devices", wanted)
    except RuntimeError:  # JAX runs already
        if jax.default_backend() == "cpu" and jax.device_count() < wanted:
            _LOG.warning(
                "JAX was started before merlax with %d device(s) for %d cores, so training is slower than it could be; "
                "call merlax.train before anything else uses JAX.",
                jax.device_count(), cores,
            )  # fmt: skip


def use_compilation_cache() -> None:
    """Keep compiled programs between processes, unless the user has a cache of their own."""
    if jax.config.values.get("jax_compilation_cache_dir") is None:
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        jax.config.update("jax_compilation_cache_dir", str(home / "merlax" / "xla"))
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.2)


@contextlib.contextmanager
def inline() -> Iterator[None]:
    """While this is traced, split nothing: whoever compiles the whole decides where it runs."""
    token = _inline.set(True)
    try:
        yield
    finally:
        _inline.reset(token)


@contextlib.contextmanager
def only(number: int) -> Iterator[None]:
    """Work on the first so many devices, as where there are no others: what was traced for another number goes."""
    global _limit
    if number == count():
        yield
        return
    before, _limit = _limit, number
    jax.clear_caches()
    try:
        yield
    finally:
        _limit = before
        jax.clear_caches()


def traced(*trees: Any) -> bool:
    """Whether these are the placeholders of a program that somebody compiles, rather than numbers."""
    return any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(trees))


@contextlib.contextmanager
def across() -> Iterator[None]:
    """While this is traced, split over the devices of all processes, and leave the padding of an uneven split."""
    token = _across.set(True)
    try:
        yield
    finally:
        _across.reset(token)


def mesh(size: int | None = None) -> Mesh:
    """All devices of this process that are used, in a row, or the first few; within `across`, those of all."""
    found = jax.devices() if _across.get() else jax.local_devices()
    return Mesh(np.array(found[: size or _limit]), (AXIS,))


def count() -> int:
    """How many devices there are to split over."""
    if _inline.get():
        return 1
    return _limit or (jax.device_count() if _across.get() else jax.local_device_count())


def total() -> int:
    """How many devices share the rollouts, in all processes."""
    return _limit or jax.device_count()


def shard_over(size: int, function: Callable[..., Any]) -> Callable[..., Any]:
    """Split the leading axis of the first argument and of the result over `size` devices; the rest is copied to each.

    An axis that does not divide evenly is padded with copies of its first slice, which are dropped again.
    """
    if _inline.get():
        return function
    spec, everywhere = PartitionSpec(AXIS), PartitionSpec()

    def sharded(split: Any, *shared: Any) -> Any:
        length = jax.tree.leaves(split)[0].shape[0]
        padding = -length % size
        if padding:
            split = _on_each(size, jax.tree.map(lambda leaf: _pad(leaf, padding), split))
        specs = (spec, *(everywhere for _ in shared))
        run = jax.shard_map(function, mesh=mesh(size), in_specs=specs, out_specs=spec, check_vma=False)
        result = run(split, *shared)
        return _first(length, result, size) if padding and not _across.get() else result

    return sharded


def _first(length: int, tree: Any, size: int) -> Any:
    """The first slices of a tree that is split over devices, on each of them.

    All in one exchange: several that do not wait for each other may come in another order on another device, and then
    XLA's CPU devices wait for each other for ever.
    """
    leaves, structure = jax.tree.flatten(tree)
    lines = [as_floats(leaf).reshape(leaf.shape[0], -1) for leaf in leaves]
    whole = _on_each(size, jnp.concatenate(lines, axis=1))[:length]
    return jax.tree.unflatten(structure, _apart(whole, leaves, [leaf.shape[1:] for leaf in leaves]))


def _apart(lines: jax.Array, leaves: Sequence[Any], shapes: Sequence[tuple[int, ...]]) -> list[jax.Array]:
    """Lines of numbers as arrays of these shapes, with as many rows as there are lines, and of the leaves' types."""
    ends = np.cumsum([math.prod(shape) for shape in shapes])[:-1].tolist()
    parts = zip(jnp.split(lines, ends, axis=1), leaves, shapes, strict=True)
    return [from_floats(part.reshape(-1, *shape), leaf) for part, leaf, shape in parts]


def _on_each(size: int, tree: T) -> T:
    """Within a program: a copy on each of `size` devices."""
    return jax.lax.with_sharding_constraint(tree, NamedSharding(mesh(size), PartitionSpec()))


def as_floats(leaf: jax.Array) -> jax.Array:
    """The same bits, or 0 and 1 for a truth value."""
    if leaf.dtype == jnp.bool_:
        return leaf.astype(jnp.float32)
    return leaf if leaf.dtype == jnp.float32 else jax.lax.bitcast_convert_type(leaf, jnp.float32)


def from_floats(floats: jax.Array, like: Any) -> jax.Array:
    """The inverse of `as_floats`, for an array of the type of `like`."""
    if like.dtype == jnp.bool_:
        return floats > 0.5
    return floats if like.dtype == jnp.float32 else jax.lax.bitcast_convert_type(floats, like.dtype)


def together(size: int, function: Callable[..., Any]) -> Callable[..., Any]:
    """Split the leading axis of the first argument over `size` devices, which work out one common result.

    The function sees a leading axis of 1. Within it, `average` is over the devices, and `own_key` is different on
    each.
    """

    def common(split: Any, *shared: Any) -> Any:
        if _inline.get():  # the parts one beside the other, as on devices of their own
            parts = jax.tree.map(lambda leaf: leaf[:, None], split)
            axes = (0, *(None for _ in shared))
            result = jax.vmap(function, in_axes=axes, axis_name=AXIS)(parts, *shared)
            return jax.tree.map(lambda leaf: leaf[0], result)
        specs = (PartitionSpec(AXIS), *(PartitionSpec() for _ in shared))
        run = jax.shard_map(function, mesh=mesh(size), in_specs=specs, out_specs=PartitionSpec(), check_vma=False)
        return run(split, *shared)

    return common


def average(tree: T) -> T:
    """The mean over the devices, in one exchange: many small ones would cost more than they carry."""
    flat, unravel = ravel_pytree(tree)
    return unravel(jax.lax.pmean(flat, AXIS))


def gather(tree: T) -> T:
    """What all devices have of a tree, with a leading axis of devices, on each of them, in one exchange."""
    leaves, structure = jax.tree.flatten(tree)
    line = jnp.concatenate([as_floats(leaf).reshape(-1) for leaf in leaves])
    lines = jax.lax.all_gather(line, AXIS)
    return jax.tree.unflatten(structure, _apart(lines, leaves, [leaf.shape for leaf in leaves]))


def swap(array: jax.Array, axis: int) -> jax.Array:
    """Slice i of the first axis goes to device i, which puts what it gets from all behind one another along `axis`."""
    return jax.lax.all_to_all(array, AXIS, split_axis=0, concat_axis=axis, tiled=True)[0]


def own_place() -> jax.Array:
    """Which of the devices this one is."""
    return jax.lax.axis_index(AXIS)


def own_key(key: Key) -> Key:
    """A key of this device's own."""
    return jax.random.fold_in(key, own_place())


def _pad(x: jax.Array, length: int) -> jax.Array:
    if jnp.issubdtype(x.dtype, jax.dtypes.prng_key):  # as plain numbers: a copied key would count as reused
        return jax.random.wrap_key_data(_pad(jax.random.key_data(x), length), impl=jax.random.key_impl(x))
    return jnp.concatenate([x, jnp.repeat(x[:1], length, axis=0)])


def spread(size: int | None, tree: T) -> T:
    """A copy of the tree on each of `size` devices, or on all."""
    return jax.device_put(tree, NamedSharding(mesh(size), PartitionSpec()))


def as_if_spread(tree: T) -> T:
    """The shapes of a tree that will be on all devices: what is traced with them need not be traced again with it."""
    everywhere = NamedSharding(mesh(), PartitionSpec())
    return jax.tree.map(
        lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=everywhere, weak_type=leaf.weak_type), tree
    )


def divide(size: int, tree: T) -> T:
    """The leading axis of the tree split over `size` devices."""
    return jax.device_put(tree, NamedSharding(mesh(size), PartitionSpec(AXIS)))


def place(size: int, tree: T, divided: type) -> T:
    """Within a program: every node of the type `divided` split over `size` devices, the rest on each of them."""
    if _inline.get():
        return tree
    split, whole = (NamedSharding(mesh(size), spec) for spec in (PartitionSpec(AXIS), PartitionSpec()))
    is_divided = lambda node: isinstance(node, divided)  # noqa: E731
    put = lambda node: jax.lax.with_sharding_constraint(node, split if is_divided(node) else whole)  # noqa: E731
    return jax.tree.map(put, tree, is_leaf=is_divided)
