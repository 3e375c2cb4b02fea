"""Where a worker fails, one sentence names the world."""

import time
from typing import Any

import pytest

import merlax
from merlax.envs.adapters import workers
from merlax.envs.adapters.workers import WorldFailedError
from merlax_worker.episode import Job
from merlax_worker.players import Player

pytest.importorskip("pettingzoo")
NAME = "pettingzoo:tests.probes.signals:make"


@pytest.fixture(autouse=True, scope="module")
def no_worker_is_left():
    yield
    workers.stop()


def play(jobs: int = 1, **options):
    env: Any = merlax.make(NAME, team="sum", workers=2, **options)
    return workers.play(env, [Player()], [Job((0, k), (0,), (1.0,)) for k in range(jobs)], (True,))


def test_results_come_in_the_order_of_the_jobs():
    every, alone = play(jobs=9), play()
    assert [result.steps for result in every] == [4] * 9
    assert every[0].fitness == alone[0].fitness
    assert len({result.fitness for result in every}) > 1


@pytest.mark.parametrize(
    ("trouble", "sentence"),
    [
        ("crash", "failed in a worker (ValueError: a broken wire)."),
        ("kill", "A worker that played pettingzoo:tests.probes.signals:make was killed or crashed"),
        ("words", "pays switch 'plenty', which is not one number"),
    ],
)
def test_a_world_that_fails_is_named_and_the_next_one_is_played(trouble, sentence):
    with pytest.raises(WorldFailedError) as error:
        play(trouble=trouble)
    assert sentence in str(error.value)
    assert play()[0].steps == 4


def test_a_world_that_hangs_is_stopped():
    start = time.monotonic()
    with pytest.raises(WorldFailedError, match="has not ended an episode for 1 seconds in a worker"):
        play(trouble="hang", timeout=1.0)
    assert time.monotonic() - start < 30
