"""Every worker has cores of its own, as far as they go."""

import os
import subprocess
import sys

import pytest

from merlax.experiments import cores
from merlax.types import UserError


def test_each_worker_gets_a_core_of_its_own():
    assert cores.groups(None, [0, 1, 4, 5]) == [[0], [1], [4], [5]]
    assert cores.groups(1, [0, 1]) == [[0, 1]]
    assert cores.groups(2, [0, 1, 2, 3, 4]) == [[0, 1], [2, 3, 4]]
    assert cores.groups(3, [0, 1]) == [[0], [1], [0]]
    with pytest.raises(UserError, match="workers is 0"):
        cores.groups(0, [0])


def test_runs_that_need_several_cores_share_none():
    assert cores.groups(None, [0, 1, 2, 3, 4], 2) == [[0, 1], [2, 3]]
    assert cores.groups(1, [0, 1, 2, 3], 2) == [[0, 1]]
    with pytest.raises(UserError, match="cpu=3, but this machine has 2"):
        cores.groups(None, [0, 1], 3)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system cannot tie a process to cores")
def test_a_process_stays_on_its_cores():
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        last = cores.available()[-1]
        cores.pin(process.pid, [last])
        assert os.sched_getaffinity(process.pid) == {last}
    finally:
        process.communicate(b"\n")


def test_a_process_that_has_gone_is_left_alone():
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    cores.pin(process.pid, cores.available())
