"""A worker on a cluster does what it is asked; on a real one: tests/envs/adapters/test_actors.py."""

import os
import signal

from merlax_worker.actor import Worker


def test_it_calls_what_it_is_asked_in_its_own_environment(monkeypatch):
    monkeypatch.setenv("MERLAX_SOMETHING", "before")
    handler = signal.getsignal(signal.SIGINT)
    try:
        worker = Worker({"MERLAX_SOMETHING": "after"})
        assert worker.call(os.getenv, "MERLAX_SOMETHING") == "after"
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, handler)
