"""Signals are noted instead of died of, and a folder belongs to one process at a time."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from merlax.runs import process
from merlax.types import UserError


def test_a_folder_is_locked_once_and_free_after_its_release(tmp_path):
    held = process.lock(tmp_path)
    with pytest.raises(UserError, match="Another process works in"):
        process.lock(tmp_path)
    held.release()
    process.lock(tmp_path).release()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_is_noted_and_the_second_one_stops_at_once(number, capfd):
    before = signal.getsignal(number)
    with process.caught_signals() as caught:
        assert caught.number is None
        os.kill(os.getpid(), number)
        assert caught.number == number
        assert "stopping after this piece of work" in capfd.readouterr().err
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(number) is before


def test_in_another_thread_signals_are_left_alone():
    handlers = []

    def run():
        with process.caught_signals() as caught:
            handlers.append((signal.getsignal(signal.SIGINT), caught.number))

    before = signal.getsignal(signal.SIGINT)
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert handlers == [(before, None)]


def test_memory_is_counted_in_megabytes():
    found = process.peak_memory_mb()
    assert found is not None
    assert 50 < found < 100_000  # Python with JAX


BUSY = """
import os, signal, sys, threading
import jax, jax.numpy as jnp
from merlax.runs import process

def spin(x):
    return jax.lax.fori_loop(0, 2**31 - 2, lambda i, x: jnp.sin(x) + 1.0, x)

process.own()
with process.caught_signals() as caught:
    caught.nothing_to_lose = sys.argv[1] == "nothing-to-lose"
    program = jax.jit(spin).lower(jnp.ones(64)).compile()
    print("busy", flush=True)
    program(jnp.ones(64)).block_until_ready()
print("never")
"""


@pytest.mark.slow
@pytest.mark.parametrize(("case", "signals"), [("work-to-lose", 2), ("nothing-to-lose", 1)])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_process_in_a_long_compiled_call_ends_within_a_second(case, signals, number):
    command, pipe = [sys.executable, "-c", BUSY, case], subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "busy\n"
        time.sleep(0.5)  # it is in the call now
        for _ in range(signals - 1):
            process.send_signal(number)
            time.sleep(1.0)
            assert process.poll() is None
        start = time.monotonic()
        process.send_signal(number)
        assert process.wait(30) == 128 + number
        assert time.monotonic() - start < 2.5  # some 0.01 s where nothing else runs
        assert process.stderr is not None
        assert "`merlax resume` continues the run" in process.stderr.read()


@pytest.mark.slow
def test_the_memory_of_whoever_started_a_process_is_not_its_own():
    ours = np.ones(2**27, np.uint8)  # 128 MB more than Python needs
    told = "from merlax.runs import process; print(process.peak_memory_mb())"
    small = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    mine = process.peak_memory_mb()
    assert mine is not None
    assert ours.size < 2**20 * mine
    assert int(small.stdout) < mine
