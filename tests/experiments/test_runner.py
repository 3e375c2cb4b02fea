"""Many runs at once: what is finished stays, what is not starts anew, what fails is named."""

import dataclasses
import fcntl
import json
import os
import signal
import subprocess

import pytest
from tests.experiments import fakes
from tests.experiments.fakes import SilentBoard, job

from merlax.algorithms import presets
from merlax.experiments import board, cores, runner
from merlax.experiments import jobs as requests
from merlax.types import UserError


@pytest.fixture
def fake(monkeypatch):
    """Jobs write their files at once; `bodies` maps seeds to what they do before the end."""
    bodies: dict[int, str] = {}
    prepare = requests.prepare

    def quickly(job, root):
        prepare(job, root)
        return fakes.command(root / job.folder, bodies.get(job.seed, ""))

    monkeypatch.setattr(requests, "prepare", quickly)
    monkeypatch.setattr(runner, "POLL_SECONDS", 0.02)
    return bodies


@pytest.fixture
def processes(monkeypatch):
    started = []
    popen = subprocess.Popen

    def start(*args, **options):
        started.append(popen(*args, **options))
        return started[-1]

    monkeypatch.setattr(runner.subprocess, "Popen", start)
    return started


def test_real_runs_are_skipped_when_finished_and_a_failed_one_is_named(tmp_path):
    """Trains for real: two runs that end, and between them one whose settings are refused."""
    good = [job(seed, frames=2 * fakes.GENERATION) for seed in (1, 2)]
    bad = job(3, label="bad", changes={"evolution": {"population": 3}}, frames=fakes.GENERATION)
    outcome = runner.run([good[0], bad, good[1]], tmp_path, SilentBoard())
    assert sorted(j.seed for j in outcome.finished) == [1, 2]
    assert [f.job for f in outcome.failed] == [bad]
    assert outcome.failed[0].reason.startswith("population is 3")
    before = [(tmp_path / j.folder / "progress.csv").stat().st_mtime_ns for j in good]
    assert runner.run(good, tmp_path, SilentBoard()).finished == good
    assert [(tmp_path / j.folder / "progress.csv").stat().st_mtime_ns for j in good] == before
    settings = json.loads((tmp_path / good[0].folder / "config.json").read_text())
    assert settings["devices"] == 1 or len(cores.available()) == 1  # pinned to one core
    assert settings["config"]["evolution"]["population"] == 6


def test_a_real_run_that_was_interrupted_goes_on_where_it_was(tmp_path):
    class Interrupting(SilentBoard):
        def update(self, active, waiting):
            if active and active[0].progress:
                raise KeyboardInterrupt

    long = job(1, frames=2000 * fakes.GENERATION)
    assert runner.run([long], tmp_path / "interrupted", Interrupting(), workers=1).interrupted
    progress = tmp_path / "interrupted" / long.folder / "progress.csv"
    before = progress.read_text()
    assert requests.can_resume(long, tmp_path / "interrupted", len(cores.available()))
    assert not requests.can_resume(long, tmp_path / "interrupted", len(cores.available()) + 1)

    class Ending(Interrupting):
        def update(self, active, waiting):
            if progress.stat().st_size > 2 * len(before):
                super().update(active, waiting)

    assert runner.run([long], tmp_path / "interrupted", Ending(), workers=1).interrupted
    after = progress.read_text()
    assert after.startswith(before)  # it went on: not one row was made again, else its seconds would differ
    assert len(after) > len(before)


def test_a_killed_run_is_named_and_starts_anew(tmp_path, fake, processes):
    fake[1] = "time.sleep(60)"

    class Killer(SilentBoard):
        def update(self, active, waiting):
            if active and active[0].progress:
                processes[0].kill()

    outcome = runner.run([job(1)], tmp_path, Killer())
    assert "killed" in outcome.failed[0].reason
    fake.clear()
    assert runner.run([job(1)], tmp_path, SilentBoard()).finished == [job(1)]


@pytest.mark.parametrize(
    "change",
    [{"frames": 400}, {"changes": {"noise": 0.3}}, {"algorithm": "ea"}],
    ids=["frames", "changes", "algorithm"],
)
def test_other_settings_are_another_run(tmp_path, fake, change):
    runner.run([job()], tmp_path, SilentBoard())
    again = SilentBoard()
    runner.run([job(**change)], tmp_path, again)
    assert again.done == [job().name]


def test_a_changed_default_is_another_run(tmp_path, fake, monkeypatch):
    runner.run([job()], tmp_path, SilentBoard())
    assert requests.is_finished(job(), tmp_path)
    default = presets.preset("fast", "two-rovers", "merl")
    monkeypatch.setattr(presets, "preset", lambda *_: dataclasses.replace(default, noise=0.1))
    assert not requests.is_finished(job(), tmp_path)


@pytest.mark.parametrize("final", ['{"finished": false}', "{", "[]", None])
def test_a_run_that_is_not_finished_starts_anew(tmp_path, fake, final):
    runner.run([job()], tmp_path, SilentBoard())
    file = tmp_path / job().folder / "final.json"
    file.unlink() if final is None else file.write_text(final)
    again = SilentBoard()
    runner.run([job()], tmp_path, again)
    assert again.done == [job().name]


