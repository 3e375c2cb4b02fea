"""What all processes play comes back to each: here by the one process that a test has, with two devices."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from merlax.core import devices, processes


@pytest.mark.parametrize("length", [4, 5], ids=["even", "uneven"])
def test_what_is_split_over_all_devices_comes_back_whole_in_one_exchange(length):
    def double(part, shift):
        return {"real": 2.0 * part + shift, "whole": part.astype(jnp.int32)[:, None], "true": part > 1.5}

    split = jax.jit(lambda line, shift: devices.shard_over(devices.count(), double)(line, shift))
    line, shift = jnp.arange(length, dtype=jnp.float32), jnp.float32(0.5)
    whole = double(line, shift)
    shapes = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype), whole)
    back = processes.by_all(split, shapes, line, shift)
    for name, array in back.items():
        np.testing.assert_array_equal(array, whole[name])
        assert array.dtype == whole[name].dtype
        assert array.is_fully_replicated


def test_keys_go_to_all_processes_as_keys():
    program = jax.jit(lambda keys: devices.shard_over(devices.count(), jax.vmap(jax.random.uniform))(keys))
    keys = jax.random.split(jax.random.key(0), 4)
    back = processes.by_all(program, jax.ShapeDtypeStruct((4,), jnp.float32), jax.random.clone(keys))
    np.testing.assert_array_equal(back, jax.vmap(jax.random.uniform)(keys))
