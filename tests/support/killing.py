"""Tiny runs of the command line in processes of their own, and what a test asks of them while they go on."""

import csv
import os
import time
from collections.abc import Callable
from pathlib import Path

from tests.support.nursery import Nursery

ROWS = 8  # generations of one of these runs
PATIENCE = 240  # seconds to wait for anything

_ACTOR = "--actor-hidden 8".split()
_LEARNER = ("--td3.critic-hidden 8 --td3.batch 8 --td3.buffer 400 --td3.burn-in 2 --td3.updates-per-frame 0.2").split()
_POPULATION = "--population 6 --fitness.episodes 1".split()
_OPPONENT = (
    "--env.horizon 4 --opponent.actor-hidden 8 --opponent.td3.critic-hidden 8 --opponent.td3.batch 8"
    " --opponent.td3.buffer 400 --opponent.td3.burn-in 2 --opponent.td3.updates-per-frame 0.2"
).split()


def options(world: str, algorithm: str) -> list[str]:
    """A tiny run: networks of a few units, ROWS generations."""
    horizon = 3 if world == "rendezvous" else 4
    if algorithm == "es":
        tiny, episodes = "--population 6 --fitness-episodes 1".split(), 6
    elif algorithm == "ea":
        tiny, episodes = _POPULATION, 6
    elif algorithm == "merl" and world == "predator-prey":  # which has two learners
        learners = [word.replace("--td3", f"--learners.{i}") for i in (0, 1) for word in _LEARNER]
        tiny, episodes = [*_POPULATION, *learners, "--explore-episodes", "2"], 16
    elif algorithm == "merl":
        tiny, episodes = [*_POPULATION, *_LEARNER, "--explore-episodes", "2"], 14
    else:
        tiny, episodes = [*_LEARNER, "--explore-episodes", "6"], 6
    more = _OPPONENT if world == "predator-prey" else []
    return [world, "--algorithm", algorithm, *tiny, *_ACTOR, *more, "--frames", str(ROWS * episodes * horizon)]


ENDLESS = [*options("rendezvous", "merl")[:-1], "100000000"]


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


def wait_for(condition: Callable[[], object], process: int) -> bool:
    """Until it holds; False if the process ended first."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if ended(process):
            return False
        if time.monotonic() > deadline:
            raise TimeoutError(f"nothing happened within {PATIENCE} seconds")
        time.sleep(0.005)
    return True


def generations(run: Path) -> list[int]:
    """Which ones progress.csv has."""
    return [int(row["generation"]) for row in rows(run)]


def begin(nursery: Nursery, out: Path, log: Path, *command: object) -> int:
    """A run that has written at least three rows; its process."""
    process = nursery.start(*command, log=log)
    before = len(rows(out))
    assert wait_for(lambda: len(rows(out)) >= before + 3, process), log.read_text()
    return process
