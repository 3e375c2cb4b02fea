"""One run by several real processes: bit by bit the run of one process, and none of them waits for one that is gone."""

import os
import signal
import socket
import time
from pathlib import Path

import numpy as np
import pytest

from merlax.runs import hosts
from merlax.types import UserError
from tests.support.killing import ROWS, options, rows, wait_for
from tests.support.nursery import Nursery

SECONDS = 20.0  # for the others to end, on a machine that has other things to do


def together(nursery: Nursery, number: int, log: Path, *command: object) -> list[int]:
    """So many processes of one device each that meet at a port of their own."""
    with socket.socket() as free:
        free.bind(("", 0))
        port = free.getsockname()[1]
    meeting = ("--coordinator", f"127.0.0.1:{port}", "--processes", number, "--process")
    return [
        nursery.start(*command, *meeting, i, log=log.with_suffix(f".{i}"), devices=1) for i in range(number)
    ]  # fmt: skip


def read(log: Path, number: int) -> list[str]:
    """What each process said, but for Gloo's greeting."""
    logs = [log.with_suffix(f".{i}").read_text() for i in range(number)]
    return ["".join(line for line in text.splitlines(keepends=True) if "[Gloo]" not in line) for text in logs]


def champion(run: Path) -> dict[str, np.ndarray]:
    with np.load(run / "champion" / "weights.npz") as arrays:
        return dict(arrays)


def assert_same(one: Path, other: Path) -> None:
    assert rows(one) == rows(other)
    first, second = champion(one), champion(other)
    assert first.keys() == second.keys()
    for name, array in first.items():
        np.testing.assert_array_equal(array, second[name])
    finals = [(run / "final.json").read_text().split('"peak')[0] for run in (one, other)]
    assert finals[0] == finals[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "command"),
    [
        (4, [*options("rendezvous", "ea"), "--population", "7", "--frames", "168"]),
        # On two: as tests compile, without optimisation, four uneven parts of its rollouts differ in a last bit.
        (2, options("predator-prey", "merl")),
    ],
    ids=["four processes and an uneven population", "two learners and an opponent that learns"],
)
def test_several_processes_make_the_run_of_one_with_as_many_devices(number, command, nursery, tmp_path):
    train = ["train", *command, "--quiet", "--out"]
    alone = nursery.start(*train, tmp_path / "alone", log=tmp_path / "alone.log", devices=number)
    assert nursery.wait(alone) == 0, (tmp_path / "alone.log").read_text()
    processes = together(nursery, number, tmp_path / "log", *train, tmp_path / "run")
    assert [nursery.wait(process) for process in processes] == [0] * number, read(tmp_path / "log", number)
    assert len(rows(tmp_path / "alone")) == ROWS
    assert_same(tmp_path / "run", tmp_path / "alone")
    assert read(tmp_path / "log", number) == [""] * number


@pytest.mark.slow
def test_a_process_that_is_killed_ends_the_others_and_the_run_goes_on_with_any_number(nursery, tmp_path):
    """First the second process is killed, then the first one; at last one process alone goes on to the end."""
    command = [*options("rendezvous", "merl"), "--frames", str(24 * 14 * 3)]
    whole = nursery.start("train", *command, "--quiet", "--out", tmp_path / "whole", log=tmp_path / "whole.log")
    assert nursery.wait(whole) == 0
    run, often = tmp_path / "run", ("--checkpoint-every", "0")
    train = ("train", *command, *often, "--out", run, "--quiet")
    for victim, order in ((1, train), (0, ("resume", run, *often, "--quiet"))):
        before, log = len(rows(run)), tmp_path / f"log{victim}"
        processes = together(nursery, 2, log, *order)
        assert wait_for(lambda before=before: len(rows(run)) > before + 3, processes[0]), read(log, 2)
        os.kill(processes[victim], signal.SIGKILL)
        began = time.monotonic()
        codes = [nursery.wait(process) for process in processes]
        assert time.monotonic() - began < SECONDS
        assert codes[victim] == -signal.SIGKILL
        assert codes[1 - victim] == 2
        assert f"merlax: {hosts.LOST}" in read(log, 2)[1 - victim].splitlines()
    assert read(tmp_path / "log1", 2)[0].count("\n") == 1  # JAX has more to say only where the first one is gone
    assert nursery.run("resume", run, "--quiet", log=tmp_path / "last") == 0, (tmp_path / "last").read_text()
    assert "was made by 2 process(es) with 2 devices in all and goes on with 1 and 2" in (tmp_path / "last").read_text()
    assert_same(run, tmp_path / "whole")


@pytest.mark.slow
def test_processes_with_different_settings_are_refused_and_nothing_is_written(nursery, tmp_path):
    with socket.socket() as free:
        free.bind(("", 0))
        port = free.getsockname()[1]
    processes = [
        nursery.start(
            "train", *options("rendezvous", "ea"), "--seed", 5 + i, "--out", tmp_path / "run", "--quiet",
            "--coordinator", f"127.0.0.1:{port}", "--processes", 2, "--process", i,
            log=tmp_path / f"log.{i}", devices=1,
        )
        for i in range(2)
    ]  # fmt: skip
    assert [nursery.wait(process) for process in processes] == [2, 2]
    for said in read(tmp_path / "log", 2):
        assert "merlax: Process 1 has other settings than process 0" in said
        assert said.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_a_meeting_needs_all_three_or_a_cluster(refuses, monkeypatch):
    train = ["train", "two-rovers", "--out", "run"]
    refuses([*train, "--coordinator", "here:1234"], "all of --coordinator, --processes and --process")
    refuses([*train, "--coordinator", "here", "--processes", "2", "--process", "0"], "such as 10.0.0.1:1234")
    refuses([*train, "--coordinator", "here:1", "--processes", "2", "--process", "2"], "number them from 0 to 1")
    refuses([*train, "--distributed", "--go-on"], "--go-on is for one process")


def test_alone_there_is_nobody_to_ask():
    assert hosts.count() == 1
    assert hosts.is_first()
    assert hosts.gather([3, -1]).tolist() == [[3, 2**32 - 1]]
    assert hosts.announce(lambda: 5) == 5
    hosts.compare({"anything": 1})
    with pytest.raises(UserError, match="different numbers"):
        hosts.refuse_different(np.array([1, 1, 2]))


def test_only_what_a_lost_process_leaves_is_told_so(monkeypatch):
    monkeypatch.setattr(hosts, "_joined", True)
    with pytest.raises(hosts.LostError, match="merlax resume"), hosts.losses():
        raise ValueError("UNKNOWN: Gloo AllGather failed: Connection closed by peer")
    with pytest.raises(ValueError, match="shapes"), hosts.losses():
        raise ValueError("shapes differ")
