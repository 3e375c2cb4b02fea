"""Many runs at once: what is finished stays, what is not starts anew, what fails is named."""

import json
import os
import signal
import subprocess

import pytest

from merlax.experiments import cores, jobs, runner
from merlax.experiments.backends import Local, local
from merlax.runs import process
from merlax.types import UserError
from tests.support import fakes
from tests.support.fakes import SilentBoard, job


@pytest.fixture
def fake(monkeypatch):
    """Jobs write their files at once; `bodies` maps seeds to what they do before the end."""
    bodies: dict[int, str] = {}
    monkeypatch.setattr(jobs, "command", lambda job, root: fakes.command(job, root, bodies.get(job.seed, "")))
    monkeypatch.setattr(runner, "POLL_SECONDS", 0.02)
    return bodies


@pytest.fixture
def processes(monkeypatch):
    started = []
    popen = subprocess.Popen

    def start(*args, **options):
        started.append(popen(*args, **options))
        return started[-1]

    monkeypatch.setattr(local.subprocess, "Popen", start)
    return started


@pytest.mark.slow
def test_real_runs_are_skipped_when_finished_and_a_failed_one_is_named(tmp_path):
    """Trains for real: two runs that end, and between them one whose settings are refused."""
    good = [job(seed, frames=2 * fakes.GENERATION) for seed in (1, 2)]
    bad = job(3, label="bad", changes={"population": 3}, frames=fakes.GENERATION)
    outcome = runner.run([good[0], bad, good[1]], tmp_path, SilentBoard())
    assert sorted(j.seed for j in outcome.finished) == [1, 2]
    assert [f.job for f in outcome.failed] == [bad]
    assert "population is 3 with 4 elites" in outcome.failed[0].reason
    before = [(tmp_path / j.folder / "progress.csv").stat().st_mtime_ns for j in good]
    assert runner.run(good, tmp_path, SilentBoard()).finished == good
    assert [(tmp_path / j.folder / "progress.csv").stat().st_mtime_ns for j in good] == before
    settings = json.loads((tmp_path / good[0].folder / "config.json").read_text())
    assert settings["devices"] == 1 or len(cores.available()) == 1  # pinned to one core
    assert settings["settings"]["population"] == 6


@pytest.mark.slow
def test_a_real_run_that_was_interrupted_goes_on_where_it_was(tmp_path):
    class Interrupting(SilentBoard):
        def update(self, active, waiting):
            if active and active[0].progress:
                raise KeyboardInterrupt

    long = job(1, frames=2000 * fakes.GENERATION)
    assert runner.run([long], tmp_path / "interrupted", Interrupting(), Local(workers=1)).interrupted
    progress = tmp_path / "interrupted" / long.folder / "progress.csv"
    before = progress.read_text()
    assert jobs.can_resume(long, tmp_path / "interrupted")

    class Ending(Interrupting):
        def update(self, active, waiting):
            if progress.stat().st_size > 2 * len(before):
                super().update(active, waiting)

    assert runner.run([long], tmp_path / "interrupted", Ending(), Local(workers=1)).interrupted
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
    outcome = runner.run([job(seed) for seed in (1, 2, 3, 4)], tmp_path, seen, Local(workers=1))
    assert [j.seed for j in outcome.finished] == [1, 4]
    assert [(f.job.seed, f.reason) for f in outcome.failed] == [(2, "the reason"), (3, "it ended with code 5")]
    assert len(seen.lost) == 2


def test_no_more_runs_at_a_time_than_workers(tmp_path, fake):
    for seed in range(6):
        fake[seed] = "time.sleep(0.2)"
    seen = SilentBoard()
    assert len(runner.run([job(seed) for seed in range(6)], tmp_path, seen, Local(workers=3)).finished) == 6
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
    outcome = runner.run([job(1), job(2), job(3)], tmp_path, Interrupting(), Local(workers=2))
    assert outcome.interrupted
    assert not outcome.finished
    assert len(processes) == 2
    assert all(process.poll() is not None for process in processes)
    assert signal.getsignal(signal.SIGTERM) == before


@pytest.mark.parametrize("ends", [True, False], ids=["it ends", "it is lost"])
def test_what_an_earlier_runner_left_at_work_is_waited_for(tmp_path, fake, ends):
    folder = fakes.write_run(job(), tmp_path)
    (folder / "final.json").unlink()
    held = process.lock(folder)

    class Later(SilentBoard):
        def update(self, active, waiting):
            if held.is_locked:
                assert [status.job for status in active] == [job()]
                if ends:
                    (folder / "final.json").write_text(fakes.FINAL)
                    fake[1] = "sys.exit(5)"  # nobody starts it again
                held.release()

    outcome = runner.run([job()], tmp_path, Later())
    assert outcome.finished == [job()]
    assert (folder / jobs.LOG).exists() is not ends


def test_two_runners_do_not_share_a_folder(tmp_path, fake):
    held = process.lock(tmp_path)
    with pytest.raises(UserError, match="Another process"):
        runner.run([job()], tmp_path, SilentBoard())
    held.release()
    assert runner.run([job()], tmp_path, SilentBoard()).finished


def test_a_folder_that_cannot_be_written_is_a_sentence(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(UserError, match="cannot be written"):
        runner.run([job()], tmp_path / "file", SilentBoard())
