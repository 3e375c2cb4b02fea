"""What the presets were tuned on, and the baselines' chance."""

import pytest

from merlax.experiments import jobs, tuned
from merlax.experiments.paper import EA, gradient
from merlax.experiments.spec import Job, Method

NAMED = {experiment.name: experiment for experiment in tuned.EXPERIMENTS}


def test_tuning_keeps_to_seeds_that_no_score_comes_from():
    tuning = {name: experiment for name, experiment in NAMED.items() if name.startswith("tune-")}
    assert set(NAMED) - set(tuning) == {"joint-updates"}
    for experiment in tuning.values():
        assert set(experiment.seeds) <= set(range(1, 10))
    assert not set(NAMED["joint-updates"].seeds) & set(range(1, 10))


def test_the_variants_of_predator_prey_differ_from_the_preset_and_each_other():
    experiment = NAMED["tune-particles"]
    found = [jobs.record(Job(experiment.tasks[0], method, 1, experiment.frames)) for method in experiment.methods]
    settings = [(recorded or {})["settings"] for recorded in found]
    assert all(own != other for i, own in enumerate(settings) for other in settings[:i])
    agents, teams = settings[0]["learners"]
    assert settings[1]["learners"] == [agents]
    assert settings[2]["learners"] == [teams]
    assert [settings[-2]["learner"], settings[-1]["learner"]] == [agents, teams]


def test_every_baseline_has_as_many_chances_and_its_preset_is_one_of_them():
    experiment = NAMED["tune-baselines"]
    settings = [jobs.record(Job(experiment.tasks[0], method, 1, experiment.frames)) for method in experiment.methods]
    assert all(own != other for i, own in enumerate(settings) for other in settings[:i])
    for algorithm in ("matd3", "maddpg"):
        for reward in ("mixed", "global"):
            own = [method for method in experiment.methods if method.label.startswith(f"{algorithm.upper()}-{reward},")]
            assert len(own) == 8
            usual = jobs.record(Job(experiment.tasks[0], gradient(algorithm, reward), 1, experiment.frames))
            assert usual in settings
    assert sum(method.algorithm == "ea" for method in experiment.methods) == 8
    assert jobs.record(Job(experiment.tasks[0], EA, 1, experiment.frames)) in settings


@pytest.mark.parametrize("name", ["tune-contests", "tune-deceivers"])
@pytest.mark.parametrize("algorithm", ["ea", "matd3", "maddpg"])
def test_every_baseline_has_eight_chances_in_contests_and_its_preset_is_one_of_them(name, algorithm):
    experiment = NAMED[name]
    own = [method for method in experiment.methods if method.algorithm == algorithm]
    settings = [jobs.record(Job(experiment.tasks[0], method, 1, experiment.frames)) for method in own]
    assert len(own) == 8
    assert all(one != other for i, one in enumerate(settings) for other in settings[:i])
    assert jobs.record(Job(experiment.tasks[0], Method(algorithm, algorithm), 1, experiment.frames)) in settings
