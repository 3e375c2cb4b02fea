"""One cyclic buffer per agent."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from merlax.core import replay
from merlax.envs.base import Side
from merlax.types import Transition

AGENTS, OBS, ACT, CAPACITY = 2, 3, 1, 8
SIDE = Side.equal(AGENTS, OBS, ACT)

add = jax.jit(replay.add)
store = jax.jit(replay.store)
sample = jax.jit(lambda seed, buffer: replay.sample(jax.random.key(seed), buffer, 4000))


def transitions(names) -> Transition:
    """Transitions that carry a name: agent 0's are `name`, agent 1's are `name + 1000`."""
    name = np.asarray(names, np.float32)[:, None] + 1000.0 * np.arange(AGENTS, dtype=np.float32)
    obs = np.repeat(name[:, :, None], OBS, axis=2)
    ends = name % 2 == 0
    return Transition(*map(jnp.array, (obs, obs[..., :ACT] + 0.25, name + 0.5, name + 0.625, obs + 0.75, ends)))


def filled(*batches) -> replay.Buffer:
    """A buffer after batches of (names, valid)."""
    buffer = jax.tree.map(lambda leaf: leaf[0], replay.create(CAPACITY, SIDE))
    for names, valid in batches:
        buffer = add(buffer, transitions(names), jnp.array(valid))
    return buffer


def names(buffer: replay.Buffer) -> list[float]:
    return buffer.rows[: int(buffer.size), 0, 0].tolist()


def test_transitions_are_stored_in_order():
    buffer = filled(([1, 2, 3], [True] * 3), ([4, 5], [True] * 2))
    assert names(buffer) == [1, 2, 3, 4, 5]
    assert int(buffer.cursor) == 5


def test_the_oldest_are_overwritten():
    buffer = filled(([1, 2, 3, 4, 5, 6], [True] * 6), ([7, 8, 9], [True] * 3))
    assert names(buffer) == [9, 2, 3, 4, 5, 6, 7, 8]
    assert (int(buffer.size), int(buffer.cursor)) == (CAPACITY, 1)


def test_invalid_transitions_leave_no_trace():
    buffer = filled(([1, 2, 3, 4], [True, False, False, True]), ([5, 6], [False, False]), ([7, 8], [False, True]))
    assert names(buffer) == [1, 4, 8]
    assert (buffer.rows[3:] == 0.0).all()


def test_of_more_than_fit_the_newest_are_kept():
    many = np.arange(1, 21)
    valid = many % 5 != 0  # 16 are valid: twice the capacity
    buffer = filled((many, valid))
    assert sorted(names(buffer)) == many[valid][-CAPACITY:].tolist()
    buffer = add(buffer, transitions([21]), jnp.array([True]))
    assert sorted(names(buffer)) == [*many[valid][-CAPACITY + 1 :].tolist(), 21]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("part", ["obs", "agent_reward", "team_reward", "next_obs", "action"])
def test_a_transition_that_is_not_finite_is_not_stored(part, bad):
    ones = lambda *shape: jnp.ones((3, AGENTS, *shape))  # noqa: E731
    parts = {"obs": ones(OBS), "action": ones(ACT), "agent_reward": ones(), "team_reward": ones()}
    parts |= {"next_obs": ones(OBS), "terminated": jnp.zeros((3, AGENTS), bool)}
    parts[part] = parts[part].at[1, 0].set(bad)
    buffer = store(replay.create(5, SIDE), Transition(**parts), jnp.ones(3, bool))
    assert buffer.size.sum() == 2
    assert jnp.isfinite(buffer.rows).all()


def test_a_sample_comes_from_the_filled_part_only():
    drawn = sample(0, filled(([1, 2, 3], [True] * 3)))
    assert set(np.unique(drawn.obs[:, 0])) == {1, 2, 3}


@pytest.mark.parametrize("stored", [1, 5, CAPACITY])
def test_a_sample_is_uniform(stored):
    drawn = sample(0, filled((np.arange(1, stored + 1), [True] * stored)))
    found, counts = np.unique(drawn.obs[:, 0, 0], return_counts=True)
    assert found.tolist() == list(range(1, stored + 1))
    assert np.abs(counts / 4000 - 1 / stored).max() < 0.03


def test_each_agent_samples_its_own_transitions():
    drawn = sample(0, filled(([1, 2, 3, 4], [True] * 4)))
    assert (drawn.obs[:, 0] < 1000).all()
    assert (drawn.obs[:, 1] > 1000).all()


def test_agents_are_sampled_independently():
    drawn = sample(0, filled((np.arange(8), [True] * 8)))
    first, second = drawn.obs[:, 0, 0], drawn.obs[:, 1, 0] - 1000
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.08
    assert (first == second).mean() == pytest.approx(1 / 8, abs=0.03)


def test_another_key_draws_another_sample():
    buffer = filled((np.arange(8), [True] * 8))
    assert (sample(0, buffer).agent_reward != sample(1, buffer).agent_reward).any()


def test_a_sampled_transition_is_whole():
    drawn = sample(0, filled((np.arange(8), [True] * 8)))
    name = drawn.obs[..., 0]
    np.testing.assert_array_equal(drawn.action[..., 0], name + 0.25)
    np.testing.assert_array_equal(drawn.next_obs, drawn.obs + 0.75)
    np.testing.assert_array_equal(drawn.terminated, name % 2 == 0)


def test_both_rewards_are_kept_as_they_were_paid():
    drawn = sample(0, filled((np.arange(8), [True] * 8)))
    name = drawn.obs[..., 0]
    np.testing.assert_array_equal(drawn.agent_reward, name + 0.5)
    np.testing.assert_array_equal(drawn.team_reward, name + 0.625)


def test_a_joint_sample_is_of_the_same_instants():
    joint = jax.jit(lambda buffer: replay.sample_joint(jax.random.key(0), buffer, 4000))
    drawn = joint(filled((np.arange(8), [True] * 8)))
    np.testing.assert_array_equal(drawn.obs[:, 0] + 1000, drawn.obs[:, 1])
    assert len(np.unique(drawn.obs[:, 0, 0])) == 8


@pytest.mark.parametrize("length", [4, 5])
def test_every_shard_stores_an_equal_part(length):
    buffers = replay.create(CAPACITY, SIDE, shards=2)
    valid = jnp.arange(length) != 1
    buffers = store(buffers, transitions(np.arange(1, length + 1)), valid)
    stored = [buffers.rows[shard, : int(buffers.size[shard]), 0, 0].tolist() for shard in range(2)]
    assert stored == ([[1], [3, 4]] if length == 4 else [[1, 3], [4, 5]])
    assert buffers.rows.shape[:2] == (2, CAPACITY // 2)


def test_all_batch_axes_of_episodes_are_stored():
    batch = jax.tree.map(lambda leaf: leaf.reshape(2, 3, *leaf.shape[1:]), transitions(np.arange(1, 7)))
    buffers = store(replay.create(CAPACITY, SIDE), batch, jnp.array([[True, True, False], [True, False, False]]))
    assert buffers.rows[0, : int(buffers.size[0]), 0, 0].tolist() == [1, 2, 4]


def test_unpack_is_the_inverse_of_pack():
    stored = transitions(np.arange(5))
    jax.tree.map(np.testing.assert_array_equal, replay.unpack(replay.pack(stored), OBS, ACT), stored)


@pytest.mark.parametrize(("obs_size", "width"), [(6, 16), (7, 32), (14, 32), (15, 48)])
def test_rows_are_whole_cache_lines(obs_size, width):
    assert replay.create(CAPACITY, Side.equal(AGENTS, obs_size, act_size=1)).rows.shape[-1] == width


def test_who_was_there_is_kept_and_instants_without_anybody_are_not():
    side = Side.equal(AGENTS, OBS, ACT, leaving=True)
    buffer = jax.tree.map(lambda leaf: leaf[0], replay.create(CAPACITY, side))
    there = jnp.array([[True, True], [True, False], [False, False]])
    buffer = add(buffer, dataclasses.replace(transitions([1, 2, 3]), present=there), jnp.ones(3, bool))
    assert names(buffer) == [1.0, 2.0]
    drawn = replay.sample_joint(jax.random.key(0), buffer, 50)
    assert drawn.present is not None
    np.testing.assert_array_equal(drawn.present[:, 1], drawn.obs[:, 0, 0] == 1.0)
    assert drawn.present[:, 0].all()
