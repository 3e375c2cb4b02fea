"""One look, and one way to a file."""

from __future__ import annotations

from pathlib import Path

import pytest
from matplotlib.figure import Figure

from merlax.figures import style
from merlax.types import UserError
from tests.support.drawing import ink_of, size_of, words_of


def test_a_long_title_stays_on_the_figure():
    fig, ax = style.figure()
    style.title(ax, "rover-4 (num_agents 12, num_poi 6, horizon 40, speed free, encoding clean)\nmerl, seed 2019")
    fig.draw_without_rendering()
    assert ax.get_title("left").endswith("\nmerl, seed 2019")
    box = ax.get_tightbbox()
    assert box is not None
    assert box.x1 <= fig.bbox.x1


def test_dollars_in_a_title_and_a_headline_are_no_formula(tmp_path):
    fig, ax = style.figure()
    style.title(ax, "$a$ title")
    style.headline(fig, "a $head$line")
    style.save(fig, tmp_path / "a.svg")
    assert "<!-- $a$ title -->" in words_of(tmp_path / "a.svg")
    assert ink_of(tmp_path / "a.svg", "a $head$line") == style.INK


@pytest.mark.parametrize(("same_scale", "limits"), [(True, (0.0, 5.0)), (False, (0.0, 1.0))])
def test_panels_share_the_horizontal_axis_unless_their_scales_differ(same_scale, limits):
    _, (first, second) = style.panels(2, 3.0, 3.0, same_scale=same_scale)
    first.set_xlim(0.0, 5.0)
    assert second.get_xlim() == limits


def test_a_picture_is_as_large_as_its_inches_say(tmp_path):
    fig, _ = style.figure(2.0, 1.5)
    style.save(fig, tmp_path / "new" / "a.png")
    assert size_of(tmp_path / "new" / "a.png") == (600, 450)


def test_a_suffix_counts_in_lower_case_and_another_is_refused_with_the_supported_ones():
    assert style.check_suffix(Path("a.PNG"), style.STILLS) == ".png"
    with pytest.raises(UserError, match=r"'a' cannot be drawn; let the file's name end in \.png, \.pdf or \.svg\."):
        style.check_suffix(Path("a"), style.STILLS)
    with pytest.raises(UserError, match=r"end in \.gif\."):
        style.check_suffix(Path("a.png"), (".gif",))


@pytest.mark.parametrize("name", ["file/figure.png", "folder.png"])
def test_a_file_that_cannot_be_written_is_a_sentence(tmp_path, name):
    (tmp_path / "file").write_text("not a folder")
    (tmp_path / "folder.png").mkdir()
    with pytest.raises(UserError, match="cannot be written"):
        style.save(Figure(), tmp_path / name)
