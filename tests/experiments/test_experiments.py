"""Every experiment of the paper is data that the library accepts."""

import pytest

from merlax import algorithms, config, envs
from merlax.algorithms import presets as settings
from merlax.experiments import paper as presets
from merlax.experiments.spec import REFERENCE, combine, slug
from merlax.runs import loop as training
from merlax.types import UserError

ALL = list(presets.experiments().values())
PAPER = "motivating rover-coupling scalarisation selection-rate es-population es-sigma ea-population trajectories"


def test_the_papers_figures_are_there():
    assert set(PAPER.split()) <= set(presets.experiments())


@pytest.mark.parametrize("quick", [False, True], ids=["full", "quick"])
@pytest.mark.parametrize("experiment", ALL, ids=lambda e: e.name)
def test_every_run_is_accepted(experiment, quick):
    """World, options, algorithm, preset and every changed field exist, and a generation fits the budget."""
    for job in (experiment.quickened() if quick else experiment).jobs():
        env = envs.make(job.world.name, **job.world.options)
        default = settings.preset(job.method.preset, job.world.name, job.method.algorithm)
        algorithm = algorithms.make(job.method.algorithm, env, config.merge(default, dict(job.method.changes)))
        training.check_budget(algorithm, job.frames)


@pytest.mark.parametrize("experiment", ALL, ids=lambda e: e.name)
def test_experiments_are_consistent(experiment):
    labels = [method.label for method in experiment.methods]
    assert labels[0] == REFERENCE
    assert len({slug(label) for label in labels}) == len(labels)
    assert len({job.folder for job in experiment.jobs()}) == len(list(experiment.jobs()))
    assert {claim.method for claim in experiment.claims} <= set(labels)
    assert {claim.world for claim in experiment.claims} <= {world.name for world in experiment.worlds}
    assert set(experiment.quick.methods) <= set(labels)
    assert set(experiment.quick.worlds) <= {world.name for world in experiment.worlds}
    assert len(list(experiment.quickened().jobs())) <= 8
    assert (experiment.figure == "sweep") == bool(experiment.parameter)
    for method in experiment.methods:
        assert (method.value is not None) == (experiment.figure == "sweep" and method.label != REFERENCE)


def test_budgets_and_seeds_are_the_papers():
    found = presets.experiments()
    assert found["motivating"].frames == 400_000
    assert found["rover-coupling"].seeds == (2019, 2020, 2021, 2022, 2023)
    frames = {job.method.label: job.frames for job in found["ea-population"].jobs()}
    assert frames["MERL"] == 2_000_000
    assert frames["EA, population 100"] == 100_000_000
    assert {job.frames for job in found["ea-population"].with_budget(5000).jobs()} == {5000}


def test_rover_experiments_say_that_the_speed_is_pinned():
    (world,) = presets.experiment("scalarisation").worlds
    assert world.label == "rover-3 (speed pinned)"
    assert presets.experiment("scalarisation").at_speed("free").worlds[0].label == "rover-3 (speed free)"
    with pytest.raises(UserError, match="no speed to choose"):
        presets.experiment("motivating").at_speed("free")


def test_quick_settings_give_way_to_what_a_method_stands_for():
    assert combine({"a": {"b": 1, "c": 2}, "d": 3}, {"a": {"b": 9}}) == {"a": {"b": 9, "c": 2}, "d": 3}
    quick = presets.experiment("ea-population").quickened()
    assert [m.changes["evolution"]["population"] for m in quick.methods if m.value] == [10, 30, 100]


def test_an_unknown_figure_gets_the_nearest_name():
    with pytest.raises(UserError, match="did you mean 'motivating'"):
        presets.experiment("motivatin")
