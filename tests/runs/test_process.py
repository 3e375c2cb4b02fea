"""Signals are noted instead of died of, and a folder belongs to one process at a time."""

import os
import signal
import threading

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
        assert "stopping after this generation" in capfd.readouterr().err
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
