"""Square canvases, palettes, and GIFs."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.lines import Line2D
from PIL import Image

from merlax.figures import film, style
from merlax.types import UserError
from tests.support.drawing import durations_of, frames_of, words_of

RED, WHITE = (1.0, 0.0, 0.0), (1.0, 1.0, 1.0)


def cards(*levels):
    """Pictures of one red each, the first number 0 for white and 1 for red."""
    shades = [(255, round(255 * (1 - level)), round(255 * (1 - level))) for level in levels]
    return [Image.new("RGB", (8, 6), shade) for shade in shades]


def test_a_square_has_the_whole_width_and_room_above_and_below():
    fig, ax = film.square(4.0, above=0.5, below=1.5)
    assert tuple(fig.get_size_inches()) == (4.0, 6.0)
    np.testing.assert_allclose(ax.get_position().bounds, (0.0, 0.25, 1.0, 4.0 / 6.0))


def test_each_shot_shows_its_own_words_above_the_same_square():
    shots = film.Film()
    first, second = (np.asarray(shots.shoot([(f"step {number}", "observed")])) for number in (1, 2))
    assert first.shape == (510, 480, 3)
    changed = (first != second).any(axis=-1)
    assert changed[:30].any()
    assert not changed[30:].any()


def test_a_small_film_keeps_its_letters_readable():
    shot = np.asarray(film.Film(2, pixels=200).shoot([("MERL", "3 of 4"), ("untrained", "0 of 4")]))
    letters = (shot < 128).any(axis=(1, 2)).sum()  # rows with ink
    assert (shot.shape[1], letters >= 7) == (400, True)


def test_a_palette_fades_every_colour_into_white():
    flat = film.palette([(RED, 3), ((0.0, 0.0, 0.0), 2)]).getpalette()
    assert flat is not None
    np.testing.assert_array_equal(
        np.reshape(flat, (-1, 3))[:5], [(255, 0, 0), (255, 128, 128), (255, 255, 255), (0, 0, 0), (255, 255, 255)]
    )


def test_a_palette_never_has_more_colours_than_a_gif_can_hold():
    flat = film.palette([(RED, 200), (WHITE, 200)]).getpalette()
    assert flat is not None
    assert len(flat) == 3 * 256


def test_a_gif_holds_its_last_frame_and_starts_again(tmp_path):
    out = tmp_path / "new" / "a.gif"
    film.save_gif(cards(0.0, 0.5, 1.0), film.palette([(RED, 3)]), 20, out)
    assert durations_of(out) == [50, 50, 1500]
    assert [frame[0, 0].tolist() for frame in frames_of(out)] == [[255, 255, 255], [255, 128, 128], [255, 0, 0]]
    with Image.open(out) as gif:
        assert gif.info["loop"] == 0


@pytest.mark.parametrize("fps", [0, -3, 51])
def test_an_impossible_speed_is_refused(tmp_path, fps):
    with pytest.raises(UserError, match=f"fps is {fps}; make it more than 0"):
        film.save_gif(cards(0.0), film.palette([(RED, 3)]), fps, tmp_path / "a.gif")


def test_only_a_gif_moves(tmp_path):
    with pytest.raises(UserError, match=r"end in \.gif\."):
        film.save_gif(cards(0.0), film.palette([(RED, 3)]), 10, tmp_path / "a.png")


def test_a_legend_names_every_symbol(tmp_path):
    fig, _ = film.square(3.0, above=0.1, below=0.3)
    film.legend(fig, [Line2D([], [], label="start"), Line2D([], [], label="end")])
    style.save(fig, tmp_path / "a.svg")
    assert "<!-- start -->" in words_of(tmp_path / "a.svg")
    assert "<!-- end -->" in words_of(tmp_path / "a.svg")
