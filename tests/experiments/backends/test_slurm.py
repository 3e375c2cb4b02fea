"""SLURM's side, with submitit's own processes in its place; `benchmarks/slurm_cluster.py` has a real one."""

import os

import pytest

from merlax.experiments import jobs, runner
from merlax.experiments.backends import Resources
from merlax.experiments.backends.slurm import Slurm, Work
from merlax.types import UserError
from tests.support import fakes
from tests.support.fakes import SilentBoard, job


@pytest.mark.slow
def test_a_run_that_is_killed_comes_to_the_same_rows_as_at_home(tmp_path):
    """Real processes: submitit's, and the run as its child, which is killed once."""
    pytest.importorskip("submitit")
    long = job(1, frames=100 * fakes.GENERATION)
    killed = []

    class Killer(SilentBoard):
        def update(self, active, waiting):
            if not killed and active and active[0].progress:
                killed.append(fakes.kill(fakes.process_of(tmp_path / "there" / long.folder)))

    engine = Slurm(Resources(cpu=1), tmp_path / "there", cluster="local")
    outcome = runner.run([long], tmp_path / "there", Killer(), engine)
    assert outcome.finished == [long], outcome
    assert killed
    assert runner.run([long], tmp_path / "here", SilentBoard()).finished == [long]
    assert fakes.rows(tmp_path / "there" / long.folder) == fakes.rows(tmp_path / "here" / long.folder)


@pytest.mark.slow
def test_a_run_that_fails_tells_its_last_line(tmp_path, monkeypatch):
    pytest.importorskip("submitit")
    monkeypatch.setattr(jobs, "command", lambda job, root: fakes.command(job, root, "sys.exit('merlax: the reason')"))
    outcome = runner.run([job()], tmp_path, SilentBoard(), Slurm(Resources(), tmp_path, cluster="local"))
    assert [failure.reason for failure in outcome.failed] == ["the reason"]


def test_what_loses_its_place_comes_back_to_the_queue():
    submitit = pytest.importorskip("submitit")
    again = Work().checkpoint(["python"], "folder", 2)
    assert isinstance(again, submitit.helpers.DelayedSubmission)
    assert again.args == (["python"], "folder", 2)


@pytest.fixture
def commands(tmp_path, monkeypatch):
    """SLURM's commands, as scripts that answer what the test says."""
    pytest.importorskip("submitit")
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")

    def answer(name: str, text: str, code: int = 0) -> None:
        script = tmp_path / "bin" / name
        script.write_text(f"#!/bin/sh\necho {text}\nexit {code}\n")
        script.chmod(0o755)

    for name in ("sbatch", "squeue", "scancel", "srun"):
        answer(name, "")
    answer("sinfo", "'4 (null)'")
    return answer


def test_more_than_the_cluster_has_is_refused(tmp_path, commands):
    with pytest.raises(UserError, match="cpu=5, but no node of the SLURM cluster has more than 4"):
        Slurm(Resources(cpu=5), tmp_path)
    with pytest.raises(UserError, match="gpu=1, but no node of the SLURM cluster has one"):
        Slurm(Resources(gpu=1.0), tmp_path)
    with pytest.raises(UserError, match="whole GPUs"):
        Slurm(Resources(gpu=0.5), tmp_path)
    commands("sinfo", "'slurm_load_partitions: Unable to contact slurm controller' >&2", 1)
    with pytest.raises(UserError, match=r"cannot be reached .*Unable to contact slurm controller"):
        Slurm(Resources(), tmp_path)


def test_what_waits_in_the_queue_already_is_found_again(tmp_path, commands):
    order = jobs.order(job(), tmp_path)
    commands("squeue", f"'17 {order.name}'")
    engine = Slurm(Resources(), tmp_path)
    ticket = engine.start(order)
    assert ticket.id == "17"
    assert not order.folder.exists()  # nothing was prepared anew
    assert engine.poll(ticket) is None


def test_without_slurm_one_is_sent_to_a_login_node(tmp_path, monkeypatch):
    pytest.importorskip("submitit")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match="sbatch is missing"):
        Slurm(Resources(), tmp_path)
