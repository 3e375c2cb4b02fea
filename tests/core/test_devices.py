"""Programs split over two devices, or over none."""

import json
import logging
import os
import re
import subprocess
import sys

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
    sharded = jax.jit(devices.shard_over(2, function))
    result, expected = sharded(*arguments(length)), function(*arguments(length))
    jax.tree.map(np.testing.assert_array_equal, result, expected)


def lengths_of_parts(length):
    """How many slices of an axis a program sees that is split over two devices."""
    lengths = []

    def record(split):
        lengths.append(split.shape[0])
        return split

    jax.eval_shape(devices.shard_over(2, record), jnp.zeros(length))
    return set(lengths)


def test_of_an_uneven_split_all_comes_back_in_one_exchange():
    def some(x):
        rows = jnp.tile(x[:, None], (1, 3))
        return {"float": x / 3.0, "int": x.astype(jnp.int32) - 2**30, "flag": x > 2.0, "rows": rows}

    program = jax.jit(devices.shard_over(2, some))
    numbers = devices.spread(2, jnp.arange(5.0))
    for name, leaf in program(numbers).items():
        np.testing.assert_array_equal(leaf, some(numbers)[name])
    text = str(program.lower(numbers).compile().as_text())
    assert len(re.findall(r" (?:all-reduce|all-gather|all-to-all|collective-permute)\(", text)) == 1


def test_each_device_sees_its_part_only():
    assert lengths_of_parts(7) == {4}


def test_random_keys_are_sharded_like_numbers():
    draw = jax.vmap(lambda key: jax.random.normal(key, (2,)))
    sharded = jax.jit(lambda key: devices.shard_over(2, draw)(jax.random.split(key, 3)))
    expected = jax.jit(lambda key: draw(jax.random.split(key, 3)))
    np.testing.assert_allclose(sharded(jax.random.key(0)), expected(jax.random.key(0)), rtol=1e-6)


def test_the_mesh_holds_all_devices_or_the_first_few():
    assert devices.mesh().size == devices.count() == jax.device_count() == 2
    assert devices.mesh(1).devices.tolist() == jax.devices()[:1]


def test_only_the_first_devices_are_used_even_by_what_was_traced_before():
    traced_for = jax.jit(lambda: jnp.array(devices.count()))
    assert int(traced_for()) == 2
    with devices.only(1):
        assert devices.mesh().devices.tolist() == jax.devices()[:1]
        assert len(devices.spread(None, jnp.arange(4)).addressable_shards) == 1
        assert (devices.count(), int(traced_for())) == (1, 1)
        with devices.only(2):
            assert (devices.count(), int(traced_for())) == (2, 2)
    assert (devices.count(), int(traced_for()), devices.mesh().size) == (2, 2, 2)


def test_spread_copies_to_every_device_and_divide_gives_each_its_part():
    everywhere = devices.spread(None, jnp.arange(4))
    assert [shard.data.tolist() for shard in everywhere.addressable_shards] == [[0, 1, 2, 3]] * 2
    divided = devices.divide(2, jnp.arange(4))
    assert [shard.data.tolist() for shard in divided.addressable_shards] == [[0, 1], [2, 3]]


class Divided(dict):
    """What `place` is to split."""


jax.tree_util.register_pytree_node(
    Divided,
    lambda node: (tuple(node.values()), tuple(node)),
    lambda names, leaves: Divided(zip(names, leaves, strict=True)),
)


def placed():
    put = jax.jit(lambda: devices.place(2, {"split": Divided(rows=jnp.arange(4)), "whole": jnp.arange(4)}, Divided))()
    return [[shard.data.tolist() for shard in leaf.addressable_shards] for leaf in (put["split"]["rows"], put["whole"])]


def test_within_a_program_nodes_of_one_type_are_split_and_the_rest_is_copied():
    assert placed() == [[[0, 1], [2, 3]], [[0, 1, 2, 3]] * 2]


def test_what_each_device_has_is_gathered_to_the_bit_in_one_exchange():
    def own(split):
        return devices.gather({"float": split / 3.0, "int": split.astype(jnp.int32)[0] - 2**30, "flag": split > 2.0})

    program, numbers = jax.jit(devices.together(2, own)), devices.divide(2, jnp.arange(1.0, 5.0))
    result = program(numbers)
    np.testing.assert_array_equal(result["float"], jnp.arange(1.0, 5.0).reshape(2, 2) / 3.0)
    assert result["int"].tolist() == [1 - 2**30, 3 - 2**30]
    assert result["flag"].tolist() == [[False, False], [True, True]]
    text = str(program.lower(numbers).compile().as_text())
    assert len(re.findall(r" (?:all-reduce|all-gather|all-to-all|collective-permute)\(", text)) == 1


