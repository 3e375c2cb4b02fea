"""Every algorithm small: settings that compile and learn a tiny world in seconds."""

import dataclasses
from typing import Any

from merlax.algorithms import Algorithm, Game, presets
from merlax.core.evolution.operators import GaussianMutation
from merlax.core.evolution.selection import TournamentSelection
from tests.probes.darts import Darts

LEARNER = {"batch": 128, "buffer": 2048, "burn_in": 1, "updates_per_frame": 0.2, "critic_hidden": (32,),
           "actor_rate": 0.003, "critic_rate": 0.01, "target_weight": 0.05}  # fmt: skip


def tiny(name: str) -> Algorithm:
    """The preset of any algorithm with small networks, few teams and larger steps."""
    algorithm: Any = presets.preset("fast", None, name)
    changes: dict[str, Any] = {"actor_hidden": (16,)}
    if name in ("merl", "ea"):
        changes |= {
            "population": 12,
            "selection": TournamentSelection(elites=3),
            "mutation": GaussianMutation(strength=0.2),
            "fitness": dataclasses.replace(algorithm.fitness, episodes=4),
        }
    if name == "es":
        changes |= {"population": 30, "fitness_episodes": 4, "rate": 0.05}
    if name == "merl":
        changes["learners"] = tuple(dataclasses.replace(learner, **LEARNER) for learner in algorithm.learners)
    if hasattr(algorithm, "learner"):
        learner = dataclasses.replace(algorithm.learner, **LEARNER)
        # As many rows as make it worth while for two devices to share a gradient step.
        changes["learner"] = dataclasses.replace(learner, batch=512) if learner.sees_all else learner
    if hasattr(algorithm, "explore_episodes"):
        changes["explore_episodes"] = 180  # enough to learn in the first generation
    return dataclasses.replace(algorithm, **changes)


def world(name: str) -> Darts:
    """A world that an algorithm learns with these settings: it pays the learners, or else the team."""
    return Darts("team" if name in ("ea", "es") else "agent")


def make(name: str) -> Game:
    """The algorithm on that world."""
    return Game(world(name), tiny(name))
