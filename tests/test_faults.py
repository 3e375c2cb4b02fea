"""What a machine or a user may do to a run while it goes on: nothing that was reported is lost."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys

import pytest
from tests.test_resume import ended, options, rows, wait_for

ENDLESS = [*options("rendezvous", "merl")[:-1], "100000000"]


def generations(run):
    return [int(row["generation"]) for row in rows(run)]


def begin(nursery, out, log, *command):
    """A run that has at least three rows."""
    process = nursery.start(*command, log=log)
    before = len(rows(out))
    assert wait_for(lambda: len(rows(out)) >= before + 3, process), log.read_text()
    return process


def test_signals_and_a_second_process(nursery, tmp_path):
    out, log = tmp_path / "run", tmp_path / "log"
    process = begin(nursery, out, log, "train", *ENDLESS, "--out", out)
    for second in (["resume", out], ["train", *ENDLESS, "--out", out, "--force"]):
        assert nursery.run(*second, log=tmp_path / "second") == 2
        assert "Another process works on the run" in (tmp_path / "second").read_text()
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
    assert rows(out)[: len(before)] == before


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


def fill(file, process):
    """Leave no room on the disk, not even what the run itself frees, until it ends."""
    with file.open("wb", buffering=0) as filler:
        while not ended(process):
            with contextlib.suppress(OSError):
                filler.write(b"x" * 100_000)
                continue
            with contextlib.suppress(OSError):
                filler.write(b"x" * 1000)


@pytest.mark.parametrize("every", [0, 1000])
def test_a_full_disk_stops_a_run_and_loses_no_row(nursery, small_disk, tmp_path, every):
    out, log = small_disk / "run", tmp_path / "log"
    process = begin(nursery, out, log, "train", *ENDLESS, "--out", out, "--checkpoint-every", every)
    reported = rows(out)
    fill(small_disk / "filler", process)
    assert nursery.wait(process) == 2
    said = log.read_text()
    assert said.count("merlax: ") == 1
    assert "merlax resume" in said
    assert "Traceback" not in said
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


@pytest.mark.parametrize(
    ("world", "place"),
    [
        ("broken-observation", "an observation"),
        ("broken-first-observation", "an observation"),
        ("broken-team", "the team's reward"),
        ("infinite-team", "the team's reward"),
        ("broken-agent", "an agent's reward"),
    ],
)
def test_a_world_that_is_not_finite_stops_training_and_is_named(nursery, tmp_path, world, place):
    out, log = tmp_path / "run", tmp_path / "log"
    for algorithm in ("ea", "td3") if world == "broken-observation" else ("ea",):
        command = [world, *options("rendezvous", algorithm)[1:], "--out", out, "--force", "--quiet"]
        assert nursery.run("train", *command, log=log) == 2
        said = log.read_text().splitlines()[-1]
        assert "Training stopped in generation 1" in said
        assert f"the world gave {place}" in said
        assert "there is no checkpoint yet" in said
    assert rows(out) == []


@pytest.mark.parametrize(
    ("algorithm", "settings", "place"),
    [
        ("td3", ["--td3.critic-rate", "1e30"], "critic_loss became"),
        # Two updates, of which the second one moves the actor: no loss has seen it yet.
        ("td3", ["--td3.actor-rate", "1e39", "--td3.updates-per-frame", "0.112"], "a weight in"),
    ],
)
def test_a_learner_that_explodes_stops_training_and_the_last_good_checkpoint_is_named(
    nursery, tmp_path, algorithm, settings, place
):
    out, log = tmp_path / "run", tmp_path / "log"
    command = [*options("rendezvous", algorithm), *settings, "--out", out, "--checkpoint-every", 0, "--quiet"]
    assert nursery.run("train", *command, log=log) == 2
    said, done = log.read_text().splitlines()[-1], len(rows(out))
    assert f"Training stopped in generation {done + 1}: {place}" in said
    good = f"the last good checkpoint is '{out / 'checkpoints' / str(done)}'"
    assert (good if done else "there is no checkpoint yet") in said


@pytest.mark.parametrize("world", ["picky-team", "picky-observation"])
def test_a_broken_team_is_ranked_last_and_counted(nursery, tmp_path, world):
    out = tmp_path / "run"
    for algorithm in ("ea", "es"):
        command = [world, *options("rendezvous", algorithm)[1:], "--out", out, "--force", "--quiet"]
        code = nursery.run("train", *command, log=tmp_path / "log")
        found = rows(out)
        assert code == 0 or "champion_score became nan" in (tmp_path / "log").read_text()
        assert found
        for row in found:
            fitness = row["fitness"].split()
            assert fitness.count("nan") == int(row["broken_teams"]) < len(fitness)
    assert any(int(row["broken_teams"]) for row in found)


@contextlib.contextmanager
def read_only(folder):
    """Nobody can write there, the superuser included, whom permissions do not stop."""
    mount = lambda *options: subprocess.run(["mount", *options], capture_output=True).returncode == 0  # noqa: E731
    mounted = shutil.which("mount") is not None and mount("--bind", str(folder), str(folder))
    if mounted:
        mount("-o", "remount,bind,ro", str(folder))
    else:
        folder.chmod(0o555)
    try:
        with pytest.raises(OSError, match=r"Read-only|Permission"):
            (folder / "new").touch()
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True) if mounted else folder.chmod(0o755)


BLOCKED = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("optax", "orbax", "evosax", "tensorboardX"):
            raise ImportError(name)

sys.meta_path.insert(0, Absent())
from merlax import cli
folder, out = sys.argv[1:]
assert cli.main(["evaluate", folder, "--episodes", "2"]) == 0
assert cli.main(["render", folder, "--out", out]) == 0
"""


def test_a_champion_plays_without_the_training_extras_and_leaves_its_folder_alone(nursery, tmp_path):
    out = tmp_path / "run"
    tiny = "two-rovers --algorithm ea --evolution.population 6 --actor-hidden 8 --frames 180 --quiet".split()
    assert nursery.run("train", *tiny, "--out", out, log=tmp_path / "log") == 0, (tmp_path / "log").read_text()
    for name in ("progress.csv", "final.json", "champion.gif", "learning_curve.png"):
        (out / name).unlink()
    shutil.rmtree(out / "events")
    listing = lambda: sorted((str(p), p.stat().st_mtime_ns) for p in out.rglob("*"))  # noqa: E731
    before = listing()
    with read_only(out):
        command = [sys.executable, "-c", BLOCKED, str(out), str(tmp_path / "team.png")]
        done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "team.png").exists()
    assert listing() == before