def test_a_failure_does_not_stop_the_others_and_tells_its_last_line(tmp_path, fake):
    fake[2] = "print('first'); print('merlax: the reason'); print(); sys.exit(2)"
    fake[3] = "sys.exit(5)"
    seen = SilentBoard()
    outcome = runner.run([job(seed) for seed in (1, 2, 3, 4)], tmp_path, seen, workers=1)
    assert [j.seed for j in outcome.finished] == [1, 4]
    assert [(f.job.seed, f.reason) for f in outcome.failed] == [(2, "the reason"), (3, "it ended with code 5")]
    assert len(seen.lost) == 2


def test_no_more_runs_at_a_time_than_workers(tmp_path, fake):
    for seed in range(6):
        fake[seed] = "time.sleep(0.2)"
    seen = SilentBoard()
    assert len(runner.run([job(seed) for seed in range(6)], tmp_path, seen, workers=3).finished) == 6
    assert 2 <= seen.most <= 3


@pytest.mark.parametrize("how", ["ctrl-c", "sigterm"])
def test_an_interrupt_ends_all_processes(tmp_path, fake, processes, how):
    fake[1] = fake[2] = "time.sleep(60)"

    class Interrupting(SilentBoard):
        def update(self, active, waiting):
            if how == "ctrl-c":
                raise KeyboardInterrupt
            os.kill(os.getpid(), signal.SIGTERM)

    before = signal.getsignal(signal.SIGTERM)
    outcome = runner.run([job(1), job(2), job(3)], tmp_path, Interrupting(), workers=2)
    assert outcome.interrupted
    assert not outcome.finished
    assert len(processes) == 2
    assert all(process.poll() is not None for process in processes)
    assert signal.getsignal(signal.SIGTERM) == before


def test_two_runners_do_not_share_a_folder(tmp_path, fake):
    with (tmp_path / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(UserError, match="Another process"):
            runner.run([job()], tmp_path, SilentBoard())
    assert runner.run([job()], tmp_path, SilentBoard()).finished


def test_a_folder_that_cannot_be_written_is_a_sentence(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(UserError, match="cannot be written"):
        runner.run([job()], tmp_path / "file", SilentBoard())


def test_each_worker_gets_a_core_of_its_own():
    assert cores.groups(None, [0, 1, 4, 5]) == [[0], [1], [4], [5]]
    assert cores.groups(1, [0, 1]) == [[0, 1]]
    assert cores.groups(2, [0, 1, 2, 3, 4]) == [[0, 1], [2, 3, 4]]
    assert cores.groups(3, [0, 1]) == [[0], [1], [0]]
    with pytest.raises(UserError, match="workers is 0"):
        cores.groups(0, [0])


def test_the_newest_complete_row_tells_the_progress(tmp_path):
    assert requests.progress(tmp_path) is None
    file = tmp_path / "progress.csv"
    header, *rows = fakes.PROGRESS.splitlines(keepends=True)
    file.write_text(header)
    assert requests.progress(tmp_path) is None
    file.write_text(header + rows[0] + rows[1] + rows[2][:9])
    assert requests.progress(tmp_path) == requests.Progress(200, 1.0, None)
    file.write_text(header + rows[0].replace("0.5 0.0", "0.5 " * 5000) + rows[2])
    assert requests.progress(tmp_path) == requests.Progress(300, 1.5, 1.0)


def test_the_time_left_knows_slow_methods():
    clock = board.Clock(workers=2)
    slow, fast = job(1, label="slow"), job(1, label="fast")
    assert clock.left([board.Status(slow, None, 3.0)], []) is None
    clock.finished(board.Status(slow, requests.Progress(300, 99.0, 0.5), 100.0))
    clock.finished(board.Status(fast, requests.Progress(300, 9.0, 0.5), 10.0))
    waiting = [job(2, label="slow"), job(2, label="slow"), job(2, label="fast")]
    assert clock.left([], waiting) == pytest.approx((100 + 100 + 10) / 2)
    half = board.Status(job(3, label="slow"), requests.Progress(150, 50.0, 0.5), 50.0)
    assert clock.left([half], []) == pytest.approx(50.0)  # one run alone is not faster on two workers


def test_plain_lines_name_what_ended(capsys, tmp_path, fake):
    fake[2] = "sys.exit('a reason')"
    runner.run([job(1), job(2)], tmp_path, board.choose(), workers=1)
    shown = capsys.readouterr().out
    assert "2 runs; 1 at a time" in shown
    assert "[1/2] two-rovers, MERL, seed 1: 0.30 / 0.30 k frames, score 1.00" in shown
    assert "failed: two-rovers, MERL, seed 2: a reason" in shown
    assert "\x1b" not in shown


def test_bars_show_a_line_for_each_run_and_one_for_all(tmp_path, fake):
    from rich.console import Console

    fake[1], fake[2] = "time.sleep(0.5)", "sys.exit('a [reason]')"
    with (tmp_path / "screen").open("w") as screen:
        bars = board.Bars(Console(file=screen, force_terminal=True, width=140))
        runner.run([job(1), job(2)], tmp_path / "runs", bars, workers=2)
    shown = (tmp_path / "screen").read_text()
    for words in ("all runs", "two-rovers, MERL, seed 1", "failed: two-rovers, MERL, seed 2: a [reason]", "1 failed"):
        assert words in shown
