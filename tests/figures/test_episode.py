"""Pictures and films show what happened."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from PIL import Image

from merlax.envs import KeepAway, PhysicalDeception, PredatorPrey, Rover, two_rovers
from merlax.figures import episode, palette, style
from merlax.figures.scene import scene, view
from merlax.types import UserError
from tests.support.drawing import (
    color_at,
    cut,
    durations_of,
    frames_of,
    pixels_of,
    size_of,
    steer,
    still,
    walk,
    words_of,
)
from tests.support.worlds import rover

GOLD, BLACK, WHITE = (255, 194, 14), (17, 17, 17), (255, 255, 255)
ENV = two_rovers()
APART = 2 * [[(0.0, 0.0), (0.0, -0.5)]]
MARKS = ((0.5, 0.5), (-0.5, 0.5))


@pytest.fixture(scope="module")
def one():
    return scene(ENV, steer(ENV))


@pytest.fixture(scope="module")
def shots(one, tmp_path_factory):
    out = tmp_path_factory.mktemp("gif") / "two.gif"
    episode.animate([one], out)
    return frames_of(out)


def test_the_film_has_one_frame_per_instant_on_white(one, shots):
    assert len(shots) == one.steps + 1 == 31
    assert shots[0].shape == (510, 480, 3)
    assert {tuple(shot[-1, -1].tolist()) for shot in shots} == {WHITE}


def test_a_poi_turns_gold_in_the_frame_after_its_visit(one, shots):
    visit = int(np.argmax(np.asarray(steer(ENV).states.observed)[:, 1]))
    colors = [color_at(view([one]), shot, (1.0, 18.0)) for shot in shots]
    assert 0 < visit < 30
    assert colors == [BLACK] * (visit + 1) + [GOLD] * (30 - visit)
    assert {color_at(view([one]), shot, (1.0, 1.0)) for shot in shots} == {BLACK}


def test_a_visit_in_the_last_step_is_not_shown_as_observed(tmp_path):
    trace = cut(steer(ENV), int(np.argmax(np.asarray(steer(ENV).states.observed)[:, 1])))
    episode.picture([scene(ENV, trace)], tmp_path / "a.svg")
    assert "0 of 2 POIs observed" in words_of(tmp_path / "a.svg")


@pytest.mark.parametrize("num_agents", [1, 7, 40, 300])
def test_the_colours_of_a_film_keep_white_and_gold_for_any_team(num_agents):
    env = Rover(num_agents=num_agents, num_poi=3, coupling=1)
    colors = episode._colors([scene(env, walk(env, np.zeros((1, num_agents, 2))))])
    flat = Image.new("RGB", (2, 1))
    flat.putdata([WHITE, GOLD])
    reduced = flat.quantize(palette=colors, dither=Image.Dither.NONE).convert("RGB")
    assert [reduced.getpixel((x, 0)) for x in (0, 1)] == [WHITE, GOLD]


def test_the_last_frame_is_held_and_the_file_of_a_large_team_is_small(tmp_path):
    env, out = rover("rover-7"), tmp_path / "crowd.gif"
    trace = walk(env, np.random.default_rng(0).normal(size=(50, 14, 2)) / 2)
    episode.animate([scene(env, trace)], out, fps=10)
    assert durations_of(out) == [100] * 50 + [1500]
    assert out.stat().st_size < 1_000_000


def test_the_picture_says_world_score_and_steps_and_shows_both_kinds_of_poi(one, tmp_path):
    episode.picture([one], tmp_path / "two.svg")
    words = words_of(tmp_path / "two.svg")
    assert "2 rovers, 2 POIs, coupling 1, pinned speed" in words
    assert "score 0.50 after 30 steps, 1 of 2 POIs observed" in words
    episode.picture([one], tmp_path / "two.png")
    assert size_of(tmp_path / "two.png") == (1050, 1245)
    legend_disc = 700  # pixels of one symbol in the legend, at most
    for color in (GOLD, BLACK):
        assert (pixels_of(tmp_path / "two.png") == color).all(axis=-1).sum() > legend_disc


@pytest.mark.parametrize(
    ("env", "symbols"),
    [
        (PredatorPrey(num_predators=1), {"predator", "prey", "obstacle", "touch"}),
        (KeepAway(num_agents=1), {"agent", "opponent", "landmark", "target", "touch"}),
        (PhysicalDeception(num_agents=1, num_landmarks=2), {"agent", "opponent", "landmark", "target"}),
    ],
)
def test_the_legend_names_what_a_world_has(env, symbols, tmp_path):
    episode.picture([scene(env, still(APART))], tmp_path / "a.svg")
    words = words_of(tmp_path / "a.svg")
    known = {"predator", "prey", "obstacle", "touch", "agent", "opponent", "landmark", "target"}
    assert {symbol for symbol in known if f"<!-- {symbol} -->" in words} == symbols


def test_sides_landmarks_and_the_target_have_their_colours(tmp_path):
    own = scene(KeepAway(num_agents=1), still(APART, MARKS, 1))
    episode.animate([own], tmp_path / "a.gif")
    shot = frames_of(tmp_path / "a.gif")[0]
    wanted = {(0.0, 0.0): style.VERMILLION, (0.0, -0.5): style.BLUE, (-0.45, 0.5): palette.MEANT["gold"]}
    for point, color in wanted.items():
        np.testing.assert_allclose(color_at(view([own]), shot, point), 255 * np.array(to_rgb(color)), atol=6)


def test_teams_stand_side_by_side_on_one_scale_still_and_moving(tmp_path):
    env = rover("rover-3")
    far = walk(env, np.full((50, env.num_agents, 2), 30.0))
    teams = [scene(env, steer(env), "MERL"), scene(env, cut(far, 3), "MADDPG-mixed")]
    episode.picture(teams, tmp_path / "t.svg", "coupling 3")
    for text in ("MERL", "MADDPG-mixed", "coupling 3", "observed POI", "0 of 4 POIs observed, 3 steps"):
        assert f"<!-- {text} -->" in words_of(tmp_path / "t.svg")
    short = [scene(env, cut(steer(env), 4), "MERL"), teams[1]]
    episode.animate(short, tmp_path / "t.gif")
    shots = frames_of(tmp_path / "t.gif")
    assert len(shots) == 5
    assert shots[0].shape == (510, 960, 3)


def test_a_wrong_file_name_is_refused_in_one_sentence(one, tmp_path):
    with pytest.raises(UserError, match=r"\.png, \.pdf or \.svg"):
        episode.picture([one], tmp_path / "episode.gif")
    with pytest.raises(UserError, match=r"end in \.gif or \.mp4\."):
        episode.animate([one], tmp_path / "episode.png")
