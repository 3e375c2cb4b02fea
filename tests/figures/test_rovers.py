"""Pictures and animations of the rover worlds show what happened."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from merlax.envs import Rover, two_rovers
from merlax.figures import rovers, stage
from merlax.types import UserError
from tests.support.drawing import (
    color_at,
    cut,
    durations_of,
    frames_of,
    pixels_of,
    size_of,
    steer,
    walk,
    words_of,
)
from tests.support.worlds import rover

GOLD, BLACK, WHITE = (255, 194, 14), (17, 17, 17), (255, 255, 255)
ENV = two_rovers()


def view(env, trace):
    return stage.view(env, stage.Scene.of(trace))


@pytest.fixture(scope="module")
def trace():
    return steer(ENV)


@pytest.fixture(scope="module")
def shots(trace, tmp_path_factory):
    out = tmp_path_factory.mktemp("gif") / "two.gif"
    rovers.animate(ENV, trace, out)
    return frames_of(out)


def test_the_animation_has_one_frame_per_instant(trace, shots):
    assert len(shots) == int(trace.steps) + 1 == 31
    assert shots[0].shape == (510, 480, 3)


def test_a_poi_turns_gold_in_the_frame_after_its_visit(trace, shots):
    visit = int(np.argmax(np.asarray(trace.states.observed)[:, 1]))
    colors = [color_at(view(ENV, trace), shot, (1.0, 18.0)) for shot in shots]
    assert 0 < visit < 30
    assert colors == [BLACK] * (visit + 1) + [GOLD] * (30 - visit)


def test_a_poi_that_is_never_observed_stays_black(trace, shots):
    assert {color_at(view(ENV, trace), shot, (1.0, 1.0)) for shot in shots} == {BLACK}


def test_a_visit_in_the_last_step_is_not_shown_as_observed(trace, tmp_path):
    trace = cut(trace, int(np.argmax(np.asarray(trace.states.observed)[:, 1])))
    rovers.animate(ENV, trace, tmp_path / "a.gif")
    assert color_at(view(ENV, trace), frames_of(tmp_path / "a.gif")[-1], (1.0, 18.0)) == BLACK
    rovers.picture(ENV, trace, tmp_path / "a.svg")
    assert "0 of 2 POIs observed" in words_of(tmp_path / "a.svg")


def test_the_background_is_white_in_every_frame(shots):
    assert {tuple(shot[-1, -1].tolist()) for shot in shots} == {WHITE}


@pytest.mark.parametrize("num_agents", [1, 6, 7, 14, 40, 300])
def test_the_palette_keeps_white_and_gold_for_any_team(num_agents):
    flat = Image.new("RGB", (2, 1))
    flat.putdata([WHITE, GOLD])
    palette = rovers._palette(stage.rover_colors(num_agents))
    reduced = flat.quantize(palette=palette, dither=Image.Dither.NONE).convert("RGB")
    assert [reduced.getpixel((x, 0)) for x in (0, 1)] == [WHITE, GOLD]


def test_what_follows_the_end_of_an_episode_is_not_drawn(trace, tmp_path):
    rovers.animate(ENV, cut(trace, 12), tmp_path / "short.gif")
    assert len(frames_of(tmp_path / "short.gif")) == 13


def test_the_last_frame_is_held_and_the_file_of_a_large_team_is_small(tmp_path):
    env, out = rover("rover-7"), tmp_path / "crowd.gif"
    rovers.animate(env, walk(env, np.random.default_rng(0).normal(size=(50, 14, 2)) / 2), out, fps=10)
    assert durations_of(out) == [100] * 50 + [1500]
    assert out.stat().st_size < 1_000_000


def test_rovers_that_leave_the_world_stay_in_view(tmp_path):
    env = Rover(num_agents=1, num_poi=3, coupling=1)
    trace = walk(env, np.tile([1.0, 0.0], (50, 1, 1)))
    rovers.animate(env, trace, tmp_path / "away.gif")
    blue = tuple(round(255 * value) for value in stage.rover_colors(1)[0])
    assert color_at(view(env, trace), frames_of(tmp_path / "away.gif")[-1], (60.0, 10.0)) == blue


def test_the_picture_shows_both_kinds_of_poi(trace, tmp_path):
    rovers.picture(ENV, trace, tmp_path / "two.png")
    assert size_of(tmp_path / "two.png") == (1050, 1245)
    legend_disc = 700  # pixels of one symbol in the legend, at most
    for color in (GOLD, BLACK):
        assert (pixels_of(tmp_path / "two.png") == color).all(axis=-1).sum() > legend_disc


def test_the_picture_says_world_score_and_steps(trace, tmp_path):
    rovers.picture(ENV, trace, tmp_path / "two.svg")
    words = words_of(tmp_path / "two.svg")
    assert "2 rovers, 2 POIs, coupling 1, pinned speed" in words
    assert "score 0.50 after 30 steps, 1 of 2 POIs observed" in words


def test_a_wrong_file_name_is_refused_in_one_sentence(trace, tmp_path):
    with pytest.raises(UserError, match=r"\.png, \.pdf or \.svg"):
        rovers.picture(ENV, trace, tmp_path / "episode.gif")
    with pytest.raises(UserError, match=r"end in \.gif\."):
        rovers.animate(ENV, trace, tmp_path / "episode.png")
