"""Our own experiments: what the docs report, and what the presets were tuned on."""

import pytest

from merlax.algorithms import presets
from merlax.experiments import jobs, ours
from merlax.experiments.paper import EA, gradient
from merlax.experiments.spec import Job

NAMED = {experiment.name: experiment for experiment in ours.EXPERIMENTS}


def test_our_experiments_are_there():
    reported = ["beyond", "ingredients", "alternatives", "scores", "paper-settings", "two-rovers-ea", "trap-map"]
    assert list(NAMED) == [
        *reported,
        "tune-allocation",
        "tune-baselines",
        "joint-updates",
        "hand-rules",
        "tune-particles",
        "tune-predators",
        "tune-deception",
    ]


def test_scores_train_as_long_as_the_docs_say():
    assert {job.task.label: job.frames for job in NAMED["scores"].jobs()} == {
        "rover-3 (speed pinned)": 2_000_000,
        "rover-3 (speed free)": 2_000_000,
        "rover-1 (speed free)": 1_000_000,
        "two-rovers": 400_000,
    }


def test_only_the_pinned_speed_is_compared_with_the_published_score():
    assert NAMED["scores"].published("rover-3 (speed pinned)", "MERL") == 0.48
    assert NAMED["scores"].published("rover-3 (speed free)", "MERL") is None


def test_tuning_keeps_to_seeds_that_no_score_comes_from():
    for name in ("tune-particles", "tune-predators", "tune-deception", "tune-baselines", "tune-allocation"):
        assert set(NAMED[name].seeds) <= set(range(1, 10))
    for name in ("beyond", "ingredients", "alternatives", "scores", "two-rovers-ea", "hand-rules", "joint-updates"):
        assert not set(NAMED[name].seeds) & set(range(1, 10))


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


def test_ea_is_compared_by_preset():
    fast, paper = NAMED["two-rovers-ea"].methods
    assert presets.preset(fast.preset, "two-rovers", "ea") != presets.preset(paper.preset, "two-rovers", "ea")


def test_the_control_is_merls_own_learner_with_the_agents_reward():
    merl, alone = (jobs.record(Job(NAMED["beyond"].tasks[0], method, 101, 1000)) for method in NAMED["beyond"].methods)
    assert merl is not None
    assert alone is not None
    assert alone["settings"]["learner"] == merl["settings"]["learners"][0]
    assert alone["settings"]["learner"]["reward"] == "agent"


@pytest.mark.parametrize("name", ["ingredients", "alternatives"])
def test_every_ingredient_that_is_removed_or_changed_was_there(name):
    task = next(task for task in NAMED[name].tasks if task.label == "rover-3 (speed pinned)")
    settings = [jobs.record(Job(task, method, 101, 1000)) for method in NAMED[name].methods]
    assert settings[0] == jobs.record(Job(task, ours.MERL, 101, 1000))
    assert all(own != other for i, own in enumerate(settings) for other in settings[:i])
