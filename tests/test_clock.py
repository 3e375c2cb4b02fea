"""A clock that is set back changes nothing."""

import time

import numpy as np
from tests.rendezvous import Rendezvous
from tests.settings import TINY

import merlax


def test_a_clock_that_is_set_back_all_the_time_changes_nothing(tmp_path, monkeypatch):
    def train(name):
        return merlax.train(
            Rendezvous(), frames=400, config=TINY, out=tmp_path / name, quiet=True, checkpoint_every=0.0
        ).progress

    usual = train("usual")
    now = [2e9]

    def earlier():
        now[0] -= 3600.0
        return now[0]

    monkeypatch.setattr(time, "time", earlier)
    monkeypatch.setattr(time, "time_ns", lambda: int(earlier() * 1e9))
    strange = train("strange")
    assert now[0] < 2e9  # somebody did look at it
    assert (np.diff(strange["seconds"]) >= 0).all()
    assert len(strange["generation"]) > 2
    for name in usual.keys() - {"seconds"}:
        np.testing.assert_array_equal(strange[name], usual[name])
