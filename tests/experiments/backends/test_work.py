"""A run on an engine's worker: as many devices as asked, started again where it is killed, and never left alone."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from merlax.experiments.backends import work

_SOURCE = str(Path(work.__file__).parents[3])


def python(body: str) -> list[str]:
    return ["elsewhere", "-c", f"import os, pathlib, signal, sys, time\n{body}"]


def test_jax_sees_as_many_devices_as_cores_were_asked_for():
    found = work.environment(3, {"XLA_FLAGS": "--other=1 --xla_force_host_platform_device_count=8", "HOME": "here"})
    assert found["XLA_FLAGS"] == "--other=1 --xla_force_host_platform_device_count=3"
    assert (found["NPROC"], found["HOME"]) == ("3", "here")


def test_what_is_killed_is_started_again_and_what_fails_is_not(tmp_path):
    log = tmp_path / "log"
    dies_once = f"""
mark = pathlib.Path({str(tmp_path / "mark")!r})
print("started", flush=True)
if not mark.exists():
    mark.touch()
    os.kill(os.getpid(), signal.SIGKILL)
"""
    assert work.run(python(dies_once), log, 1) == 0
    assert log.read_text() == "started\nstarted\n"
    assert work.run(python("print('again'); sys.exit(2)"), log, 1) == 2
    assert work.run(python("os.kill(os.getpid(), signal.SIGKILL)"), log, 1, retries=1) == -signal.SIGKILL
    assert log.read_text().count("again") == 1


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ties a process to another")
def test_a_run_does_not_outlive_its_worker(tmp_path):
    """The worker is killed, as a node is: then nobody else would end the run."""
    pid = tmp_path / "pid"
    body = f"pathlib.Path({str(pid)!r}).write_text(str(os.getpid())); time.sleep(60)"
    worker = subprocess.Popen(
        [sys.executable, "-c", f"from merlax.experiments.backends import work; work.run({python(body)!r}, "
         f"__import__('pathlib').Path({str(tmp_path / 'log')!r}), 1)"],
        env=os.environ | {"PYTHONPATH": _SOURCE},
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while not (pid.exists() and pid.read_text()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    worker.kill()
    worker.wait()
    while Path(f"/proc/{pid.read_text()}").exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
