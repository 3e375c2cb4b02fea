"""Buffers dealt anew hold the same transitions, the newest where there is not room for all."""

import numpy as np

from merlax.runs import dealing


def part(*numbers):
    return np.array(numbers, np.float32)[:, None, None]


def test_two_parts_become_one_in_the_order_of_time():
    # The first is full and begins at its second row; the second has as many, from its beginning.
    parts = [part(8, 2, 4, 6), part(1, 3, 5, 7)]
    rows, cursor, size = dealing.deal(parts, np.array([1, 0], np.int32), np.array([4, 4], np.int32), 1, 8)
    assert rows[0, :, 0, 0].tolist() == [2, 1, 4, 3, 6, 5, 8, 7]
    assert (cursor.tolist(), size.tolist()) == ([0], [8])
    assert cursor.dtype == np.int32


def test_one_part_becomes_several_of_equal_size():
    parts = [part(0, 1, 2, 3, 4, 5, 6)]
    rows, cursor, size = dealing.deal(parts, np.array([7], np.int32), np.array([7], np.int32), 2, 4)
    assert rows[..., 0, 0].tolist() == [[1, 3, 5], [2, 4, 6]]  # the oldest has no partner
    assert (cursor.tolist(), size.tolist()) == ([3, 3], [3, 3])


def test_of_too_many_the_newest_stay():
    parts = [part(0, 1, 2), part(0, 1, 2)]
    rows, cursor, size = dealing.deal(parts, np.array([0, 0], np.int32), np.array([3, 3], np.int32), 1, 4)
    assert rows[0, :, 0, 0].tolist() == [1, 1, 2, 2]
    assert (cursor.tolist(), size.tolist()) == ([0], [4])


def test_nothing_stays_nothing():
    rows, cursor, size = dealing.deal([part()], np.array([0], np.int32), np.array([0], np.int32), 2, 4)
    assert rows.shape == (2, 0, 1, 1)
    assert (cursor.tolist(), size.tolist()) == ([0, 0], [0, 0])
