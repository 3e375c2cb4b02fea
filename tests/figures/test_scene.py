"""An episode in full arrays, whatever its world draws of it."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from merlax.envs import KeepAway, Rover, two_rovers
from merlax.envs.drawing import Circles, Drawing, Labels, Points
from merlax.figures.scene import scene, view
from merlax.types import UserError
from tests.probes.episodes import Countdown
from tests.support.drawing import cut, steer, still, walk


@dataclasses.dataclass(frozen=True)
class Own(KeepAway):
    """A world that draws what it is given."""

    num_agents: int = 1
    made: object = None

    def draw(self, states: Any) -> Any:
        return self.made(states) if callable(self.made) else self.made


TRACE = still(4 * [[(0.0, 0.0), (0.5, 0.0)]])


def test_what_follows_the_end_is_not_part_of_it():
    one = scene(two_rovers(), cut(steer(two_rovers()), 12))
    assert one.steps == 12
    assert {len(mark.position) for mark in one.drawing.marks} == {len(one.score)} == {13}


def test_what_does_not_move_is_there_at_every_instant():
    made = Drawing(marks=[Circles(position=[[0.0, 1.0]], radius=0.5), Labels(position=[[0.0, 1.0]], text=["a"])])
    circles, labels = scene(Own(made=made), TRACE).drawing.marks
    assert circles.position.shape == (4, 1, 2)
    assert isinstance(circles, Circles)
    assert circles.radius.tolist() == [0.5]
    assert isinstance(labels, Labels)
    assert labels.text.tolist() == 4 * [["a"]]


@pytest.mark.parametrize(
    ("made", "sentence"),
    [
        (lambda states: 1 / 0, r"Own\.draw failed \(ZeroDivisionError"),
        ([1, 2], "Own.draw returned no Drawing"),
        (
            Drawing(marks=[Points(position=np.zeros((9, 2, 2)))]),
            r"position has shape \(9, 2, 2\), and not \[4",
        ),
        (Drawing(marks=[Points(position=np.zeros((4, 2, 2)), heading=np.zeros((4, 3)))]), "cannot be drawn"),
        (Drawing(marks=[], score=np.zeros(9)), "cannot be drawn"),
    ],
)
def test_a_drawing_that_is_wrong_is_told_in_a_sentence(made, sentence):
    with pytest.raises(UserError, match=sentence):
        scene(Own(made=made), TRACE)


def test_a_world_that_draws_nothing_and_has_no_places_shows_its_numbers():
    env = Countdown()
    trace = still(4 * [[(0.0, 0.0)]])
    trace = dataclasses.replace(trace, states={"time": np.arange(4), "luck": np.ones((4, 2))})
    names = [name for name, _ in scene(env, trace).table]
    assert names == ["luck", "time"]


def test_the_view_holds_the_ground_and_whoever_left_it_but_follows_nobody_for_ever():
    env = Rover(num_agents=1, num_poi=3, coupling=1)
    one = scene(env, walk(env, np.tile([0.0, -1.0], (50, 1, 1))))
    low, size = view([one])
    assert (low < (1.0 - env.observation_distance, -40.0)).all()
    assert (low + size > 19.0 + env.observation_distance).all()
    assert view([one], astray=0.3)[0][1] > -15.0


def test_a_scene_of_what_is_not_finite_still_has_a_view():
    made = Drawing(marks=[Points(position=np.full((4, 1, 2), np.nan))])
    assert view([scene(Own(made=made), TRACE)])[1] == 1.0


class Cinema(Countdown):
    """A world of somebody else's, which makes pictures of itself, or fails to."""

    name = "cinema"
    torn = False

    def film(self, states: Any) -> np.ndarray:
        if self.torn:
            raise RuntimeError("the film is torn")
        return np.broadcast_to(states["time"].astype(np.uint8)[:, None, None, None], (len(states["time"]), 4, 6, 3))


PLAYED = dataclasses.replace(still(4 * [[(0.0, 0.0)]]), states={"time": np.arange(4)})


def test_a_world_that_films_itself_is_shown_by_its_pictures():
    filmed = scene(Cinema(), PLAYED)
    assert filmed.frames is not None
    assert filmed.frames.shape == (4, 4, 6, 3)
    assert not filmed.table
    assert [filmed.frame(t)[0, 0, 0] for t in range(4)] == [0, 1, 2, 3]


def test_of_fewer_pictures_than_instants_the_nearest_is_shown_and_both_ends_are_there():
    filmed = scene(Cinema(), PLAYED, pictures=2)
    assert filmed.frames is not None
    assert [filmed.frame(t)[0, 0, 0] for t in range(4)] == [0, 0, 3, 3]


def test_where_it_fails_its_state_is_shown(monkeypatch):
    monkeypatch.setattr(Cinema, "torn", True)
    with pytest.warns(UserWarning, match=r"cannot be filmed \(RuntimeError: the film is torn\)"):
        shown = scene(Cinema(), PLAYED)
    assert shown.frames is None
    assert shown.table
