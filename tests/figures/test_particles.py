"""Pictures and animations of the particle worlds show what happened."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from merlax.envs import KeepAway, PhysicalDeception, PredatorPrey
from merlax.figures import arena, particles, style
from merlax.figures.stage import GOLD
from merlax.types import UserError
from tests.support.drawing import color_at, cut, frames_of, still, words_of

APART = 2 * [[(0.0, 0.0), (0.0, -0.5)]]
MARKS = ((0.5, 0.5), (-0.5, 0.5))


def shown(env, trace, out, *points):
    """The colours of these points in the animation's first picture."""
    particles.animate(env, trace, out)
    view, shot = arena.view(arena.Scene.of(env, trace)), frames_of(out)[0]
    return [np.array(color_at(view, shot, point)) for point in points]


def assert_color(seen, wanted):
    np.testing.assert_allclose(seen, 255 * np.array(to_rgb(wanted)), atol=6)


def test_the_team_is_blue_the_prey_vermillion_and_obstacles_grey(tmp_path):
    env = PredatorPrey(num_predators=1)
    team, prey, obstacle = shown(env, still(APART), tmp_path / "a.gif", (0.0, 0.0), (0.0, -0.5), (0.5, 0.5))
    assert_color(team, style.BLUE)
    assert_color(prey, style.VERMILLION)
    assert_color(obstacle, arena.OBSTACLE)


@pytest.mark.parametrize("kind", [PhysicalDeception, KeepAway])
def test_the_opponent_is_vermillion_though_its_world_has_it_first(kind, tmp_path):
    env = kind(num_agents=1, num_landmarks=2)
    opponent, agent = shown(env, still(APART), tmp_path / "a.gif", (0.0, 0.0), (0.0, -0.5))
    assert_color(opponent, style.VERMILLION)
    assert_color(agent, style.BLUE)


@pytest.mark.parametrize("target", [0, 1])
def test_only_the_target_has_a_golden_ring(target, tmp_path):
    trace = still(APART, MARKS, target)
    rim = shown(KeepAway(num_agents=1), trace, tmp_path / "a.gif", *((x + 0.05, y) for x, y in MARKS))
    assert_color(rim[target], GOLD)
    assert np.abs(rim[1 - target] - 255 * np.array(to_rgb(GOLD))).max() > 50


def test_what_follows_the_end_is_not_drawn(tmp_path):
    moving = [[(0.0, 0.0), (0.1 * time, 0.0)] for time in range(9)]
    particles.animate(KeepAway(num_agents=1), cut(still(moving), 4), tmp_path / "a.gif")
    assert len(frames_of(tmp_path / "a.gif")) == 5


@pytest.mark.parametrize(
    ("env", "headline", "symbols"),
    [
        (
            PredatorPrey(num_predators=1),
            ("1 predators, a prey of top speed 1.3, 2 obstacles", "touches 0 after 1 steps"),
            {"predator", "prey", "obstacle", "touch"},
        ),
        (
            KeepAway(num_agents=1),
            ("1 agents, an opponent, 2 landmarks", "score +0.00 after 1 steps"),
            {"agent", "opponent", "landmark", "target", "touch"},
        ),
        (
            PhysicalDeception(num_agents=1, num_landmarks=2),
            ("1 agents, an opponent, 2 landmarks", "score +0.00 after 1 steps"),
            {"agent", "opponent", "landmark", "target"},
        ),
    ],
)
def test_a_picture_says_what_it_shows(env, headline, symbols, tmp_path):
    particles.picture(env, still(APART), tmp_path / "a.svg")
    words = words_of(tmp_path / "a.svg")
    for line in headline:
        assert line in words
    known = {"predator", "prey", "obstacle", "touch", "agent", "opponent", "landmark", "target"}
    assert {symbol for symbol in known if f"<!-- {symbol} -->" in words} == symbols


def test_a_wrong_file_name_is_refused_in_one_sentence(tmp_path):
    with pytest.raises(UserError, match=r"\.png, \.pdf or \.svg"):
        particles.picture(KeepAway(num_agents=1), still(APART), tmp_path / "a.gif")
    with pytest.raises(UserError, match=r"end in \.gif\."):
        particles.animate(KeepAway(num_agents=1), still(APART), tmp_path / "a.png")
