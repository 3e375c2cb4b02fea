"""What a machine or a user may do to a run folder while it is written: nothing that was reported is lost."""

import contextlib
import errno
import json
import os
import shutil
import signal
import subprocess

import jax
import pytest

from merlax.core.networks import TeamPolicy
from merlax.envs.base import Side
from merlax.runs import policies, writer
from merlax.runs.recorders import Beginning, CsvRecorder
from merlax.runs.writer import RunFolder
from merlax.types import UserError
from tests.support.killing import ENDLESS, begin, ended, generations, rows, wait_for
from tests.support.weights import weights

SETTINGS = {"world": "rover-3", "env": {}, "algorithm": "ea", "seed": 7}


@pytest.fixture
def small_disk(tmp_path):
    """A disk of a few megabytes."""
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(disk)]
    if shutil.which("mount") is None or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("needs the right to mount a small disk")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)


def policy(seed=0) -> TeamPolicy:
    return weights(lambda key: TeamPolicy(key, Side.equal(2, 3, 1), (4,)), seed)


def test_a_new_folder_says_what_it_takes_to_repeat_the_run(tmp_path):
    folder = RunFolder(tmp_path / "deep" / "run", SETTINGS)
    folder.close()
    written = json.loads((folder.path / "config.json").read_text())
    assert written == folder.config
    assert SETTINGS.items() <= written.items()
    assert written["devices"] == jax.device_count()
    assert written["versions"]["jax"] == jax.__version__


def test_a_run_is_replaced_only_by_force_and_then_nothing_of_it_remains(tmp_path):
    first = RunFolder(tmp_path, SETTINGS)
    first.save_champion(policy())
    first.write_json("final.json", {"finished": True})
    (tmp_path / "notes.txt").write_text("mine")
    first.close()
    with pytest.raises(UserError, match="holds a run already"):
        RunFolder(tmp_path, SETTINGS)
    RunFolder(tmp_path, SETTINGS | {"seed": 8}, force=True).close()
    assert json.loads((tmp_path / "config.json").read_text())["seed"] == 8
    assert not (tmp_path / "champion").exists()
    assert not (tmp_path / "final.json").exists()
    assert (tmp_path / "notes.txt").read_text() == "mine"  # what merlax did not write, it does not remove


def test_nobody_else_writes_there_until_it_is_closed(tmp_path):
    folder = RunFolder(tmp_path, SETTINGS)
    with pytest.raises(UserError, match="Another process works in"):
        RunFolder(tmp_path)
    with pytest.raises(UserError, match="Another process works in"):
        RunFolder(tmp_path, SETTINGS, force=True)
    folder.close()
    again = RunFolder(tmp_path)
    assert again.config == folder.config
    again.close()


def test_a_place_that_cannot_be_written_is_refused(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match="cannot be written"):
        RunFolder(tmp_path / "file" / "run", SETTINGS)


@pytest.mark.parametrize(
    "name",
    ["x" * 5000, "x/" * 2500, "x/" * 1900, f"new/{'x' * 300}/run", "with\0nothing"],
    ids=["long", "deep", "deep-inside", "long-inside", "nul"],
)
def test_a_name_that_the_system_does_not_take_is_refused_and_leaves_nothing(name, tmp_path):
    with pytest.raises(UserError, match="cannot be written"):
        RunFolder(tmp_path / name, SETTINGS)
    assert not list(tmp_path.iterdir())


def test_a_full_disk_is_refused_before_anything_is_made_or_replaced(small_disk):
    RunFolder(small_disk / "old", SETTINGS).close()
    with (small_disk / "filler").open("wb", buffering=0) as filler, contextlib.suppress(OSError):
        while filler.write(b"x" * 4096):
            pass
    for name in ("new", "old"):
        with pytest.raises(UserError, match="cannot be written"):
            RunFolder(small_disk / name, SETTINGS | {"seed": 8}, force=True)
    assert not (small_disk / "new").exists()
    assert json.loads((small_disk / "old" / "config.json").read_text())["seed"] == 7


