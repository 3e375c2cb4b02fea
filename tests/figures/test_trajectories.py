"""Teams side by side on one instance, at one scale."""

from __future__ import annotations

import numpy as np

from merlax.figures.trajectories import side_by_side
from tests.support.drawing import size_of, steer, walk, words_of
from tests.support.worlds import rover


def test_teams_stand_side_by_side_on_the_same_scale(tmp_path):
    env = rover("rover-3")
    teams = {"MERL": steer(env), "MADDPG-mixed": walk(env, np.full((50, env.num_agents, 2), 30.0))}
    side_by_side(env, teams, tmp_path / "t.svg", title="coupling 3")
    words = words_of(tmp_path / "t.svg")
    for text in ("MERL", "MADDPG-mixed", "coupling 3", "observed POI", "0 of 4 POIs observed, 50 steps"):
        assert f"<!-- {text} -->" in words
    side_by_side(env, teams, tmp_path / "t.png", title="coupling 3")
    width, height = size_of(tmp_path / "t.png")
    assert height < width < 2 * height  # a rover far away does not shrink the world
