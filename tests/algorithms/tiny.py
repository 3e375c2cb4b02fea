"""Every algorithm small: a configuration that compiles and learns a tiny world in seconds."""

import dataclasses

from tests.darts import Darts

from merlax import algorithms
from merlax.algorithms import presets


def tiny(name):
    """The preset of any algorithm with small networks, few teams and larger steps."""
    config = presets.preset("fast", None, name)
    fields = {field.name for field in dataclasses.fields(config)}
    changes = {"actor_hidden": (16,)}
    if "evolution" in fields:
        sizes = {"population": 12, "elites": 3, "fitness_episodes": 4, "mutation_strength": 0.2}
        changes["evolution"] = dataclasses.replace(config.evolution, **sizes)
    if "td3" in fields:
        # As many rows as make it worth while for two devices to share a gradient step.
        sizes = {"batch": 512, "buffer": 2048, "burn_in": 1, "updates_per_frame": 0.2}
        rates = {"actor_rate": 0.003, "critic_rate": 0.01, "target_weight": 0.05}
        changes["td3"] = dataclasses.replace(config.td3, **sizes, **rates)
        changes |= {"critic_hidden": (32,), "explore_episodes": 180}  # enough to learn in the first generation
    if name == "es":
        changes |= {"population": 30, "fitness_episodes": 4, "rate": 0.05}
    return dataclasses.replace(config, **changes)


def world(name):
    """A world that an algorithm learns with this configuration: it pays the learners, or else the team."""
    return Darts("agent" if hasattr(tiny(name), "td3") else "team")


def make(name):
    return algorithms.make(name, world(name), tiny(name))
