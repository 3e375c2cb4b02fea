"""Runs from folders, whatever they hold."""

import pytest

from merlax.experiments import gathering
from merlax.types import UserError
from tests.support.runs import write_run


def test_runs_are_found_by_name_and_inside_of_folders_each_once(tmp_path):
    one = write_run(tmp_path / "a" / "b" / "1")
    write_run(tmp_path / "a" / "c", seed=2)
    found, notes = gathering.gather([tmp_path / "a", one])
    assert [run.path.name for run in found] == ["1", "c"]
    assert not notes


def test_a_half_written_run_is_left_out_with_a_sentence(tmp_path):
    write_run(tmp_path / "good")
    (write_run(tmp_path / "empty") / "progress.csv").unlink()
    (write_run(tmp_path / "torn") / "config.json").write_text("{")
    found, notes = gathering.gather([tmp_path])
    assert [run.path.name for run in found] == ["good"]
    assert len(notes) == 2
    assert any("has no rows yet; let it finish a generation" in note for note in notes)
    assert any("is not a run folder of merlax" in note for note in notes)


def test_folders_without_a_run_are_refused(tmp_path):
    with pytest.raises(UserError, match="is not a run folder"):
        gathering.gather([tmp_path])
    with pytest.raises(UserError, match="is no folder"):
        gathering.gather([tmp_path / "nowhere"])


def test_a_run_that_goes_on_has_the_score_of_its_newest_tests(tmp_path):
    (run,), _ = gathering.gather([write_run(tmp_path / "a", rows=20, finished=False)])
    assert run.score == pytest.approx(sum(0.02 * row + 0.02 for row in range(11, 21)) / 10, abs=1e-6)


def test_worlds_stand_apart_and_methods_are_named_by_what_differs(tmp_path):
    for seed in (2, 1):
        write_run(tmp_path / f"m{seed}", seed=seed)
    write_run(tmp_path / "long", rows=40)
    write_run(tmp_path / "ea", "ea")
    write_run(tmp_path / "other", world="rover-2")
    write_run(tmp_path / "own", world="somebody:World")
    found, _ = gathering.gather([tmp_path])
    worlds = gathering.by_world(found)
    assert sorted(title.split(" ")[0] for title in worlds) == ["rover-1", "rover-2", "somebody:World"]
    methods = gathering.by_method(next(own for title, own in worlds.items() if title.startswith("rover-1")))
    assert set(methods) == {"ea", "merl, frames 30000", "merl, frames 40000"}
    assert [run.config["seed"] for run in methods["merl, frames 30000"]] == [1, 2]