def test_slices_are_swapped_between_devices():
    """Device d has [to, row] = 10 d + to in every place, and gets the rows that are for it, those of device 0 first."""

    def own(split):
        return devices.gather(devices.swap(split[0], axis=1))

    theirs = jnp.broadcast_to(jnp.array([[0.0, 1.0], [10.0, 11.0]])[:, :, None], (2, 2, 3))
    got = jax.jit(devices.together(2, own))(devices.divide(2, theirs))
    assert got.tolist() == [[0.0] * 3 + [10.0] * 3, [1.0] * 3 + [11.0] * 3]


def work(split, key, shared):
    mean = devices.average({"a": split[0] * shared})
    drawn = jax.random.uniform(devices.own_key(key))
    return mean, jax.lax.all_gather(jnp.stack([split[0], drawn]), devices.AXIS)


def worked_together():
    return jax.jit(lambda *args: devices.together(2, work)(*args))(
        jnp.array([1.0, 3.0]), jax.random.key(0), jnp.array(10.0)
    )


def test_devices_that_work_together_average_and_have_their_own_keys():
    mean, by_device = worked_together()
    assert float(mean["a"]) == 20.0
    assert by_device[:, 0].tolist() == [1.0, 3.0]
    assert by_device[0, 1] != by_device[1, 1]


# Within a program that somebody else compiles.


@pytest.mark.parametrize("length", [2, 3])
def test_inline_a_sharded_function_gives_the_same_result(length):
    with devices.inline():
        result = jax.jit(devices.shard_over(2, function))(*arguments(length))
    jax.tree.map(np.testing.assert_array_equal, result, function(*arguments(length)))


def test_inline_nothing_is_split():
    with devices.inline():
        assert devices.count() == 1
        assert lengths_of_parts(7) == {7}
        assert placed() == [[[0, 1, 2, 3]]] * 2


def test_inline_the_parts_that_work_together_give_the_same_numbers_as_on_devices():
    expected = worked_together()
    with devices.inline():
        result = worked_together()
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-6), result, expected)


def test_inline_programs_may_be_batched():
    with devices.inline():
        one = lambda scale: devices.together(2, work)(jnp.array([1.0, 3.0]), jax.random.key(0), scale)  # noqa: E731
        mean, _ = jax.jit(jax.vmap(one))(jnp.array([1.0, 10.0]))
    assert mean["a"].tolist() == [2.0, 20.0]


def fail_inline():
    with devices.inline():
        raise ValueError


def test_after_a_failure_programs_are_split_again():
    with pytest.raises(ValueError):  # noqa: PT011
        fail_inline()
    assert devices.count() == 2


def test_only_the_placeholders_of_a_program_count_as_traced():
    assert not devices.traced(jnp.ones(2), jax.random.key(0), 3, None)
    found = []
    jax.eval_shape(lambda x: found.extend([devices.traced(x), devices.traced({"a": jnp.ones(2)}, [1, x])]), 1.0)
    assert found == [True, True]


# Getting JAX ready.


def with_cores(monkeypatch, number):
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(number)), raising=False)


@pytest.mark.parametrize("cores", [1, 2, 64])
def test_preparing_once_jax_runs_changes_nothing(monkeypatch, cores):
    with_cores(monkeypatch, cores)
    before = dict(jax.config.values)
    devices.prepare()
    assert jax.config.values == before
    assert jax.device_count() == 2


@pytest.mark.parametrize(("cores", "warned"), [(1, False), (2, False), (64, True)])
def test_fewer_devices_than_cores_are_said_in_one_sentence(monkeypatch, caplog, cores, warned):
    with_cores(monkeypatch, cores)
    with caplog.at_level(logging.WARNING, "merlax"):
        devices.prepare(most=2)  # of which there are enough
        devices.prepare()
    assert [("2 device(s) for 64 cores" in message) for message in caplog.messages] == [True] * warned


REPORT = """
import json, os
from merlax.core import devices
devices.prepare()
import jax
cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
print(json.dumps([jax.device_count(), cores, jax.config.jax_compilation_cache_dir]))
"""


def in_a_new_process(tmp_path, flags="", **environment):
    """The devices, the cores and the cache of a process that prepares first."""
    clean = {name: value for name, value in os.environ.items() if name != "JAX_COMPILATION_CACHE_DIR"}
    clean |= {"XLA_FLAGS": flags, "XDG_CACHE_HOME": str(tmp_path), **environment}
    done = subprocess.run([sys.executable, "-c", REPORT], env=clean, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.slow
def test_before_jax_runs_every_core_becomes_a_device_and_programs_are_kept(tmp_path):
    found, cores, cache = in_a_new_process(tmp_path)
    assert found == cores
    assert cache == str(tmp_path / "merlax" / "xla")


@pytest.mark.slow
def test_the_users_own_number_of_devices_and_cache_are_kept(tmp_path):
    flags = "--xla_force_host_platform_device_count=3"
    found, _, cache = in_a_new_process(tmp_path, flags, JAX_COMPILATION_CACHE_DIR=str(tmp_path / "mine"))
    assert (found, cache) == (3, str(tmp_path / "mine"))
