"""What was measured at the end of the runs: a row per method, every run a dot."""

from __future__ import annotations

import math

import pytest

from merlax.figures.finals import draw_finals
from merlax.figures.series import Finals, Point
from merlax.types import UserError
from tests.support.drawing import words_of

MERL, EA = Point(0.0, 0.6, 0.5, 0.7, (0.55, 0.65)), Point(1.0, 0.2, math.nan, math.nan, (0.2,))


def test_each_world_gets_a_panel_each_method_a_row_and_each_measure_an_entry(tmp_path):
    panels = [
        Finals("rover-3", ("MERL", "EA"), {"score": (MERL, EA)}),
        Finals("rover-7", ("MERL", "EA"), {"score": (MERL, EA), "frames to half": (MERL,)}),
    ]
    draw_finals(panels, tmp_path / "f.svg", title="in the end")
    words = words_of(tmp_path / "f.svg")
    for text, times in (("rover-3", 1), ("rover-7", 1), ("MERL", 2), ("EA", 2), ("score", 1), ("frames to half", 1)):
        assert words.count(f"<!-- {text} -->") == times
    assert "<!-- in the end -->" in words
    assert "nan" not in words


def test_nothing_to_draw_is_a_sentence(tmp_path):
    for panels in ([], [Finals("rover-3", ("MERL",), {})]):
        with pytest.raises(UserError, match="nothing to draw"):
            draw_finals(panels, tmp_path / "f.png", title="")
