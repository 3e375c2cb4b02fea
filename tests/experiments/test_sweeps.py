"""Experiments that a user makes up: their seeds, their runs as a harness asks for them, their folder."""

import json
from pathlib import Path

import pytest

from merlax.cli.options import read_request
from merlax.experiments import jobs, sweeps
from merlax.experiments.spec import Job, Method, Task
from merlax.types import UserError


@pytest.mark.parametrize(
    ("text", "seeds"),
    [("0-4", (0, 1, 2, 3, 4)), ("7", (7,)), ("1,5,7-9", (1, 5, 7, 8, 9)), (" 2 , 1 ", (2, 1)), ("", ())],
)
def test_seeds_are_numbers_and_ranges(text, seeds):
    assert sweeps.read_seeds(text) == seeds


@pytest.mark.parametrize("text", ["a", "-1", "4-2", "1-", "1.5", "0-99999999", str(2**32), "1-2-3", "1 2"])
def test_other_seeds_are_refused(text):
    with pytest.raises(UserError, match="give whole numbers and ranges, such as 0-4 or 1,5,7-9"):
        sweeps.read_seeds(text)
    with pytest.raises(UserError, match="holds a seed twice"):
        sweeps.read_seeds("1,0-3")


@pytest.mark.parametrize(
    "words",
    [
        "rover-1",
        "rover-3 --td3.discount 0.7 --td3.batch 256 --env.num-poi 3 --population 12",
        "two-rovers --algorithm ea --preset paper --mutation.strength 0.3 --actor-hidden 8 8",
        "keep-away --opponent scripted --algorithm td3 --td3.discount 0.9",
        "keep-away --opponent.td3.discount 0.3 --env.num-agents 1",
        "tests.probes.rendezvous:Rendezvous --env.num-agents 4 --algorithm tests.support.own:RandomSearch",
    ],
)
def test_a_job_is_the_run_that_was_asked_for(words):
    request = read_request([*words.split(), "--frames", "70000", "--seed", "3"], "train", None)
    planned = request.plan()
    task = sweeps.task(planned, request.options.opponent, None)
    job = Job(task, sweeps.method(planned, "it"), 3, 70_000)
    assert jobs.record(job) == json.loads(json.dumps(planned.record()))


def test_a_job_asks_only_for_what_differs():
    planned = read_request("rover-3 --td3.discount 0.7 --env.num-poi 3".split(), "train", None).plan()
    assert sweeps.task(planned, None, None).label == "rover-3 (num_poi 3)"
    assert sweeps.method(planned, "it").changes == {"learners": [{"discount": 0.7}]}


def job(**changes) -> Job:
    return Job(Task("rover-1"), Method("all", "ea", changes), 0, 1000)


def test_a_folder_is_taken_again_by_runs_that_have_the_same_in_common(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first = sweeps.folder(None, "sweep", job())
    assert first == Path("runs/sweep")
    assert not first.exists()
    sweeps.claim(first, job())
    assert sweeps.folder(None, "sweep", job()) == first
    assert sweeps.folder(None, "sweep", job(population=20)) == Path("runs/sweep-2")
    with pytest.raises(UserError, match="'runs/sweep' holds other runs already; choose another --out"):
        sweeps.folder(first, "sweep", job(population=20))
    assert sweeps.folder(first, "sweep", job()) == first
    assert sweeps.folder(first, "sweep", job(population=20), force=True) == first
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("do not touch")
    with pytest.raises(UserError, match="holds other runs already"):
        sweeps.folder(tmp_path / "mine", "sweep", job())


def test_too_many_runs_and_equal_values_are_refused():
    tasks, methods = [Task("rover-1")], [Method("a", "ea"), Method("a", "ea")]
    with pytest.raises(UserError, match=r"Two of the methods are the same \(a, …\)"):
        sweeps.experiment("sweep", "", tasks, methods, 1000, (0,))
    with pytest.raises(UserError, match="These are 20,000 runs"):
        sweeps.experiment("sweep", "", tasks, methods, 1000, range(10_000))
    many = [Method(str(number), "ea") for number in range(9)]
    assert sweeps.experiment("sweep", "", tasks, many, 1000, (0,)).figure == "finals"
    assert sweeps.experiment("sweep", "", tasks, many[:8], 1000, (0,)).figure == "curves"
