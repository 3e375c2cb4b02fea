"""A run that is killed at any moment and resumed ends as if it had never been: bit for bit."""

import csv
import os
import random
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.nursery import Nursery

from merlax import algorithms

ACTOR, LEARNER = "--actor-hidden 8".split(), "--critic-hidden 8 --td3.batch 8 --td3.buffer 400 --td3.burn-in 2".split()
POPULATION = "--evolution.population 6 --evolution.fitness-episodes 1".split()
OPPONENT = (
    "--env.horizon 4 --adversary.actor-hidden 8 --adversary.critic-hidden 8 --adversary.td3.batch 8"
    " --adversary.td3.buffer 400 --adversary.td3.burn-in 2 --adversary.td3.updates-per-frame 0.2"
).split()
KILLS = {("rendezvous", "merl"): 6}  # others: 2, one of them while a checkpoint is saved
ROWS = 8
CASES = [(world, name) for world in ("rendezvous", "predator-prey") for name in algorithms.names()]


def options(world: str, algorithm: str) -> list[str]:
    """A tiny run: networks of a few units, ROWS generations."""
    horizon = 3 if world == "rendezvous" else 4
    if algorithm == "es":
        tiny, episodes = ["--population", "6", "--fitness-episodes", "1"], 6
    elif algorithm == "ea":
        tiny, episodes = POPULATION, 6
    elif algorithm == "merl":
        tiny, episodes = [*POPULATION, *LEARNER, "--td3.updates-per-frame", "0.2", "--explore-episodes", "2"], 14
    else:
        tiny, episodes = [*LEARNER, "--td3.updates-per-frame", "0.2", "--explore-episodes", "6"], 6
    more = OPPONENT if world == "predator-prey" else []
    return [world, "--algorithm", algorithm, *tiny, *ACTOR, *more, "--frames", str(ROWS * episodes * horizon)]


def rows(run: Path) -> list[dict[str, str]]:
    """What progress.csv says, but for the clock."""
    try:
        with (run / "progress.csv").open(newline="") as file:
            return [{name: cell for name, cell in row.items() if name != "seconds"} for row in csv.DictReader(file)]
    except OSError:
        return []


def ended(process: int) -> bool:
    """Whether it has ended, though nobody may have asked after it yet."""
    os.kill(process, 0)  # it stays until its parent asks
    return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"


def wait_for(condition, process):
    """Until it holds; False if the process ended first."""
    deadline = time.monotonic() + 120
    while not condition():
        if ended(process):
            return False
        assert time.monotonic() < deadline
        time.sleep(0.005)
    return True


def kill_and_resume(nursery: Nursery, folder: Path, command: list[str], seed: int, kills: int) -> int:
    """Begin a run, kill it again and again, let it end; how many kills fell into a save."""
    chance, saves = random.Random(seed), 0
    out, log = folder / "killed", folder / "killed.log"
    begin = ["train", *command, "--out", out]
    for kill in range(kills):
        process = nursery.start(*begin, "--checkpoint-every", 0, log=log)
        begin = ["resume", out]
        done = len(rows(out))
        in_a_save = (seed + kill) % 2
        moment = (lambda: unfinished(out)) if in_a_save else (lambda done=done: len(rows(out)) not in (0, done))
        wait_for(moment, process)
        time.sleep(chance.uniform(0.0, 0.002 if in_a_save else 0.3))
        os.kill(process, signal.SIGKILL)
        nursery.wait(process)
        saves += bool(unfinished(out))
    if not (out / "final.json").exists():
        assert nursery.run("resume", out, "--checkpoint-every", 0.2, log=log) == 0, log.read_text()
    return saves


def unfinished(run: Path) -> list[Path]:
    """Checkpoints that are being written, or never were completely."""
    return list((run / "checkpoints").glob("*.orbax-checkpoint-tmp*"))


@pytest.fixture(scope="module")
def outcomes(nursery, tmp_path_factory):
    """All cases, two at a time: each uninterrupted, and killed and resumed."""

    def one(number_and_case):
        number, case = number_and_case
        folder = tmp_path_factory.mktemp("-".join(case))
        command = [*options(*case), "--quiet"]
        assert nursery.run("train", *command, "--out", folder / "whole", log=folder / "whole.log") == 0, (
            folder / "whole.log"
        ).read_text()
        return folder, kill_and_resume(nursery, folder, command, number, KILLS.get(case, 2))

    with ThreadPoolExecutor(2) as pool:
        return dict(zip(CASES, pool.map(one, enumerate(CASES)), strict=True))


@pytest.mark.parametrize("case", CASES, ids="-".join)
def test_a_killed_run_ends_as_if_it_had_never_been(case, outcomes):
    folder, _ = outcomes[case]
    assert len(rows(folder / "whole")) == ROWS
    assert rows(folder / "killed") == rows(folder / "whole")
    for name in ("champion", "opponent") if case[0] == "predator-prey" else ("champion",):
        for file in ("policy.json", "weights.npz"):
            assert (folder / "killed" / name / file).read_bytes() == (folder / "whole" / name / file).read_bytes()
    assert not (folder / "killed" / "checkpoints").exists()  # of a run that has ended, nobody needs them


def test_some_kills_fell_into_a_save(outcomes):
    assert sum(saves for _, saves in outcomes.values()) >= 3


def test_a_run_that_has_ended_has_nothing_to_resume(nursery, outcomes, tmp_path):
    folder, _ = outcomes[CASES[0]]
    assert nursery.run("resume", folder / "whole", log=tmp_path / "log") == 2
    assert "nothing to resume" in (tmp_path / "log").read_text()
