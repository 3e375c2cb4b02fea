"""Figures of experiments are real files that name what they show."""

from __future__ import annotations

import math

import numpy as np
import pytest
from PIL import Image
from tests.figures.test_figures import steer, walk, words_of

from merlax import figures
from merlax.envs import make
from merlax.experiments import paper as presets
from merlax.figures import series, style
from merlax.figures.series import Line, Panel, Point, Reference, Sweep
from merlax.types import UserError


def line(label: str, end: float, spread: float = 0.05, frames: float = 2e6) -> Line:
    x = np.linspace(0.01, 1.0, 100)
    mean = end * x
    return Line(label, frames * x, mean, mean - spread, mean + spread)


def point(at: float, *runs: float) -> Point:
    half = 0.02 if len(runs) > 1 else math.nan
    return Point(float(at), float(np.mean(runs)), float(np.mean(runs)) - half, float(np.mean(runs)) + half, runs)


def test_each_world_gets_a_panel_and_each_method_a_name_at_its_end(tmp_path):
    methods = ("MERL", "EA", "MATD3-global", "MATD3-mixed", "MADDPG-global", "MADDPG-mixed")
    panels = [
        Panel(f"rover-{c}", tuple(line(m, 0.7 / (i + 1)) for i, m in enumerate(methods)), (Reference("MERL", 0.48),))
        for c in (1, 3, 7)
    ]
    figures.compare(panels, tmp_path / "c.svg", title="all of $it")
    words = words_of(tmp_path / "c.svg")
    for text in ("rover-1", "rover-7", "all of $it", "million frames", "team score", "paper: MERL 0.48", "1.5"):
        assert f"<!-- {text} -->" in words
    for i, method in enumerate(methods):
        assert words.count(f"<!-- {method} {0.7 / (i + 1):.2f} -->") == 3


def test_published_numbers_that_agree_share_a_line(tmp_path):
    references = (Reference("EA", 0.5), Reference("MERL", 1.0), Reference("TD3-mixed", 0.5))
    figures.compare([Panel("w", (line("EA", 0.5),), references)], tmp_path / "c.svg", title="")
    assert "<!-- paper: EA, TD3-mixed 0.50 -->" in words_of(tmp_path / "c.svg")


def test_one_seed_draws_a_line_without_a_band_and_few_frames_in_thousands(tmp_path):
    figures.compare([Panel("w", (line("EA", 0.5, math.nan, frames=6000),))], tmp_path / "c.svg", title="")
    words = words_of(tmp_path / "c.svg")
    assert "thousand frames" in words
    assert "nan" not in words


def test_every_method_and_world_has_a_colour_of_its_own_within_a_figure():
    for experiment in presets.experiments().values():
        names = [world.name for world in experiment.worlds]
        if experiment.figure == "curves":
            names = [method.label for method in experiment.methods]
        colors = [series.color(name) for name in names]
        assert len(set(colors)) == len(colors)
        assert style.GREY not in colors


def test_a_setting_does_not_change_a_methods_colour():
    assert series.color("EA, population 100") == series.color("EA")
    assert series.color("rover-3 (speed pinned)") == series.color("rover-3")
    assert series.color("something new") == style.GREY


def test_the_selection_rate_has_the_line_of_chance(tmp_path):
    lines = [line("rover-1", 0.4), line("rover-3", 0.6, frames=1e6)]
    figures.selection_rate(lines, tmp_path / "s.svg", title="Selection", expected=0.47)
    words = words_of(tmp_path / "s.svg")
    for text in ("by chance 0.47", "rover-1 0.40", "rover-3 0.60", "training done (%)", "100"):
        assert f"<!-- {text} -->" in words


def test_a_sweep_marks_each_setting_and_what_the_paper_found(tmp_path):
    points = (point(1000, 0.1, 0.2), point(10, 0.2), point(100, 0.25, 0.3))
    references = (Reference("MERL", 0.48), Reference("EA", 0.3, at=100.0))
    sweep = Sweep("EA by population", "population", "EA", points, point(0, 0.6, 0.7), references)
    figures.draw_sweep(sweep, tmp_path / "s.svg")
    words = words_of(tmp_path / "s.svg")
    for text in ("10", "100", "1000", "population", "EA", "MERL 0.65", "paper: MERL 0.48", "◇ paper: EA 0.30"):
        assert f"<!-- {text} -->" in words


def test_a_sweep_without_merl_is_drawn_too(tmp_path):
    figures.draw_sweep(Sweep("t", "σ", "ES", (point(0.1, 0.1),)), tmp_path / "s.png")
    assert Image.open(tmp_path / "s.png").size[0] == 1050


def test_teams_stand_side_by_side_on_the_same_scale(tmp_path):
    env = make("rover-3")
    near = steer(env)
    far = walk(env, np.full((50, env.num_agents, 2), 30.0))
    figures.side_by_side(env, {"MERL": near, "MADDPG-mixed": far}, tmp_path / "t.svg", title="coupling 3")
    words = words_of(tmp_path / "t.svg")
    for text in ("MERL", "MADDPG-mixed", "coupling 3", "observed POI", "0 of 4 POIs observed, 50 steps"):
        assert f"<!-- {text} -->" in words
    figures.side_by_side(env, {"MERL": near, "MADDPG-mixed": far}, tmp_path / "t.png", title="coupling 3")
    width, height = Image.open(tmp_path / "t.png").size
    assert height < width < 2 * height  # a rover far away does not shrink the world


def test_nothing_to_draw_is_a_sentence(tmp_path):
    with pytest.raises(UserError, match="nothing to draw"):
        figures.compare([], tmp_path / "c.png", title="")
    with pytest.raises(UserError, match="nothing to draw"):
        figures.compare([Panel("w", ())], tmp_path / "c.png", title="")
    with pytest.raises(UserError, match="nothing to draw"):
        figures.selection_rate([], tmp_path / "c.png", title="", expected=0.47)
    with pytest.raises(UserError, match="nothing to draw"):
        figures.draw_sweep(Sweep("t", "σ", "ES", ()), tmp_path / "c.png")
