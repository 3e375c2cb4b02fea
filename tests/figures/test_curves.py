"""The learning curve of one run names what it shows."""

from __future__ import annotations

import numpy as np
import pytest

from merlax.figures.curves import learning_curve
from merlax.types import UserError
from tests.support.drawing import size_of, words_of


def progress(rows: int, *, scale: float = 1.0, shift: float = 0.0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    rise = np.linspace(0.1, 0.7, rows)
    columns = ("champion_score", "best_fitness", "mean_fitness", "learner_score")
    scores = {name: scale * np.clip(rise + 0.1 * rng.normal(size=rows), 0, 1) + shift for name in columns}
    return {"frames": 8000.0 * np.arange(1, rows + 1), **scores}


def test_the_curve_names_each_line_with_its_last_running_mean(tmp_path):
    data = progress(250)
    learning_curve(data, tmp_path / "c.svg", title="50% of $rover-3", references={"paper": 0.48})
    words = words_of(tmp_path / "c.svg")
    for column, name in (
        ("champion_score", "champion"),
        ("learner_score", "learner"),
        ("mean_fitness", "mean fitness"),
    ):
        assert f"<!-- {name} {data[column][-10:].mean():.2f} -->" in words
    assert "<!-- paper 0.48 -->" in words
    assert "<!-- 50% of $rover-3 -->" in words
    assert "<!-- 2M -->" in words
    assert "<!-- 0.5M -->" in words


def test_a_curve_skips_what_was_not_tested(tmp_path):
    data = progress(40)
    data["champion_score"][::2] = np.nan
    data["learner_score"][:] = np.nan
    learning_curve(data, tmp_path / "c.svg", title="sparse")
    words = words_of(tmp_path / "c.svg")
    assert f"champion {np.nanmean(data['champion_score'][-20:]):.2f}" in words
    assert "learner" not in words
    assert "nan" not in words
    assert "<!-- 300k -->" in words


def test_an_opponent_has_a_panel_and_a_scale_of_its_own(tmp_path):
    data = progress(40)
    learning_curve(data, tmp_path / "without.png", title="contest")
    data["opponent_score"] = np.full(40, -25.0)
    learning_curve(data, tmp_path / "c.svg", title="contest")
    words = words_of(tmp_path / "c.svg")
    assert "<!-- opponent \N{MINUS SIGN}25.00 -->" in words
    assert "<!-- opponent's score -->" in words
    assert "<!-- 1.0 -->" in words  # the team's scale is still the whole one
    learning_curve(data, tmp_path / "with.png", title="contest")
    assert size_of(tmp_path / "without.png") == (1050, 720)
    assert size_of(tmp_path / "with.png") == (1050, 1080)


def test_a_curve_of_one_generation(tmp_path):
    learning_curve(progress(1), tmp_path / "one.png", title="one")
    assert size_of(tmp_path / "one.png") == (1050, 720)


def test_a_curve_without_any_test_of_the_champion_and_with_negative_scores(tmp_path):
    data = progress(30, scale=100.0, shift=-300.0)
    data["champion_score"][:] = np.nan
    learning_curve(data, tmp_path / "c.svg", title="negative", references={"published": -220.0})
    words = words_of(tmp_path / "c.svg")
    assert "champion" not in words
    assert "published \N{MINUS SIGN}220" in words
    assert "<!-- 1.0 -->" not in words


def test_scores_within_0_and_1_get_the_whole_scale(tmp_path):
    learning_curve(progress(30, scale=0.1), tmp_path / "c.svg", title="low")
    assert "<!-- 0.0 -->" in words_of(tmp_path / "c.svg")
    assert "<!-- 1.0 -->" in words_of(tmp_path / "c.svg")


def test_a_curve_is_no_animation(tmp_path):
    with pytest.raises(UserError, match=r"\.png, \.pdf or \.svg"):
        learning_curve(progress(3), tmp_path / "curve", title="no suffix")


def test_a_run_without_scores_is_refused(tmp_path):
    with pytest.raises(UserError, match="no score"):
        learning_curve(progress(0), tmp_path / "c.png", title="empty")
