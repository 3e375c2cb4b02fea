"""What of a particle world's episode is shown: places, touches, the score so far, and colours."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from merlax.envs import KeepAway, PhysicalDeception, PredatorPrey
from merlax.figures import arena, style
from merlax.figures.stage import GOLD
from tests.support.drawing import cut, differ, still


def test_a_touch_flashes_when_it_happens_and_the_score_counts_it():
    env = PredatorPrey(num_predators=2)
    apart, near = [(0.0, 0.0), (0.9, 0.9), (0.0, -0.5)], [(0.0, -0.4), (0.9, 0.9), (0.0, -0.5)]
    scene = arena.Scene.of(env, still([apart, near, near, apart]))
    np.testing.assert_array_equal(scene.touched[:, -1], [False, True, True, False])
    np.testing.assert_array_equal(scene.touched[1], [True, False, True])
    np.testing.assert_array_equal(scene.score, [0, 1, 2, 2])


def test_nobody_touches_where_nothing_collides():
    assert not arena.Scene.of(PhysicalDeception(num_agents=1), still(2 * [[(0.0, 0.0), (0.0, 0.0)]])).touched.any()


def test_the_score_does_not_count_where_an_episode_starts():
    scene = arena.Scene.of(KeepAway(num_agents=1), still(3 * [[(0.0, 0.0), (0.5, 0.0)]]))
    np.testing.assert_allclose(scene.score, [0.0, -0.5, -1.0], atol=1e-6)


@pytest.mark.parametrize("kind", [PhysicalDeception, KeepAway])
def test_the_opponent_is_shown_last_though_its_world_has_it_first(kind):
    scene = arena.Scene.of(kind(num_agents=2), still(2 * [[(0.1, 0.0), (0.2, 0.0), (0.3, 0.0)]]))
    np.testing.assert_allclose(scene.position[0, :, 0], [0.2, 0.3, 0.1], rtol=1e-6)


def test_only_worlds_with_a_target_show_one():
    trace = still(2 * [[(0.0, 0.0), (0.5, 0.0)]], target=1)
    assert arena.Scene.of(KeepAway(num_agents=1), trace).target == 1
    assert arena.Scene.of(PredatorPrey(num_predators=1), trace).target is None


def test_what_follows_the_end_is_not_part_of_the_scene():
    scene = arena.Scene.of(KeepAway(num_agents=1), cut(still(9 * [[(0.0, 0.0), (0.5, 0.0)]]), 4))
    assert len(scene.position) == len(scene.score) == 5


def test_bodies_are_drawn_in_their_true_sizes():
    radius, landmark = arena.radii(PredatorPrey(num_predators=2, prey_size=0.03))
    np.testing.assert_array_equal(radius, [0.075, 0.075, 0.03])
    assert landmark == 0.2
    assert arena.radii(KeepAway(size=0.07))[0].tolist() == [0.07] * 3


def test_nothing_is_lost_that_leaves_the_square():
    far = [(3.0, -4.0), (0.0, 0.0)]
    low, size = arena.view(arena.Scene.of(KeepAway(num_agents=1), still([far, far])))
    assert (low < (3.0, -4.05)).all()
    assert (low + size > (3.05, 1.0)).all()


def test_the_team_is_blue_and_the_opponent_vermillion():
    team, opponent = arena.body_colors(2)
    assert (tuple(team), tuple(opponent)) == (to_rgb(style.BLUE), to_rgb(style.VERMILLION))


@pytest.mark.parametrize("num", [1, 3, 5, 6, 12])
def test_bodies_of_one_world_have_different_colours_and_none_is_gold(num):
    assert differ(np.concatenate([arena.body_colors(num + 1), [to_rgb(GOLD)]])) > 0.05
