"""A run saves now and then, at next to no cost, and says from where it goes on."""

import shutil
from types import SimpleNamespace

import pytest

from merlax.runs import checkpoints
from merlax.runs import saver as saver_module
from merlax.runs.checkpoints import Position
from merlax.runs.saver import Saver
from merlax.types import UserError
from tests.support.states import some_state

CONFIG = {"world": "rover-3", "algorithm": "merl", "seed": 1}


def test_a_run_says_that_it_has_none_yet_until_it_has_one(tmp_path):
    saver = Saver(tmp_path, CONFIG)
    assert checkpoints.reached(saver.folder) is None
    saver.begin()
    assert checkpoints.reached(saver.folder) == 0
    saver.save(Position(3), some_state(3))
    saver.begin()
    assert checkpoints.reached(saver.folder) == 3
    saver.save(Position(4, rounds=2), some_state(4))  # within the fifth
    assert checkpoints.reached(saver.folder) == 4
    saver.close()
    shutil.rmtree(saver.folder)
    assert checkpoints.reached(saver.folder) is None


def test_an_interval_of_0_saves_every_time_and_a_long_one_never(tmp_path):
    often, seldom = Saver(tmp_path / "often", CONFIG, 0.0), Saver(tmp_path / "seldom", CONFIG, 1000.0)
    for saver in (often, seldom):
        for generation in (1, 2):
            saver.maybe(Position(generation), some_state(generation))
        saver.close()
    assert checkpoints.generations(often.folder) == [1, 2]
    assert checkpoints.generations(seldom.folder) == []
    assert often.seconds > 0 == seldom.seconds
    assert often.last_good() == f"the last good checkpoint is '{often.folder / '2'}'"
    assert seldom.last_good() == "there is no checkpoint yet"


def test_checkpoints_that_take_long_come_less_often(tmp_path, monkeypatch):
    clock = iter(range(0, 1000, 10))  # every look at it is ten seconds after the last
    monkeypatch.setattr(saver_module, "time", SimpleNamespace(monotonic=lambda: float(next(clock))))
    saver = Saver(tmp_path, CONFIG, 5.0)
    monkeypatch.setattr(checkpoints, "write", lambda *args: None)
    saver.maybe(Position(1), {})
    assert saver.seconds == 10.0
    assert saver._due == 40.0 + 10.0 / saver_module.LARGEST_SHARE
    saver.close()


@pytest.mark.parametrize("every", [-1.0, float("nan"), float("inf")])
def test_an_interval_that_is_none_is_refused(tmp_path, every):
    with pytest.raises(UserError, match="give a number of seconds"):
        Saver(tmp_path, CONFIG, every)
