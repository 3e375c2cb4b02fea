"""One run from its plan to its last file, and how it goes on after an interruption."""

import json
import logging
import os
import shutil
import signal
from pathlib import Path
from typing import Any

import jax
import pytest

import merlax
from merlax.runs import checkpoints, session
from merlax.runs.loop import Ending
from merlax.runs.writer import RunFolder
from merlax.types import UserError
from tests.support import short
from tests.support.killing import ENDLESS, begin, generations, rows


@pytest.mark.slow
def test_signals_and_a_second_process(nursery, tmp_path):
    out, log = tmp_path / "run", tmp_path / "log"
    process = begin(nursery, out, log, "train", *ENDLESS, "--out", out)
    for second in (["resume", out], ["train", *ENDLESS, "--out", out, "--force"]):
        assert nursery.run(*second, log=tmp_path / "second") == 2
        assert "Another process works in" in (tmp_path / "second").read_text()
    before = []
    for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        os.kill(process, number)
        assert nursery.wait(process) == code
        assert "`merlax resume` continues it" in log.read_text()
        done = generations(out)
        assert done == list(range(1, len(done) + 1))
        assert (out / "checkpoints" / str(len(done))).is_dir()  # the last checkpoint holds the last row
        if number == signal.SIGINT:
            before = rows(out)
            process = begin(nursery, out, log, "resume", out)
    assert before
    assert rows(out)[: len(before)] == before


def test_a_run_folder_holds_what_the_docs_promise(tmp_path):
    run = short.train(tmp_path, 2)
    found = {path.name for path in tmp_path.iterdir()} - {".lock"}
    assert found == {
        "config.json",
        "progress.csv",
        "final.json",
        "learning_curve.png",
        "champion",
        "events",
        "checkpoints",
    }
    assert checkpoints.all_of(tmp_path / "checkpoints") == [tmp_path / "checkpoints" / "2"]
    final = json.loads((tmp_path / "final.json").read_text())
    assert (final["finished"], final["episodes"]) == (True, 200)
    assert final["mean"] == merlax.evaluate(run, 200, seed=run.config["seed"]).mean
    with pytest.raises(UserError, match="nothing to resume"):
        short.resume(tmp_path)


def test_a_run_without_pictures_is_finished_and_keeps_no_outdated_ones(tmp_path):
    short.train(tmp_path, 1)
    assert (tmp_path / "learning_curve.png").exists()
    short.resume(tmp_path, frames=2 * short.GENERATION, pictures=False)
    assert json.loads((tmp_path / "final.json").read_text())["finished"]
    assert not (tmp_path / "learning_curve.png").exists()


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory):
    return short.stopped(tmp_path_factory.mktemp("runs") / "interrupted", 1).path


def changed(run: Path, folder: Path, **changes) -> Path:
    """A copy of a run whose config.json says something else."""
    copy = Path(shutil.copytree(run, folder / "copy"))
    data = json.loads((copy / "config.json").read_text())
    (copy / "config.json").write_text(json.dumps(data | changes))
    return copy


def test_a_run_that_was_interrupted_has_its_files_too(interrupted):
    assert json.loads((interrupted / "final.json").read_text())["finished"] is False
    assert (interrupted / "learning_curve.png").exists()
    assert (interrupted / "checkpoints" / "1").is_dir()


def test_a_run_of_another_number_of_devices_is_refused(interrupted, tmp_path):
    with pytest.raises(UserError, match=r"made on 64 devices .*device_count=64\.$"):
        short.resume(changed(interrupted, tmp_path, devices=64))


def test_a_run_of_other_versions_goes_on_with_a_warning(interrupted, tmp_path, caplog):
    versions = {"jax": "0.0.1", "python": "2.7"}
    old = json.loads((interrupted / "config.json").read_text())["versions"]
    with caplog.at_level(logging.WARNING, "merlax"):
        run = short.resume(changed(interrupted, tmp_path, versions=old | versions))
    assert len(run.progress["generation"]) == 4
    assert [record.message for record in caplog.records] == [
        f"resumed with other versions (jax 0.0.1 → {jax.__version__}): numbers may differ"
    ]


def test_a_run_whose_settings_were_edited_is_not_continued(interrupted, tmp_path):
    with pytest.raises(UserError, match="belongs to a run with other settings"):
        short.resume(changed(interrupted, tmp_path, seed=8))


def test_a_wrong_option_is_refused_before_anything_is_written(tmp_path, unchecked):
    wrongs: list[dict[str, Any]] = [{"checkpoint_every": -1.0}, {"seed": -1}, {"frames": 1}, {"callbacks": [3]}]
    for wrong in wrongs:
        with pytest.raises(UserError):
            short.train(tmp_path / "run", **wrong)
    assert not (tmp_path / "run").exists()


def test_a_run_that_was_stopped_before_its_first_row_says_so(interrupted, tmp_path):
    shutil.copy(interrupted / "config.json", tmp_path)
    folder = RunFolder(tmp_path)
    with pytest.raises(UserError, match="stopped before its first generation ended"):
        session.finish(folder, short.WORLD, Ending(finished=False))
    folder.close()


def test_a_recorder_is_stopped_whatever_happens(tmp_path):
    calls = []

    class Fails:
        def start(self, run):
            calls.append(run.title)

        def record(self, row):
            raise RuntimeError("mine")

        def stop(self):
            calls.append("stopped")

    with pytest.raises(RuntimeError, match="mine"):
        short.train(tmp_path, callbacks=[Fails()])
    assert calls == ["ea on Rendezvous", "stopped"]
    RunFolder(tmp_path).close()  # nobody holds it any more
