"""Our own experiments: what the docs report."""

import pytest

from merlax.algorithms import presets
from merlax.experiments import jobs, ours
from merlax.experiments.spec import Job

NAMED = {experiment.name: experiment for experiment in ours.EXPERIMENTS}


def test_our_experiments_are_there():
    names = "beyond ingredients alternatives scores paper-settings two-rovers-ea keep-away-ea trap-map hand-rules"
    assert list(NAMED) == names.split()


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


def test_no_reported_score_is_from_a_seed_for_tuning():
    for experiment in ours.EXPERIMENTS:
        assert not set(experiment.seeds) & set(range(1, 10))


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
