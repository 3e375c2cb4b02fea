"""A run that is killed at any moment and resumed ends as if it had never been: bit for bit.

Of every kind of algorithm one; `benchmarks/kills.py` kills all of them, many times.
"""

import random
import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest

from merlax.types import UserError
from tests.support import lives, short
from tests.support.killing import ROWS, options, rows

KILLS = {("rendezvous", "merl"): 6, ("predator-prey", "merl"): 3}  # of others: 1
CASES = [
    *(("rendezvous", name) for name in ("merl", "es", "matd3")),
    ("predator-prey", "merl"),
]


@pytest.fixture(scope="module")
def fates(nursery, tmp_path_factory):
    """All cases, two at a time: each left alone, and killed and resumed."""

    folders = {case: tmp_path_factory.mktemp("-".join(case)) for case in CASES}  # pytest makes them in one thread only

    def one(case):
        folder, command = folders[case], [*options(*case), "--quiet"]
        pace = lives.leave_alone(nursery, folder / "whole", command, folder / "log")
        chance = random.Random("-".join(case))
        first = chance.choice(("a row", "a save"))  # tells how long it takes when all is compiled
        aims = [first, *lives.draw_aims(chance, KILLS.get(case, 1) - 1)]
        return folder, lives.kill_and_resume(nursery, folder / "killed", command, chance, aims, pace)

    with ThreadPoolExecutor(2) as pool:
        return dict(zip(CASES, pool.map(one, CASES), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids="-".join)
def test_a_killed_run_ends_as_if_it_had_never_been(case, fates):
    folder, fate = fates[case]
    assert fate.kills
    assert not fate.faults
    assert len(rows(folder / "whole")) == ROWS
    assert not lives.differences(folder / "killed", folder / "whole")


@pytest.mark.slow
def test_the_kills_fell_into_all_parts_of_a_run(fates):
    kills = [kill for _, fate in fates.values() for kill in fate.kills]
    phases = " ".join(kill.phase for kill in kills)
    for part in ("before", "checkpoint", "last tests and pictures"):
        assert part in phases
    assert {"train", "resume"} <= {kill.command for kill in kills}


@pytest.mark.slow
def test_a_run_that_has_ended_has_nothing_to_resume(nursery, fates, tmp_path):
    folder, _ = fates[CASES[0]]
    assert nursery.run("resume", folder / "whole", log=tmp_path / "log") == 2
    assert "nothing to resume" in (tmp_path / "log").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["progress.csv", "final.json", "champion/weights.npz", "learning_curve.png"])
def test_a_run_that_ended_otherwise_is_noticed(name, tmp_path):
    whole = short.train(tmp_path / "whole").path
    copy = shutil.copytree(whole, tmp_path / "copy")
    assert not lives.differences(copy, whole)
    (copy / name).write_bytes((copy / name).read_bytes().replace(b"0", b"1"))
    assert lives.differences(copy, whole)
    (copy / name).unlink()
    assert lives.differences(copy, whole)


def test_a_run_without_its_pictures_is_not_finished(tmp_path):
    picture = tmp_path / "learning_curve.png"
    with pytest.raises(UserError, match="cannot be written"):
        short.train(tmp_path, callbacks=[lambda row: picture.mkdir(exist_ok=True)])
    picture.rmdir()
    short.resume(tmp_path)
    assert picture.is_file()


def test_older_checkpoints_that_a_kill_left_of_a_finished_run_go_when_it_is_resumed(tmp_path):
    short.train(tmp_path)
    (tmp_path / "checkpoints" / "1").mkdir()
    with pytest.raises(UserError, match="nothing to resume"):
        short.resume(tmp_path)
    assert [path.name for path in (tmp_path / "checkpoints").iterdir()] == ["2"]
