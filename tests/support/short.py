"""Runs that end within a moment, in this process: EA with six teams of a few units."""

from pathlib import Path
from typing import Any

import merlax
from tests.probes.rendezvous import Rendezvous

WORLD = Rendezvous()
SETTINGS = {"population": 6, "fitness": {"episodes": 1}, "actor_hidden": [8]}
GENERATION = 6 * WORLD.horizon  # frames


def train(out: Path, generations: int = 2, algorithm: Any = "ea", **options: Any) -> merlax.Run:
    """A run of so many generations."""
    given = {"frames": generations * GENERATION, "settings": SETTINGS, "quiet": True} | options
    return merlax.train(WORLD, algorithm, out=out, **given)


def learn(out: Path, **options: Any) -> merlax.Run:
    """A run of MERL of three generations, whose batches are large enough to be split over two devices."""
    learner = {"batch": 512, "burn_in": 1, "buffer": 2000, "critic_hidden": [8], "updates_per_frame": 0.01}
    settings = SETTINGS | {"learners": [learner], "explore_episodes": 200}
    return train(out, algorithm="merl", **{"settings": settings, "frames": 3 * 212 * WORLD.horizon} | options)


def stopped(out: Path, generations: int, **options: Any) -> merlax.Run:
    """A run of three more generations than it gets: a callback ends it, after a checkpoint."""
    return train(out, generations + 3, callbacks=[lambda row: row["generation"] == generations], **options)


def resume(out: Path, **options: Any) -> merlax.Run:
    """Continue one of these."""
    return merlax.resume(out, env=WORLD, quiet=True, **options)
