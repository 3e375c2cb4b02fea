"""Where rovers and POIs start."""

import functools

import jax
import numpy as np
import pytest

from merlax.envs import Rover
from tests.support.rover_reference import poi_ranges, rover_range

SIDES = [9, 20, 30]
NUM_POI = 6  # two of each kind
RESETS = 20_000

every_side = pytest.mark.parametrize("side", SIDES)


@functools.cache
def states(side):
    env = Rover(num_agents=3, num_poi=NUM_POI, coupling=1, side=side)
    return jax.tree.map(
        np.asarray, jax.jit(jax.vmap(lambda seed: env.reset(jax.random.key(seed))[1]))(np.arange(RESETS))
    )


def assert_uniform(values, expected):
    """Exactly the expected values occur, each about equally often."""
    found, counts = np.unique(values, return_counts=True)
    assert found.tolist() == sorted(expected)
    mean, free = counts.mean(), len(counts) - 1
    assert ((counts - mean) ** 2 / mean).sum() < free + 6 * np.sqrt(2 * free) + 1e-9


def whole(first, last):
    return list(range(first, last + 1))


@every_side
@pytest.mark.parametrize("poi", range(NUM_POI))
def test_pois_start_uniformly_in_exactly_their_ranges(side, poi):
    xs, ys = np.moveaxis(states(side).poi[:, poi], -1, 0)
    ranges = poi_ranges(side, poi)
    assert_uniform(xs, whole(*ranges[0][0]))
    for _, (first, last) in ranges:
        part = ys[(ys >= first) & (ys <= last)]
        assert_uniform(part, whole(first, last))
        assert len(part) / RESETS == pytest.approx(1 / len(ranges), abs=0.02)
    assert set(ys) == {y for _, (first, last) in ranges for y in whole(first, last)}


@every_side
def test_rovers_start_uniformly_in_exactly_their_square(side):
    for coordinate in np.moveaxis(states(side).position.reshape(-1, 2), -1, 0):
        assert_uniform(coordinate, whole(*rover_range(side)))


@every_side
def test_all_coordinates_are_drawn_independently(side):
    drawn = np.concatenate([states(side).position, states(side).poi], axis=1).reshape(RESETS, -1)
    drawn = drawn[:, drawn.std(axis=0) > 0]
    correlation = np.corrcoef(drawn.T) - np.eye(drawn.shape[1])
    assert np.abs(correlation).max() < 6 / np.sqrt(RESETS)


@every_side
def test_everything_else_starts_at_nothing(side):
    state = states(side)
    assert not state.speed.any()
    assert not state.turn.any()
    assert not state.observed.any()
    assert not state.time.any()


def test_the_ranges_of_side_20_are_those_worked_out_by_hand():
    assert rover_range(20) == (7, 13)
    assert poi_ranges(20, 3) == [((0, 3), (0, 19))]
    assert poi_ranges(20, 4) == [((15, 19), (0, 19))]
    assert poi_ranges(20, 5) == [((4, 14), (0, 3)), ((4, 14), (15, 19))]
