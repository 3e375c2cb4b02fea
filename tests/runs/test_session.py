"""A run that is killed at any moment and resumed ends as if it had never been: bit for bit."""

import json
import logging
import os
import random
import shutil
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import jax
import pytest

import merlax
from merlax.algorithms import presets
from merlax.runs import session
from merlax.runs.writer import RunFolder
from merlax.types import UserError
from tests.support import short
from tests.support.killing import ENDLESS, ROWS, begin, generations, options, rows, wait_for
from tests.support.nursery import Nursery

KILLS = {("rendezvous", "merl"): 5, ("predator-prey", "merl"): 2}  # others: 1, every second while a checkpoint is saved
CASES = [(world, name) for world in ("rendezvous", "predator-prey") for name in presets.BUILT_IN]


def kill_and_resume(nursery: Nursery, folder: Path, command: list[str], seed: int, kills: int) -> int:
    """Begin a run, kill it again and again, let it end; how many kills fell into a save."""
    chance, saves = random.Random(seed), 0
    out, log = folder / "killed", folder / "killed.log"
    begin = ["train", *command, "--out", out]
    for kill in range(kills):
        process = nursery.start(*begin, "--checkpoint-every", 0, log=log)
        begin = ["resume", out]
        done = len(rows(out))
        in_a_save = (seed + kill) % 2
        moment = (lambda: unfinished(out)) if in_a_save else (lambda done=done: len(rows(out)) not in (0, done))
        wait_for(moment, process)
        time.sleep(chance.uniform(0.0, 0.002 if in_a_save else 0.3))
        os.kill(process, signal.SIGKILL)
        nursery.wait(process)
        saves += bool(unfinished(out))
    if not (out / "final.json").exists():
        assert nursery.run("resume", out, "--checkpoint-every", 0.2, log=log) == 0, log.read_text()
    return saves


def unfinished(run: Path) -> list[Path]:
    """Checkpoints that are being written, or never were completely."""
    return list((run / "checkpoints").glob("*.orbax-checkpoint-tmp*"))


@pytest.fixture(scope="module")
def outcomes(nursery, tmp_path_factory):
    """All cases, two at a time: each uninterrupted, and killed and resumed."""

    def one(number_and_case):
        number, case = number_and_case
        folder = tmp_path_factory.mktemp("-".join(case))
        command = [*options(*case), "--quiet"]
        assert nursery.run("train", *command, "--out", folder / "whole", log=folder / "whole.log") == 0, (
            folder / "whole.log"
        ).read_text()
        return folder, kill_and_resume(nursery, folder, command, number, KILLS.get(case, 1))

    with ThreadPoolExecutor(2) as pool:
        return dict(zip(CASES, pool.map(one, enumerate(CASES)), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids="-".join)
def test_a_killed_run_ends_as_if_it_had_never_been(case, outcomes):
    folder, _ = outcomes[case]
    assert len(rows(folder / "whole")) == ROWS
    assert rows(folder / "killed") == rows(folder / "whole")
    for name in ("champion", "opponent") if case[0] == "predator-prey" else ("champion",):
        for file in ("policy.json", "weights.npz"):
            assert (folder / "killed" / name / file).read_bytes() == (folder / "whole" / name / file).read_bytes()
    assert not (folder / "killed" / "checkpoints").exists()  # of a run that has ended, nobody needs them


@pytest.mark.slow
def test_some_kills_fell_into_a_save(outcomes):
    assert sum(saves for _, saves in outcomes.values()) >= 3


@pytest.mark.slow
def test_a_run_that_has_ended_has_nothing_to_resume(nursery, outcomes, tmp_path):
    folder, _ = outcomes[CASES[0]]
    assert nursery.run("resume", folder / "whole", log=tmp_path / "log") == 2
    assert "nothing to resume" in (tmp_path / "log").read_text()


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
    }
    final = json.loads((tmp_path / "final.json").read_text())
    assert (final["finished"], final["episodes"]) == (True, 200)
    assert final["mean"] == merlax.evaluate(run, 200, seed=run.config["seed"]).mean
    with pytest.raises(UserError, match="nothing to resume"):
        short.resume(tmp_path)


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
        session.finish(folder, short.WORLD, finished=False)
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
