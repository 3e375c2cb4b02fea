"""A state comes back from its arrays, of which only those that are filled are kept."""

from merlax.core import replay
from merlax.envs.base import Side
from merlax.runs import snapshots
from tests.support.states import some_state
from tests.support.trees import same


def test_a_state_comes_back():
    assert same(snapshots.restore(some_state(0), snapshots.snapshot(some_state(3))), some_state(3))


def test_only_the_filled_part_of_a_buffer_is_stored():
    assert snapshots.snapshot(some_state(1, filled=3))["buffer.rows.0"].shape == (1, 3, 2, 16)


def test_a_buffer_comes_back_as_that_of_a_world_whose_agents_leave():
    buffer = {"buffer": replay.create(8, Side.equal(2, obs_size=1, act_size=1, leaving=True))}
    assert snapshots.restore(buffer, snapshots.snapshot(buffer))["buffer"].leaving
