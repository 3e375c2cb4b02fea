"""What of a rover world's episode is shown: places, headings, what counts as observed, and colours."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from merlax.envs import Rover, two_rovers
from merlax.figures import film, stage
from tests.support.drawing import cut, differ, steer, walk


def test_a_visit_counts_from_the_next_instant_on():
    trace = steer(two_rovers())
    observed = np.asarray(trace.states.observed)
    counted = stage.Scene.of(trace).counted
    np.testing.assert_array_equal(counted[1:], observed[:-1])
    assert not counted[0].any()
    assert counted[-1].tolist() == [False, True]


def test_what_follows_the_end_is_not_part_of_the_scene():
    scene = stage.Scene.of(cut(steer(two_rovers()), 12))
    assert len(scene.position) == len(scene.heading) == len(scene.counted) == 13


def test_arrows_point_along_the_heading():
    heading = np.pi * np.array([0.0, 0.5, 1.25, -3.0])
    tips = stage.arrows(np.ones((4, 2)), heading, 2.0)[:, 0] - 1.0
    np.testing.assert_allclose(tips, 2.0 * np.stack([np.cos(heading), np.sin(heading)], axis=1), atol=1e-12)


def test_a_trail_goes_back_over_its_tail_and_grows_fainter():
    env = Rover(num_agents=1, num_poi=3, coupling=1)
    _, ax = film.square(3.0, above=0.0)
    drawn = stage.Stage(ax, env, stage.Scene.of(walk(env, np.tile([1.0, 0.0], (20, 1, 1)))))
    drawn.show(10, tail=4)
    ends = np.array([segment[:, 0] for segment in drawn._trails.get_segments()])
    np.testing.assert_allclose(ends, [(16, 17), (17, 18), (18, 19), (19, 20)])
    paleness = np.asarray(drawn._trails.get_color())[:, :3].sum(axis=1)
    assert (np.diff(paleness) < 0).all()


@pytest.mark.parametrize("num", [1, 6, 7, 14])
def test_rovers_differ_from_each_other_and_from_gold(num):
    assert differ(np.concatenate([stage.rover_colors(num), [to_rgb(stage.GOLD)]])) > 0.15


def test_the_view_holds_the_world_the_reach_of_its_pois_and_whoever_left_it():
    env = Rover(num_agents=1, num_poi=3, coupling=1)
    low, size = stage.view(env, stage.Scene.of(walk(env, np.tile([0.0, -1.0], (50, 1, 1)))))
    assert (low < (1.0 - env.observation_distance, -40.0)).all()
    assert (low + size > 19.0 + env.observation_distance).all()
