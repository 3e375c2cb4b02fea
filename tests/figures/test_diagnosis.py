"""How a team fails, drawn."""

import numpy as np

from merlax.figures.diagnosis import draw_diagnosis
from merlax.figures.series import Bars
from tests.support.drawing import words_of


def test_every_finding_is_a_panel_with_its_values(tmp_path):
    bars = [
        Bars("who waits", ("0", "1"), (0.25, 0.75), percent=True),
        Bars("what is lost", ("agent 1", "agent 2"), (0.5, None), half_widths=(0.1, None)),
    ]
    draw_diagnosis([0.0, 0.5, 0.5, 0.5], bars, tmp_path / "d.svg", title="a $team")
    words = words_of(tmp_path / "d.svg")
    for text in ("a $team", "who waits", "what is lost", "75%", "agent 2", "0.50"):
        assert f"<!-- {text} -->" in words


def test_scores_of_many_values_are_a_histogram_and_many_agents_are_numbers(tmp_path):
    many = Bars("each", tuple(f"agent {1 + i}" for i in range(14)), tuple(map(float, range(14))))
    draw_diagnosis(np.linspace(-3.0, 9.0, 50).tolist(), [many], tmp_path / "d.svg", title="")
    words = words_of(tmp_path / "d.svg")
    assert "<!-- scores of the episodes -->" in words
    assert "<!-- 14 -->" in words
