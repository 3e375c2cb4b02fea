"""Every experiment is data that the library accepts."""

import pytest

from merlax import envs
from merlax.experiments import catalogue, jobs
from merlax.experiments.spec import Experiment, slug
from merlax.runs import loop, setup
from merlax.types import UserError

ALL = list(catalogue.experiments().values())


@pytest.mark.slow
@pytest.mark.parametrize("quick", [False, True], ids=["full", "quick"])
@pytest.mark.parametrize("experiment", ALL, ids=lambda e: e.name)
def test_every_run_is_accepted(experiment: Experiment, quick: bool):
    """World, options, algorithm, preset and every changed field exist."""
    for job in (experiment.quickened() if quick else experiment).jobs():
        assert jobs.record(job) is not None


@pytest.mark.slow
@pytest.mark.parametrize("quick", [False, True], ids=["full", "quick"])
@pytest.mark.parametrize("experiment", ALL, ids=lambda e: e.name)
def test_a_generation_of_every_run_fits_its_budget(experiment: Experiment, quick: bool):
    chosen = experiment.quickened() if quick else experiment
    # A map's worlds are all of one size, and in a million frames there is room for hundreds of generations.
    cells = chosen.tasks[-1:] if chosen.figure == "map" or chosen.frames >= 1_000_000 else chosen.tasks
    for job in chosen.jobs():
        if job.task in cells and (job.seed == experiment.seeds[0] or quick):
            task, asked = job.task, jobs.request(job)
            planned = setup.plan(
                envs.make(task.world, **task.options), job.method.algorithm, frames=job.frames, seed=job.seed,
                preset=job.method.preset, settings=asked["settings"], world=task.world,
            )  # fmt: skip
            loop.check_budget(planned.game(), job.frames)


@pytest.mark.parametrize("experiment", ALL, ids=lambda e: e.name)
def test_experiments_are_consistent(experiment: Experiment):
    labels, worlds = [method.label for method in experiment.methods], {task.world for task in experiment.tasks}
    assert len({slug(label) for label in labels}) == len(labels)
    assert len({job.folder for job in experiment.jobs()}) == len(list(experiment.jobs()))
    assert {claim.method for claim in experiment.claims} <= set(labels)
    assert {claim.world for claim in experiment.claims} <= worlds | {task.label for task in experiment.tasks}
    assert set(experiment.quick.methods) <= set(labels)
    assert set(experiment.quick.worlds) <= worlds | {task.label for task in experiment.tasks}
    assert len(list(experiment.quickened().jobs())) <= 8
    assert (experiment.figure == "sweep") == bool(experiment.parameter)
    assert len(experiment.axes) == (2 if experiment.figure == "map" else 0)
    assert all(option in task.options for option, _ in experiment.axes for task in experiment.tasks)


def test_no_two_experiments_share_a_name():
    assert len(ALL) == sum(map(len, catalogue.parts().values()))


def test_an_unknown_figure_gets_the_nearest_name():
    with pytest.raises(UserError, match="did you mean 'motivating'"):
        catalogue.experiment("motivatin")
    with pytest.raises(UserError, match="did you mean 'hand-rules'"):
        catalogue.experiment("hand-rule")
