"""Colours that methods and worlds keep, running means, and what counts as a share."""

from __future__ import annotations

import numpy as np
import pytest

from merlax.experiments import catalogue
from merlax.experiments.spec import Experiment
from merlax.figures import series, style


def names(experiment: Experiment) -> set[str]:
    """What has a colour in an experiment's figure: worlds, or methods whatever their setting; measures have others."""
    match experiment.figure:
        case "selection":
            return {task.world for task in experiment.tasks}
        case "finals" | "losses" | "map":
            return set()
    return {method.label.split(",")[0] for method in experiment.methods}


@pytest.mark.parametrize("experiment", catalogue.experiments().values(), ids=lambda experiment: experiment.name)
def test_every_method_and_world_has_a_colour_of_its_own_within_a_figure(experiment):
    colors = [series.color(name) for name in names(experiment)]
    assert len(set(colors)) == len(colors)
    assert style.GREY not in colors


def test_a_setting_does_not_change_a_methods_colour():
    assert series.color("EA, population 100") == series.color("EA")
    assert series.color("rover-3 (speed pinned)") == series.color("rover-3")
    assert series.color("something new") == style.GREY


def test_the_running_mean_reaches_back_over_the_window():
    np.testing.assert_allclose(series.running_mean(np.array([1.0, 3.0, 5.0, 7.0]), 2), [1.0, 2.0, 4.0, 6.0])


def test_a_window_longer_than_the_series_takes_what_there_is():
    np.testing.assert_allclose(series.running_mean(np.array([2.0, 4.0, 9.0]), 10), [2.0, 3.0, 5.0])


@pytest.mark.parametrize(("scores", "shares"), [([0.0, 1.0], True), ([0.5, 1.2], False), ([-0.1, 0.5], False)])
def test_shares_lie_between_nothing_and_all(scores, shares):
    assert series.are_shares(np.array(scores)) is shares
