"""Workers on a Ray cluster play as processes of this machine do, and fail with the same sentences."""

import os
import subprocess
import sys
import time
from typing import Any

import pytest

import merlax
from merlax.envs.adapters import workers
from merlax.envs.adapters.workers import WorldFailedError
from merlax.types import UserError
from merlax_worker.episode import Job
from merlax_worker.players import Player

pytest.importorskip("pettingzoo")
ray: Any = pytest.importorskip("ray")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:os.fork")]
NAME = "pettingzoo:tests.probes.signals:make"


@pytest.fixture(autouse=True, scope="module")
def cluster():
    """One of our own with three cores, which ends with these tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("RAY_ADDRESS", raising=False)
        patch.setenv("RAY_AUTH_MODE", "disabled")  # or else Ray leaves a token in the user's home
        ray.init(num_cpus=3, include_dashboard=False, log_to_driver=False, namespace="merlax")
        yield
        workers.stop()
        ray.shutdown()


def play(on: str = "ray", jobs: int = 1, number: int = 2, **options):
    env: Any = merlax.make(NAME, team="sum", workers=number, on=on, **options)
    return workers.play(env, [Player()], [Job((0, k), (0,), (1.0,)) for k in range(jobs)], (False,))


def test_episodes_are_those_of_this_machine_in_the_same_order():
    assert play(jobs=30) == play("here", jobs=30)


@pytest.mark.parametrize(
    ("trouble", "sentence"),
    [
        ("crash", "failed in a worker (ValueError: a broken wire)."),
        ("kill", "A worker that played pettingzoo:tests.probes.signals:make was killed or crashed"),
        ("words", "pays switch 'plenty', which is not one number"),
        ("hang", "has not ended an episode for 1 seconds in a worker"),
    ],
)
def test_a_world_that_fails_is_named_and_the_next_one_is_played(trouble, sentence):
    with pytest.raises(WorldFailedError) as error:
        play(trouble=trouble, timeout=1.0 if trouble == "hang" else 120.0)
    assert sentence in str(error.value)
    assert play()[0].steps == 4


def test_all_free_cores_are_used_unless_told_otherwise():
    env: Any = merlax.make(NAME, team="sum", on="ray")
    workers.stop()
    while ray.available_resources().get("CPU") != 3.0:  # Ray notices later that an actor has gone
        time.sleep(0.1)
    workers.play(env, [Player()], [Job((0, 0), (0,), (1.0,))], (False,))
    assert workers.number(env) == 3


def test_more_workers_than_the_cluster_has_cores_for_are_refused(monkeypatch):
    monkeypatch.setattr("merlax.envs.adapters.actors.START_SECONDS", 3.0)
    workers.stop()
    with pytest.raises(UserError, match=r"not 4 for as many workers; lower --env\.workers"):
        play(number=4)


def test_a_place_that_nobody_knows_is_a_sentence():
    env: Any = merlax.make(NAME, team="sum", on="cloud")
    assert env.findings() == (["--env.on is 'cloud'; episodes are played 'here' or on 'ray'."], True)


def test_a_command_trains_on_a_cluster_and_ends_quietly(tmp_path):
    words = "--env.team sum --env.on ray --env.workers 1 --algorithm ea --population 6 --fitness.episodes 1".split()
    command = [sys.executable, "-m", "merlax.cli", "train", "pettingzoo:mpe2/simple_spread_v3", *words]
    environment = os.environ | {"RAY_AUTH_MODE": "disabled"}
    environment.pop("RAY_ADDRESS", None)
    done = subprocess.run(
        [*command, "--frames", "300", "--quiet", "--out", str(tmp_path / "run")],
        env=environment, capture_output=True, text=True, timeout=180, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert (tmp_path / "run" / "final.json").is_file()
