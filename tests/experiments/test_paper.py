"""The paper's experiments: its figures, budgets and seeds."""

import pytest

from merlax.experiments import jobs, paper
from merlax.experiments.spec import REFERENCE, Experiment, Job

FIGURES = (
    "motivating rover-coupling scalarisation trajectories selection-rate predator-prey deception-keepaway "
    "es-population es-sigma ea-population"
)
NAMED = {experiment.name: experiment for experiment in paper.EXPERIMENTS}


def test_the_papers_figures_are_there():
    assert list(NAMED) == FIGURES.split()


@pytest.mark.parametrize("experiment", paper.EXPERIMENTS, ids=lambda e: e.name)
def test_every_method_is_compared_with_merl(experiment: Experiment):
    assert experiment.methods[0].label == REFERENCE
    for method in experiment.methods:
        assert (method.value is not None) == (experiment.figure == "sweep" and method.label != REFERENCE)


def test_budgets_and_seeds_are_the_papers():
    assert NAMED["motivating"].frames == 400_000
    assert NAMED["rover-coupling"].seeds == (2019, 2020, 2021, 2022, 2023)
    frames = {job.method.label: job.frames for job in NAMED["ea-population"].jobs()}
    assert frames["MERL"] == 2_000_000
    assert frames["EA, population 100"] == 100_000_000


def test_rover_experiments_say_that_the_speed_is_pinned():
    (task,) = NAMED["scalarisation"].tasks
    assert task.label == "rover-3 (speed pinned)"
    assert NAMED["scalarisation"].at_speed("free").tasks[0].label == "rover-3 (speed free)"


def test_claims_are_the_published_scores_of_a_world_whatever_its_options():
    (claim,) = paper.claims("rover-3 (speed pinned)", MERL="MERL", TD3="TD3")
    assert (claim.world, claim.method, claim.published.score) == ("rover-3 (speed pinned)", "MERL", 0.48)


@pytest.mark.parametrize("name", ["predator-prey", "deception-keepaway"])
def test_the_controls_of_a_contest_are_merls_own_learners(name):
    experiment = NAMED[name]
    for task in experiment.tasks:
        settings = [(jobs.record(Job(task, m, 2019, 1000)) or {})["settings"] for m in experiment.methods]
        controls = [i for i, method in enumerate(experiment.methods) if "alone" in method.label]
        assert [settings[i]["learner"] for i in controls] == settings[0]["learners"]
