"""A method's score by one of its settings, beside MERL and what the paper found."""

from __future__ import annotations

import math

import numpy as np
import pytest

from merlax.figures.series import Point, Reference, Sweep
from merlax.figures.sweep import draw_sweep
from merlax.types import UserError
from tests.support.drawing import size_of, words_of


def point(at: float, *runs: float) -> Point:
    mean, half = float(np.mean(runs)), 0.02 if len(runs) > 1 else math.nan
    return Point(float(at), mean, mean - half, mean + half, runs)


def test_a_sweep_marks_each_setting_and_what_the_paper_found(tmp_path):
    points = (point(1000, 0.1, 0.2), point(10, 0.2), point(100, 0.25, 0.3))
    references = (Reference("MERL", 0.48), Reference("EA", 0.3, at=100.0))
    sweep = Sweep("EA by population", "population", "EA", points, point(0, 0.6, 0.7), references)
    draw_sweep(sweep, tmp_path / "s.svg")
    words = words_of(tmp_path / "s.svg")
    for text in ("10", "100", "1000", "population", "EA", "MERL 0.65", "paper: MERL 0.48", "◇ paper: EA 0.30"):
        assert f"<!-- {text} -->" in words


def test_a_sweep_without_merl_is_drawn_too(tmp_path):
    draw_sweep(Sweep("t", "σ", "ES", (point(0.1, 0.1),)), tmp_path / "s.png")
    assert size_of(tmp_path / "s.png")[0] == 1050


def test_a_setting_of_zero_has_its_place(tmp_path):
    draw_sweep(
        Sweep("t", "weight", "MATD3-mixed", (point(0, 0.1), point(0.1, 0.2), point(10, 0.3))), tmp_path / "s.svg"
    )
    words = words_of(tmp_path / "s.svg")
    assert words.index("<!-- 0 -->") < words.index("<!-- 0.1 -->") < words.index("<!-- 10 -->")


def test_nothing_to_draw_is_a_sentence(tmp_path):
    with pytest.raises(UserError, match="nothing to draw"):
        draw_sweep(Sweep("t", "σ", "ES", ()), tmp_path / "c.png")
