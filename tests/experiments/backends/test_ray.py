"""Ray, for real: two nodes, each a process of its own on this machine."""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from merlax import cli
from merlax.experiments import runner
from tests.support import fakes
from tests.support.fakes import SilentBoard, job

BIN = Path(sys.executable).parent / "ray"
HEAD = """
import sys
from pathlib import Path
from merlax.experiments import jobs, runner
from merlax.experiments.backends import Resources, choose
from tests.support import fakes
command = jobs.command
jobs.command = lambda job, root: [*command(job, root), "--checkpoint-every", "0.5"]
root, generations = Path(sys.argv[1]), int(sys.argv[2])
wanted = [fakes.job(seed, frames=generations * fakes.GENERATION) for seed in (1, 2)]
outcome = runner.run(wanted, root, fakes.SilentBoard(), choose("ray", Resources(cpu=1), root))
print(len(outcome.finished), outcome.failed, flush=True)
"""


@pytest.fixture(autouse=True, scope="module")
def no_token():
    """A user's home may hold a token, of which `ray start` takes notice in some commands and not in others."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_AUTH_MODE", "disabled")
        yield


def ray(*words: object, wrap: tuple[str, ...] = ()) -> None:
    command = [*wrap, str(BIN), *map(str, words)]
    subprocess.run(command, check=True, capture_output=True, timeout=120)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory, no_token):
    """The address of a head with one core and of another node with one."""
    pytest.importorskip("ray")
    with socket.socket() as free:
        free.bind(("", 0))
        port = free.getsockname()[1]
    home = tmp_path_factory.mktemp("ray", numbered=True)
    link = Path("/tmp") / f"merlax-ray-{port}"  # Ray's sockets need a short name
    link.symlink_to(home)
    size = ("--num-cpus=1", "--num-gpus=0", "--disable-usage-stats", f"--temp-dir={link}")
    before = processes()
    try:
        ray("start", "--head", f"--port={port}", "--include-dashboard=false", *size)
        ray("start", f"--address=127.0.0.1:{port}", *size[:-1])
        yield f"127.0.0.1:{port}"
    finally:
        for process in processes() - before:  # `ray stop` would stop a user's own cluster, too
            with contextlib.suppress(OSError):
                if str(link) in Path(f"/proc/{process}/cmdline").read_text() or f":{port}" in arguments(process):
                    fakes.kill(process)
        link.unlink()


def processes() -> set[int]:
    return {int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()}


def arguments(process: int) -> str:
    return Path(f"/proc/{process}/cmdline").read_text().replace("\0", " ")


@pytest.fixture
def head(cluster):
    """Starts runners in processes of their own, none of which outlives the test."""
    started = []

    def start(root: Path, generations: int) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", HEAD, str(root), str(generations)]
        environment = os.environ | {"RAY_ADDRESS": cluster}
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        started.append(subprocess.Popen(command, env=environment, **pipes))
        return started[-1]

    yield start
    for process in started:
        with process:
            process.kill()


def wait_for_rows(root: Path, number: int, process: subprocess.Popen[str]) -> None:
    """Until both runs have as many."""
    deadline = time.monotonic() + 300  # a busy machine starts Ray's workers slowly
    folders = [root / job(seed).folder for seed in (1, 2)]
    while True:
        with contextlib.suppress(OSError):
            if all(len(fakes.rows(folder)) >= number for folder in folders):
                return
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_workers_and_heads_are_killed_and_the_rows_are_those_of_this_machine(head, tmp_path):
    """One Ray worker is killed, then one run, then the head, which is started again."""
    root, generations = tmp_path / "there", 80
    first = head(root, generations)
    wait_for_rows(root, 10, first)
    fakes.kill(fakes.parent(fakes.process_of(root / job(1).folder)))
    fakes.kill(fakes.process_of(root / job(2).folder))
    wait_for_rows(root, 30, first)
    fakes.kill(first.pid)
    first.communicate()
    second = head(root, generations)
    said, _ = second.communicate(timeout=480)
    assert said.splitlines()[-1] == "2 []", said
    wanted = [job(seed, frames=generations * fakes.GENERATION) for seed in (1, 2)]
    assert len(runner.run(wanted, tmp_path / "here", SilentBoard()).finished) == 2
    for each in wanted:
        assert fakes.rows(root / each.folder) == fakes.rows(tmp_path / "here" / each.folder)


@pytest.mark.slow
def test_a_node_that_does_not_see_the_folder_is_named_before_anything_starts(cluster, head, tmp_path):
    """A third node, in whose eyes the folder is another one."""
    if shutil.which("unshare") is None or os.geteuid() != 0:
        pytest.skip("only root can mount")
    (tmp_path / "runs").mkdir()
    hide = f'mount -t tmpfs none {tmp_path / "runs"} && exec "$0" "$@"'
    ray(
        "start", f"--address={cluster}", "--num-cpus=1", "--disable-usage-stats",
        wrap=("unshare", "--mount", "sh", "-c", hide),
    )  # fmt: skip
    process = head(tmp_path / "runs", 1)
    said, _ = process.communicate(timeout=120)
    assert "does not see the folder" in said, said
    assert not list((tmp_path / "runs").iterdir())


@pytest.mark.slow
def test_more_than_any_node_has_is_refused(cluster, tmp_path):
    for resources, sentence in (("cpu=2", "cpu=2, but no node of the Ray cluster has more than 1"), ("gpu=1", "gpu=1")):
        said = reproduce(tmp_path, cluster, "--resources", resources)
        assert sentence in said
        assert said.count("\n") == 1


def reproduce(tmp_path: Path, address: str, *more: str) -> str:
    """What a head says that is refused."""
    command = [sys.executable, "-m", "merlax.cli", "reproduce", "motivating", "--quick", "--on", "ray", *more]
    environment = os.environ | {"RAY_ADDRESS": address}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 2, done
    return done.stderr


def test_without_ray_the_line_that_installs_it_is_told(monkeypatch, refuses):
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    refuses(["reproduce", "motivating", "--on", "ray"], "pip install 'merlax[ray]'")


def test_without_submitit_the_line_that_installs_it_is_told(monkeypatch, refuses):
    monkeypatch.setitem(sys.modules, "submitit", None)
    refuses(["reproduce", "motivating", "--on", "slurm"], "pip install 'merlax[slurm]'")


def test_the_command_line_knows_no_other_engine(capsys):
    assert cli.main(["reproduce", "motivating", "--on", "dask"]) == 2
    assert "ray" in capsys.readouterr().err
