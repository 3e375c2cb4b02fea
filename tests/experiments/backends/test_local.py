"""Processes of this machine: pinned, and no more than it has cores for."""

import os
import sys

import pytest

from merlax.experiments import cores
from merlax.experiments.backends import Local, Order, Resources
from merlax.experiments.backends.base import LOG
from merlax.types import UserError


def test_a_run_that_asks_for_all_cores_is_alone():
    here = len(cores.available())
    assert Local(Resources(cpu=here)).slots == 1
    with pytest.raises(UserError, match=f"cpu={here + 1}, but this machine has {here}"):
        Local(Resources(cpu=here + 1))
    with pytest.raises(UserError, match="--on ray"):
        Local(Resources(gpu=1.0))


def test_an_order_runs_in_its_own_process_and_says_how_it_ended(tmp_path):
    engine, prepared = Local(Resources(cpu=1)), []
    command = (sys.executable, "-c", "import os; print(len(os.sched_getaffinity(0))); raise SystemExit(3)")
    ticket = engine.start(Order("name", tmp_path, command, lambda: prepared.append(True)))
    ticket.process.wait()
    assert engine.poll(ticket) == 3
    assert prepared
    if hasattr(os, "sched_setaffinity"):
        assert (tmp_path / LOG).read_text() == "1\n"