def test_the_csv_comes_before_whoever_else_listens(tmp_path):
    folder = RunFolder(tmp_path, SETTINGS)
    assert isinstance(folder.recorders()[0], CsvRecorder)
    folder.close()


def test_both_sides_are_saved_under_their_names(tmp_path):
    folder = RunFolder(tmp_path, SETTINGS)
    folder.save_champion(policy(1))
    folder.save_opponent(policy(2))
    folder.close()
    for name, seed in (("champion", 1), ("opponent", 2)):
        assert (policies.load(tmp_path / name).heads.weight == policy(seed).heads.weight).all()


def test_what_the_disk_refuses_is_said_in_one_sentence(tmp_path):
    folder = RunFolder(tmp_path, SETTINGS)
    sentence = rf"^The run in .* \(No space left on device\).*`merlax resume {tmp_path}`\.$"
    with pytest.raises(UserError, match=sentence), folder.faults():
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    folder.csv.start(Beginning(tmp_path, "", {}, 1))
    shutil.rmtree(tmp_path)
    with pytest.raises(UserError, match="was removed or replaced"), folder.faults():
        raise FileNotFoundError
    folder.csv.stop()
    folder.close()


def test_a_free_path_is_numbered(tmp_path):
    assert writer.free_path(tmp_path, "run") == tmp_path / "run"
    for name in ("run", "run-2"):
        (tmp_path / name).mkdir()
    assert writer.free_path(tmp_path, "run") == tmp_path / "run-3"


@pytest.mark.slow
def test_a_folder_that_is_taken_away_ends_the_run(nursery, tmp_path):
    out, log = tmp_path / "run", tmp_path / "log"
    process = begin(nursery, out, log, "train", *ENDLESS, "--out", out, "--checkpoint-every", 0.5)
    out.rename(tmp_path / "elsewhere")
    assert nursery.wait(process) == 2
    assert "was removed or replaced" in log.read_text()
    assert "Traceback" not in log.read_text()
    assert not (out / "progress.csv").exists()
    done = generations(tmp_path / "elsewhere")
    assert done == list(range(1, len(done) + 1))


def fill(file, process):
    """Leave no room on the disk, not even what the run itself frees, until it ends."""
    with file.open("wb", buffering=0) as filler:
        while not ended(process):
            with contextlib.suppress(OSError):
                filler.write(b"x" * 100_000)
                continue
            with contextlib.suppress(OSError):
                filler.write(b"x" * 1000)


@pytest.mark.slow
@pytest.mark.parametrize("every", [0, 1000])
def test_a_full_disk_stops_a_run_and_loses_no_row(nursery, small_disk, tmp_path, every):
    out, log = small_disk / "run", tmp_path / "log"
    process = begin(nursery, out, log, "train", *ENDLESS, "--out", out, "--quiet", "--checkpoint-every", every)
    reported = rows(out)
    fill(small_disk / "filler", process)
    assert nursery.wait(process) == 2
    said = log.read_text().splitlines()
    assert len(said) == 1, said  # nothing of what Orbax, absl or Python would add
    assert said[0].startswith(f"merlax: The run in '{out}' cannot be written (No space left on device), so it stopped;")
    assert said[0].endswith(f"`merlax resume {out}`.")
    assert rows(out)[: len(reported)] == reported
    assert (out / "progress.csv").read_bytes().endswith(b"\n")
    (small_disk / "filler").unlink()
    if every:
        return  # it would begin again, for it had made no checkpoint
    done = len(rows(out))
    process = nursery.start("resume", out, log=log)
    assert wait_for(lambda: len(rows(out)) > done, process), log.read_text()
    os.kill(process, signal.SIGINT)
    assert nursery.wait(process) == 130
    assert rows(out)[: len(reported)] == reported
