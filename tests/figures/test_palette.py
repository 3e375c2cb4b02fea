"""Colours that can be told apart."""

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from merlax.figures import palette, style
from tests.support.drawing import differ


@pytest.mark.parametrize("num", [1, 6, 7, 14])
def test_agents_differ_from_each_other_and_from_gold(num):
    assert differ(np.concatenate([palette.colors("team", num), [palette.GOLDEN]])) > 0.15


@pytest.mark.parametrize("num", [1, 3, 5, 6, 12])
def test_in_a_contest_no_agent_has_the_colour_of_the_opponent(num):
    team, opponent = palette.colors("team", num, contest=True), palette.colors("opponent", 1)
    assert tuple(opponent[0]) == to_rgb(style.VERMILLION)
    assert differ(np.concatenate([team, opponent, [palette.GOLDEN]])) > 0.05


def test_any_colour_can_be_named():
    assert palette.hexes("#123456", 2) == ["#123456", "#123456"]
