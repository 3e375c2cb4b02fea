"""An experiment is tasks × methods × seeds, and its smaller and changed forms keep what they stand for."""

from pathlib import Path

import pytest

from merlax.experiments import catalogue
from merlax.experiments.spec import Claim, Method, Quick, Task, bare, combine, slug
from merlax.runs.published import Published
from merlax.types import UserError
from tests.support import fakes


def test_jobs_come_seed_by_seed_so_that_an_early_end_compares_all_methods():
    jobs = list(fakes.experiment(worlds=("rover-1", "rover-3")).jobs())
    assert [job.seed for job in jobs] == [1, 1, 1, 1, 2, 2, 2, 2]
    assert [(job.task.world, job.method.label) for job in jobs[:4]] == [
        ("rover-1", "MERL"),
        ("rover-1", "EA"),
        ("rover-3", "MERL"),
        ("rover-3", "EA"),
    ]


def test_a_methods_budget_comes_before_the_tasks_and_that_before_the_experiments():
    tasks = Task("rover-1", frames=500), Task("rover-3")
    methods = Method("MERL", "merl"), Method("EA", "ea", frames=900)
    experiment = fakes.experiment(tasks=tasks, methods=methods, seeds=(1,))
    assert [job.frames for job in experiment.jobs()] == [500, 900, 300, 900]
    assert {job.frames for job in experiment.with_budget(5000).jobs()} == {5000}


def test_a_quick_experiment_has_its_own_budget_seeds_methods_and_worlds():
    tasks = Task("rover-1", frames=500), Task("rover-3", {"speed": "pinned"}), Task("rover-3", {"speed": "free"})
    methods = Method("MERL", "merl", {"noise": 0.3}), Method("EA", "ea", frames=900)
    small = Quick(100, {"merl": {"noise": 0.1, "population": 6}}, (7,), methods=("MERL",), worlds=("rover-3",))
    quick = fakes.experiment(tasks=tasks, methods=methods, quick=small).quickened()
    assert [(job.name, job.frames) for job in quick.jobs()] == [
        ("rover-3 (speed pinned), MERL, seed 7", 100),
        ("rover-3 (speed free), MERL, seed 7", 100),
    ]
    assert quick.methods[0].changes == {"noise": 0.3, "population": 6}


def test_a_part_of_an_experiment_has_the_worlds_and_methods_that_are_named():
    tasks = Task("rover-1"), Task("rover-3", {"speed": "pinned"}), Task("rover-3", {"speed": "free"})
    methods = Method("MERL", "merl"), Method("EA", "ea")
    experiment = fakes.experiment(tasks=tasks, methods=methods)
    assert experiment.only() == experiment
    assert experiment.only(["rover-3"]).tasks == tasks[1:]
    part = experiment.only(["rover-3 (speed free)", "rover-1"], ["EA"])
    assert (part.tasks, part.methods) == ((tasks[0], tasks[2]), methods[1:])


def test_quick_settings_give_way_to_what_a_method_stands_for():
    assert combine({"a": {"b": 1, "c": 2}, "d": 3}, {"a": {"b": 9}}) == {"a": {"b": 9, "c": 2}, "d": 3}
    quick = catalogue.experiment("ea-population").quickened()
    assert [m.changes["population"] for m in quick.methods if m.value] == [10, 30, 100]


def test_learners_are_combined_place_by_place():
    below, above = {"learners": [{"batch": 32, "discount": 0.5}]}, {"learners": [{"discount": 0.8}]}
    assert combine(below, above) == {"learners": [{"batch": 32, "discount": 0.8}]}
    assert combine({"learners": [{"batch": 32}]}, {"learners": [{}, {}]}) == {"learners": [{}, {}]}
    assert combine({"actor_hidden": [8]}, {"actor_hidden": [9]}) == {"actor_hidden": [9]}


def test_the_speed_changes_only_where_there_is_one():
    tasks = Task("rover-3", {"speed": "pinned", "encoding": "clean"}), Task("keep-away")
    free = fakes.experiment(tasks=tasks).at_speed("free")
    assert [task.options for task in free.tasks] == [{"speed": "free", "encoding": "clean"}, {}]


@pytest.mark.parametrize("speeds", [(), ("free", "pinned")], ids=["none", "both already"])
def test_where_no_speed_is_left_to_choose_it_is_refused(speeds):
    tasks = tuple(Task("rover-3", {"speed": speed}) for speed in speeds)
    with pytest.raises(UserError, match="no speed to choose"):
        fakes.experiment(tasks=tasks).at_speed("free")


def test_a_claim_holds_for_a_world_or_only_for_one_of_its_variants():
    everywhere = Claim("rover-3", "EA", Published(0.3, ""))
    pinned = Claim("rover-3 (speed pinned)", "MERL", Published(0.48, ""))
    experiment = fakes.experiment(claims=(everywhere, pinned))
    assert experiment.published("rover-3 (speed free)", "EA") == 0.3
    assert experiment.published("rover-3 (speed pinned)", "MERL") == 0.48
    assert experiment.published("rover-3 (speed free)", "MERL") is None


def test_labels_become_folders():
    task, method = Task("rover-3", {"speed": "pinned"}), Method("ES, σ 0.1", "es")
    (job,) = fakes.experiment(tasks=(task,), methods=(method,), seeds=(7,)).jobs()
    assert job.folder == Path("rover-3-speed-pinned", "es-σ-0.1", "7")
    assert slug("MATD3-mixed, weight 10") == "matd3-mixed-weight-10"
    assert bare(task.label) == "rover-3"
