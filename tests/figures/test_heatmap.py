"""A table of scores as coloured cells."""

from __future__ import annotations

import numpy as np
import pytest

from merlax.figures import style
from merlax.figures.heatmap import heat_map, heat_maps
from merlax.types import UserError
from tests.support.drawing import ink_of, pixels_of, words_of


def draw(scores, out, rows=("one", "two"), columns=("left", "right")):
    scores = np.array(scores, float)
    heat_map(scores, rows, columns, out, title="a table", row_name="team", column_name="opponent")


def test_every_cell_says_its_number_and_every_row_and_column_its_name(tmp_path):
    draw([(1.0, 2.5), (-3.25, 4.0)], tmp_path / "h.svg")
    words = words_of(tmp_path / "h.svg")
    for text in ("1.00", "2.50", "-3.25", "4.00", "one", "two", "left", "right", "team", "opponent", "a table"):
        assert f"<!-- {text} -->" in words


def test_higher_is_darker(tmp_path):
    draw([(0.0, 1.0)], tmp_path / "h.png", rows=("one",))
    pixels = pixels_of(tmp_path / "h.png")
    light, dark = ((pixels == color).all(axis=-1).nonzero()[1] for color in ((247, 251, 255), (8, 48, 107)))
    assert min(len(light), len(dark)) > 1000
    assert light.mean() < dark.mean()


@pytest.mark.parametrize(
    ("scores", "ink"), [([(0.1, 1.0)], style.INK), ([(0.9, 1.0)], "#ffffff"), ([(0.0, 0.0)], style.INK)]
)
def test_a_number_can_be_read_on_its_cell(scores, ink, tmp_path):
    draw(scores, tmp_path / "h.svg", rows=("one",))
    assert ink_of(tmp_path / "h.svg", f"{scores[0][0]:.2f}") == ink


def test_scores_below_zero_have_a_scale_of_their_own(tmp_path):
    draw([(-14.0, -12.0)], tmp_path / "h.svg", rows=("one",))
    assert ink_of(tmp_path / "h.svg", "-14.00") == style.INK
    assert ink_of(tmp_path / "h.svg", "-12.00") == "#ffffff"


def test_a_table_is_no_animation(tmp_path):
    with pytest.raises(UserError, match=r"\.png, \.pdf or \.svg"):
        draw([(1.0, 2.0), (3.0, 4.0)], tmp_path / "h.gif")


def draw_maps(panels, out):
    shares = {name: np.array(own, float) for name, own in panels.items()}
    heat_maps(shares, ("3", "1"), ("0.5",), out, title="a map", row_name="distance", column_name="nearer")


def test_maps_have_a_panel_per_method_on_one_scale_and_leave_out_what_is_not_known(tmp_path):
    draw_maps({"MERL": [[1.0], [0.4]], "EA": [[0.3], [np.nan]], "ES": [[0.0], [0.2]]}, tmp_path / "m.svg")
    words = words_of(tmp_path / "m.svg")
    for text in ("MERL", "EA", "ES", "100", "40", "30", "0", "20", "distance", "nearer", "a map (%)"):
        assert f"<!-- {text} -->" in words
    assert "nan" not in words
    draw_maps({"EA": [[0.4], [0.4]]}, tmp_path / "low.png")  # 0.4 is not the darkest, though it is the highest here
    assert not (pixels_of(tmp_path / "low.png") == (8, 48, 107)).all(axis=-1).any()
    with pytest.raises(UserError, match="nothing to draw"):
        draw_maps({}, tmp_path / "m.svg")
