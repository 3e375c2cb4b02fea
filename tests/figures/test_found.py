"""What is found in a state that nobody draws."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from merlax.envs.drawing import OPPONENT, TEAM, Points
from merlax.figures import found
from tests.probes.episodes import Countdown
from tests.probes.tag import Tag


@pytest.mark.parametrize(
    ("states", "shape"),
    [
        ({"position": np.zeros((5, 2, 2)), "velocity": np.zeros((5, 2, 2))}, (5, 2, 2)),
        ({"where": np.zeros((5, 2, 3))}, (5, 2, 2)),
        ((np.zeros((5, 2, 1)), np.arange(5)), (5, 2, 2)),
    ],
)
def test_places_are_found_by_their_name_or_their_shape(states, shape):
    (mark,) = found.drawing(Countdown(), states).marks
    assert isinstance(mark, Points)
    assert mark.position.shape == shape
    assert (mark.side, mark.color, mark.trail) == (0, TEAM, True)


def test_agents_on_a_line_have_lanes_of_their_own():
    (mark,) = found.drawing(Countdown(), np.zeros((5, 2, 1))).marks
    assert len(set(mark.position[0, :, 1])) == 2


def test_both_sides_together_are_told_apart():
    env = Tag(horizon=3)
    agents = [side.num_agents for side in env.sides]
    marks = found.drawing(env, {"position": np.zeros((4, sum(agents), 2))}).marks
    if agents[0] != sum(agents):
        assert [mark.color for mark in marks] == [TEAM, OPPONENT]  # type: ignore[union-attr]


def test_what_is_no_place_is_none():
    states = {"velocity": np.zeros((5, 2, 2)), "time": np.arange(5), "flags": np.zeros((5, 2, 2), bool)}
    assert not found.drawing(Countdown(), states).marks


def test_a_table_holds_the_beginning_of_large_parts_and_a_key_is_numbers():
    keys = found.plain(jax.random.split(jax.random.key(0), 4))
    rows = found.table({"a": np.zeros((4, 100)), "key": keys})
    assert [(name, values.shape) for name, values in rows] == [("a", (4, found.MOST_NUMBERS)), ("key", (4, 2))]
