"""Several methods on one or more worlds: every line, band and published number has its name."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from merlax.figures import style
from merlax.figures.comparison import compare, selection_rate
from merlax.figures.series import Line, Panel, Reference
from merlax.types import UserError
from tests.support.drawing import words_of


def line(label: str, end: float, spread: float = 0.05, frames: float = 2e6) -> Line:
    x = np.linspace(0.01, 1.0, 100)
    mean = end * x
    return Line(label, frames * x, mean, mean - spread, mean + spread)


def test_each_world_gets_a_panel_and_each_method_a_name_at_its_end(tmp_path):
    methods = ("MERL", "EA", "MATD3-global", "MATD3-mixed", "MADDPG-global", "MADDPG-mixed")
    panels = [
        Panel(f"rover-{c}", tuple(line(m, 0.7 / (i + 1)) for i, m in enumerate(methods)), (Reference("MERL", 0.48),))
        for c in (1, 3, 7)
    ]
    compare(panels, tmp_path / "c.svg", title="all of $it")
    words = words_of(tmp_path / "c.svg")
    for text in ("rover-1", "rover-7", "all of $it", "million frames", "team score", "paper: MERL 0.48", "1.5"):
        assert f"<!-- {text} -->" in words
    for i, method in enumerate(methods):
        assert words.count(f"<!-- {method} {0.7 / (i + 1):.2f} -->") == 3


def test_hand_rules_are_lines_that_no_paper_published(tmp_path):
    panel = Panel("w", (line("EA", 0.5),), hand_rules=(Reference("hand rule", 0.79),))
    compare([panel], tmp_path / "c.svg", title="", measure="share")
    words = words_of(tmp_path / "c.svg")
    assert "<!-- hand rule 0.79 -->" in words
    assert "<!-- share -->" in words


def test_published_numbers_that_agree_share_a_line(tmp_path):
    references = (Reference("EA", 0.5), Reference("MERL", 1.0), Reference("TD3-mixed", 0.5))
    compare([Panel("w", (line("EA", 0.5),), references)], tmp_path / "c.svg", title="")
    assert "<!-- paper: EA, TD3-mixed 0.50 -->" in words_of(tmp_path / "c.svg")


def test_one_seed_draws_a_line_without_a_band_and_few_frames_in_thousands(tmp_path):
    compare([Panel("w", (line("EA", 0.5, math.nan, frames=6000),))], tmp_path / "c.svg", title="")
    words = words_of(tmp_path / "c.svg")
    assert "thousand frames" in words
    assert "nan" not in words


@pytest.mark.parametrize("spread", [0.5, math.nan], ids=["band", "one seed"])
def test_first_scores_that_dwarf_the_rest_leave_the_view_and_hand_rules_do_not(tmp_path, spread, monkeypatch):
    x = np.linspace(0.01, 1.0, 100)
    mean = np.where(x < 0.05, 300.0, 5.0)
    dwarfed = Line("MERL", 1e6 * x, mean, mean - spread, mean + spread)
    seen = []
    monkeypatch.setattr(style, "save", lambda fig, out: seen.append(fig.axes[0].get_ylim()))
    compare([Panel("w", (dwarfed,), hand_rules=(Reference("hand rule", 10.0),))], tmp_path / "c.png", title="")
    ((low, high),) = seen
    assert 4.0 < low < 5.0
    assert 10.0 < high < 11.0


def test_the_selection_rate_has_the_line_of_chance(tmp_path):
    lines = [line("rover-1", 0.4), line("rover-3", 0.6, frames=1e6)]
    selection_rate(lines, tmp_path / "s.svg", title="Selection", expected=0.47)
    words = words_of(tmp_path / "s.svg")
    for text in ("by chance 0.47", "rover-1 0.40", "rover-3 0.60", "training done (%)", "100"):
        assert f"<!-- {text} -->" in words


def test_nothing_to_draw_is_a_sentence(tmp_path):
    with pytest.raises(UserError, match="nothing to draw"):
        compare([], tmp_path / "c.png", title="")
    with pytest.raises(UserError, match="nothing to draw"):
        compare([Panel("w", ())], tmp_path / "c.png", title="")
    with pytest.raises(UserError, match="nothing to draw"):
        selection_rate([], tmp_path / "c.png", title="", expected=0.47)


@pytest.mark.parametrize(("number", "columns", "axes"), [(5, 1, 1), (6, 2, 2), (7, 2, 2)])
def test_many_worlds_stand_in_two_columns_each_with_its_frames(number, columns, axes, tmp_path):
    compare([Panel(f"w{k}", (line("EA", 0.5),)) for k in range(number)], tmp_path / "c.svg", title="")
    words = words_of(tmp_path / "c.svg")
    assert words.count("<!-- million frames -->") == axes
    assert all(f"<!-- w{k} -->" in words for k in range(number))
    (width,) = re.findall(r'<svg[^>]* width="([\d.]+)pt"', (tmp_path / "c.svg").read_text())
    assert float(width) == pytest.approx(72 * columns * style.COLUMN_WIDTH, rel=0.1)
