"""Programs split over two devices."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from merlax import devices


def function(split, shared):
    """Keeps the leading axis of `split`, and of a pytree of it."""
    return {"sum": split["a"].sum(axis=1) + shared, "twice": 2 * split["b"]}


def arguments(length):
    split = {"a": jnp.arange(3.0 * length).reshape(length, 3), "b": jnp.arange(length)}
    return split, jnp.array(10.0)


@pytest.mark.parametrize("length", [1, 2, 3, 4, 7])
def test_a_sharded_function_gives_the_same_result(length):
    sharded = jax.jit(devices.shard_over(devices.mesh(), function))
    result, expected = sharded(*arguments(length)), function(*arguments(length))
    jax.tree.map(np.testing.assert_array_equal, result, expected)


def test_each_device_sees_its_part_only():
    lengths = []

    def record(split):
        lengths.append(split.shape[0])
        return split

    jax.eval_shape(devices.shard_over(devices.mesh(), record), jnp.zeros(7))
    assert set(lengths) == {4}


def test_random_keys_are_sharded_like_numbers():
    draw = jax.vmap(lambda key: jax.random.normal(key, (2,)))
    sharded = jax.jit(lambda key: devices.shard_over(devices.mesh(), draw)(jax.random.split(key, 3)))
    expected = jax.jit(lambda key: draw(jax.random.split(key, 3)))
    np.testing.assert_allclose(sharded(jax.random.key(0)), expected(jax.random.key(0)), rtol=1e-6)


def test_the_mesh_holds_all_devices():
    assert devices.mesh().size == jax.device_count() == 2


def test_spread_copies_to_every_device_and_gather_brings_it_back():
    mesh = devices.mesh()
    everywhere = devices.spread(mesh, jnp.arange(3))
    assert everywhere.devices() == set(jax.devices())
    home = devices.gather(mesh, everywhere)
    assert home.devices() == {jax.devices()[0]}
    np.testing.assert_array_equal(home, np.arange(3))


def test_asking_for_all_cores_once_jax_runs_changes_nothing():
    devices.use_all_cores()
    assert jax.device_count() == 2
