"""What worlds say of their looks."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest

from merlax.envs import KeepAway, PhysicalDeception, PredatorPrey, ids, make, two_rovers
from merlax.envs.drawing import Circles, Drawn, Labels
from tests.support.drawing import steer, still
from tests.support.worlds import rover


def states_of(trace):
    return jax.tree.map(np.asarray, trace.states)


def named(drawing, name) -> Any:
    return next(mark for mark in drawing.marks if getattr(mark, "name", None) == name)


@pytest.mark.parametrize("name", ids())
def test_every_world_of_merlax_says_how_it_looks(name):
    assert isinstance(make(name), Drawn)


def test_a_poi_counts_from_the_instant_after_its_visit():
    env = two_rovers()
    states = states_of(steer(env))
    drawing = env.draw(states)
    counted = np.asarray(named(drawing, "POI").lit)
    np.testing.assert_array_equal(counted[1:], states.observed[:-1])
    assert drawing.score is not None
    assert drawing.score[-1] == 0.5
    assert drawing.caption is not None
    assert drawing.caption[-1] == "1 of 2 POIs observed"


def test_a_label_tells_how_many_of_the_rovers_are_there():
    env = two_rovers()
    labels = next(mark for mark in env.draw(states_of(steer(env))).marks if isinstance(mark, Labels))
    assert labels.text[0] == ["0/1", "0/1"]
    assert "1/1" in [row[1] for row in labels.text]


def test_the_sectors_lie_where_the_observation_has_them():
    env = rover("rover-3")
    rovers, poi = env.draw(states_of(steer(env))).sectors
    assert (rovers.first, rovers.count, poi.first) == (1, 36, 37)


def test_a_touch_lights_both_sides_when_it_happens_and_is_counted():
    apart, near = [(0.0, 0.0), (0.9, 0.9), (0.0, -0.5)], [(0.0, -0.4), (0.9, 0.9), (0.0, -0.5)]
    drawing = PredatorPrey(num_predators=2).draw(states_of(still([apart, near, near, apart])))
    assert np.asarray(named(drawing, "prey").lit)[:, 0].tolist() == [False, True, True, False]
    assert np.asarray(named(drawing, "predator").lit)[1].tolist() == [True, False]
    assert drawing.caption == ["touches 0", "touches 1", "touches 2", "touches 2"]


def test_nobody_touches_where_nothing_collides():
    states = states_of(still(2 * [[(0.0, 0.0), (0.0, 0.0)]]))
    assert not np.asarray(named(PhysicalDeception(num_agents=1).draw(states), "agent").lit).any()


@pytest.mark.parametrize("kind", [PhysicalDeception, KeepAway])
def test_sides_are_told_apart_though_these_worlds_have_the_opponent_first(kind):
    drawing = kind(num_agents=2).draw(states_of(still(2 * [[(0.1, 0.0), (0.2, 0.0), (0.3, 0.0)]])))
    np.testing.assert_allclose(named(drawing, "agent").position[0, :, 0], [0.2, 0.3], rtol=1e-6)
    np.testing.assert_allclose(named(drawing, "opponent").position[0, :, 0], [0.1], rtol=1e-6)


def test_the_target_is_ringed_and_bodies_have_their_true_sizes():
    states = states_of(still(2 * [[(0.0, 0.0), (0.5, 0.0)]], target=1))
    drawing = KeepAway(num_agents=1, size=0.07).draw(states)
    target = named(drawing, "target")
    assert isinstance(target, Circles)
    assert target.style == "ring"
    np.testing.assert_allclose(target.position[0, 0], (-0.5, 0.5))
    assert named(drawing, "agent").radius == 0.07
