"""A job as files: what is finished, what can go on, what must start anew."""

import dataclasses
import json
import os
from pathlib import Path

import pytest

from merlax.algorithms import presets
from merlax.experiments import jobs
from merlax.types import UserError
from tests.support import fakes
from tests.support.fakes import job


def test_what_is_asked_is_what_config_json_says():
    """All that is asked stands in the record, which holds the preset's values, too."""
    asked, recorded = jobs.request(job()), jobs.record(job())
    assert recorded is not None
    for name in ("world", "algorithm", "preset", "frames", "seed"):
        assert recorded[name] == asked[name]
    assert recorded["settings"]["population"] == asked["settings"]["population"] == 6
    assert recorded["settings"]["mutation"] == {"type": "GaussianMutation"} | recorded["settings"]["mutation"]


def test_what_cannot_be_run_has_no_record():
    assert jobs.record(job(changes={"population": -1})) is None


@pytest.mark.parametrize(
    "change",
    [{"frames": 400}, {"changes": {"noise": 0.3}}, {"algorithm": "ea", "changes": {}}, {"seed": 2}],
    ids=["frames", "changes", "algorithm", "seed"],
)
def test_other_settings_are_another_run(tmp_path, change):
    folder = fakes.write_run(job(), tmp_path)
    assert jobs.is_finished(job(), tmp_path)
    other = job(**change)
    if tmp_path / other.folder != folder:
        folder.rename(tmp_path / other.folder)
    assert not jobs.is_finished(other, tmp_path)


def test_a_changed_default_is_another_run(tmp_path, monkeypatch):
    fakes.write_run(job(), tmp_path)
    assert jobs.is_finished(job(), tmp_path)
    default = presets.preset("fast", "two-rovers", "merl")
    monkeypatch.setattr(presets, "preset", lambda *_: dataclasses.replace(default, noise=0.1))
    assert not jobs.is_finished(job(), tmp_path)


@pytest.mark.parametrize("final", ['{"finished": false}', "{", "[]", None])
def test_a_run_without_its_end_is_not_finished(tmp_path, final):
    file = fakes.write_run(job(), tmp_path) / "final.json"
    file.unlink() if final is None else file.write_text(final)
    assert not jobs.is_finished(job(), tmp_path)


def test_a_run_goes_on_only_from_a_checkpoint_of_the_same_settings(tmp_path):
    folder = fakes.write_run(job(), tmp_path)
    recorded = jobs.record(job())
    assert recorded is not None
    (folder / "config.json").write_text(json.dumps(recorded | {"devices": 2}))
    (folder / "final.json").unlink()
    assert not jobs.can_resume(job(), tmp_path)  # no checkpoint
    within = folder / "checkpoints" / "midway" / "2"  # of the first generation
    within.mkdir(parents=True)
    assert jobs.can_resume(job(), tmp_path)
    within.rename(folder / "checkpoints" / "7")
    assert jobs.can_resume(job(), tmp_path)
    assert not jobs.can_resume(job(frames=400), tmp_path)


def test_preparing_writes_the_request_and_removes_an_older_end(tmp_path):
    folder = fakes.write_run(job(), tmp_path)
    order = jobs.order(job(), tmp_path)
    order.prepare()
    assert not (folder / "final.json").exists()
    assert not (folder / "progress.csv").exists()
    (request,) = (Path(word) for word in order.command if word.endswith(".json"))
    assert json.loads(request.read_text()) == jobs.request(job())


def test_an_order_is_known_again_by_its_name(tmp_path):
    assert jobs.order(job(), tmp_path).name == jobs.order(job(), tmp_path).name
    others = jobs.order(job(frames=400), tmp_path), jobs.order(job(), tmp_path / "elsewhere")
    assert jobs.order(job(), tmp_path).name not in [other.name for other in others]


def test_a_folder_that_cannot_be_written_is_a_sentence(tmp_path):
    (tmp_path / "two-rovers").write_text("in the way")
    with pytest.raises(UserError, match="choose another --out"):
        jobs.order(job(), tmp_path).prepare()


def test_the_newest_complete_row_tells_the_progress(tmp_path):
    assert jobs.progress(tmp_path) is None
    file = tmp_path / "progress.csv"
    header, *rows = fakes.PROGRESS.splitlines(keepends=True)
    file.write_text(header)
    assert jobs.progress(tmp_path) is None
    file.write_text(header + rows[0] + rows[1] + rows[2][:9])
    assert jobs.progress(tmp_path) == jobs.Progress(200, 1.0, 0.5)  # of the newest test
    file.write_text(header + rows[0].replace("0.5 0.0", "0.5 " * 5000) + rows[2])
    assert jobs.progress(tmp_path) == jobs.Progress(300, 1.5, 1.0)


def test_the_last_line_that_was_printed_names_the_error(tmp_path):
    assert jobs.last_error(tmp_path) == ""
    (tmp_path / jobs.LOG).write_text("first\nmerlax: the reason\n\n")
    assert jobs.last_error(tmp_path) == "the reason"


@pytest.mark.parametrize("text", ["[" * 100_000, '{"world": ["two-rovers"]}', "[]", '{"finished": "yes"}', "\udcff"])
@pytest.mark.parametrize("name", ["config.json", "final.json"])
def test_a_run_whose_files_are_broken_is_done_again(tmp_path, name, text):
    folder = fakes.write_run(job(), tmp_path)
    assert jobs.is_finished(job(), tmp_path)
    (folder / name).write_bytes(text.encode(errors="surrogateescape"))
    assert not jobs.is_finished(job(), tmp_path)
    assert not jobs.can_resume(job(), tmp_path)


def test_what_is_no_file_says_nothing_of_a_run(tmp_path):
    for name in ("progress.csv", jobs.LOG):
        os.mkfifo(tmp_path / name)
    assert jobs.progress(tmp_path) is None
    assert jobs.last_error(tmp_path) == ""
