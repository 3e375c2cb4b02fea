"""Programs split over two devices."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from merlax.core import devices


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


def test_spread_copies_to_every_device_and_divide_gives_each_its_part():
    everywhere = devices.spread(devices.mesh(), jnp.arange(4))
    assert [shard.data.tolist() for shard in everywhere.addressable_shards] == [[0, 1, 2, 3]] * 2
    divided = devices.divide(devices.mesh(), jnp.arange(4))
    assert [shard.data.tolist() for shard in divided.addressable_shards] == [[0, 1], [2, 3]]


def test_devices_that_work_together_average_and_have_their_own_keys():
    def work(split, key, shared):
        mean, least = devices.average({"a": split[0] * shared}), devices.least(split[0])
        return mean, least, jax.lax.all_gather(jax.random.uniform(devices.own_key(key)), devices.AXIS)

    together = jax.jit(devices.together(devices.mesh(), work))
    mean, least, drawn = together(jnp.array([1.0, 3.0]), jax.random.key(0), jnp.array(10.0))
    assert (float(mean["a"]), float(least)) == (20.0, 1.0)
    assert drawn[0] != drawn[1]


def test_asking_for_all_cores_once_jax_runs_changes_nothing():
    devices.use_all_cores()
    assert jax.device_count() == 2
