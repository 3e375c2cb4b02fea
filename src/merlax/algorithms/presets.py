"""The two presets, side by side: `paper` (its tables and Algorithm 1) and `fast` (the default)."""

from __future__ import annotations

import dataclasses
from typing import Any

from merlax import algorithms
from merlax.algorithms.ea import EaConfig
from merlax.algorithms.es import EsConfig
from merlax.algorithms.gradient import GradientConfig
from merlax.algorithms.merl import MerlConfig
from merlax.algorithms.opponents import DDPG, AdversaryConfig
from merlax.core.evolution import EvolutionConfig
from merlax.core.td3 import TD3Config
from merlax.types import UserError

PRESETS = ("fast", "paper")

# Table 2 of the paper; where it is silent, FACTS §4.
PAPER_ROVER = MerlConfig(
    evolution=EvolutionConfig(population=10, elites=4, tournament=3, fitness_episodes=10),
    td3=TD3Config(
        actor_rate=5e-5,
        critic_rate=1e-5,
        target_weight=1e-5,
        discount=0.5,
        batch=512,
        buffer=100_000,
        reward_scale=10.0,
        order="sequential",
        updates_per_frame=1.0,
    ),
    explore_episodes=50,
    noise=0.4,
)

# Tuned on seeds 1 to 8; docs/algorithm.md gives the reason for each difference.
FAST_ROVER = dataclasses.replace(
    PAPER_ROVER,
    evolution=dataclasses.replace(PAPER_ROVER.evolution, same_instances=True, fitness_memory=50),
    td3=dataclasses.replace(
        PAPER_ROVER.td3,
        actor_rate=5e-4,
        critic_rate=2e-3,
        target_weight=0.01,
        batch=256,
        reward_scale=1.0,
        order="joint",
        updates_per_frame=0.0125,
        action_penalty=0.002,
    ),
)

# Table 1 of the paper; where it is silent, FACTS §4.
PAPER_PARTICLES = dataclasses.replace(
    PAPER_ROVER,
    td3=dataclasses.replace(
        PAPER_ROVER.td3,
        actor_rate=0.01,
        critic_rate=0.01,
        target_weight=0.01,
        discount=0.95,
        batch=1024,
        buffer=1_000_000,
        reward_scale=1.0,
    ),
    explore_episodes=10,
)

# Tuned on seeds 1 and 2 of predator-prey (benchmarks/tune_particles.py, docs/algorithm.md).
FAST_PARTICLES = dataclasses.replace(
    PAPER_PARTICLES,
    # An opponent that learns outdates what is known of a team, so the memory is shorter than the rovers'.
    evolution=dataclasses.replace(PAPER_PARTICLES.evolution, same_instances=True, fitness_memory=10),
    td3=dataclasses.replace(
        PAPER_PARTICLES.td3,
        actor_rate=1e-3,
        critic_rate=2e-3,
        discount=0.8,
        reward_scale=10.0,
        batch=512,
        buffer=200_000,
        order="joint",
        updates_per_frame=0.02,
        action_penalty=0.002,
    ),
)

_MERL: dict[str, dict[str, MerlConfig]] = {
    "particles": {"paper": PAPER_PARTICLES, "fast": FAST_PARTICLES},
    "rover": {"paper": PAPER_ROVER, "fast": FAST_ROVER},
    # Nothing is random in this world, so one episode tells a team's fitness (FACTS §2), and what is hard in it is
    # left to evolution: `fast` spends its frames on a larger population instead of 50 noisy episodes of the learner.
    "two-rovers": {
        "paper": dataclasses.replace(
            PAPER_ROVER, evolution=dataclasses.replace(PAPER_ROVER.evolution, fitness_episodes=1)
        ),
        "fast": dataclasses.replace(
            FAST_ROVER,
            evolution=dataclasses.replace(FAST_ROVER.evolution, population=20, fitness_episodes=1),
            explore_episodes=5,
        ),
    },
}

_PARTICLES = ("predator-prey", "predator-prey-hard", "physical-deception", "keep-away")
_BASELINE_DISCOUNT = 0.97  # Table 2: MERL's learner sees 0.5, MATD3 and MADDPG 0.97; in Table 1 all see 0.95
# Joint critics cost a dozen times MERL's: 8 rounds per 2,500 frames end a run of rover-3 within 12 minutes.
_JOINT_UPDATES = 0.0032


def preset(name: str, world: str | None, algorithm: str = "merl") -> Any:
    """The configuration of an algorithm for a world; a world without one of its own takes the rover domain's.

    The baselines share MERL's settings, half by half, so that a comparison compares methods.
    """
    if name not in PRESETS:
        raise UserError(f"There is no preset '{name}'; choose from {', '.join(PRESETS)}.")
    algorithms.check(algorithm)
    family = _family(world)
    merl = _MERL[family][name]
    if algorithm == "merl":
        return merl
    if algorithm == "ea":
        return EaConfig(merl.evolution, merl.actor_hidden)
    if algorithm == "es":
        judging = merl.evolution
        return EsConfig(fitness_episodes=judging.fitness_episodes, same_instances=judging.same_instances)
    return _gradient(merl, algorithm, family)


def adversary(name: str, world: str | None) -> AdversaryConfig:
    """How a world's opponent learns: sizes, rates, batch and buffer as the team's learner (FACTS §4).

    Its rewards are of another size (a touch costs the prey 10), so that they and its discount are Table 1's.
    """
    merl = preset(name, world)
    theirs = {field: getattr(PAPER_PARTICLES.td3, field) for field in ("discount", "reward_scale")}
    learner = dataclasses.replace(merl.td3, order="joint", **theirs, **DDPG)
    return AdversaryConfig(learner, merl.actor_hidden, merl.critic_hidden)


def _family(world: str | None) -> str:
    if world in _PARTICLES:
        return "particles"
    return "two-rovers" if world == "two-rovers" else "rover"


def _gradient(merl: MerlConfig, algorithm: str, family: str) -> GradientConfig:
    """MERL's learner alone, with what the method's name says."""
    updates = merl.td3.updates_per_frame
    changes: dict[str, Any] = {} if family == "particles" else {"discount": _BASELINE_DISCOUNT}
    if algorithm in ("ddpg", "maddpg"):
        changes |= DDPG
    if algorithm in ("matd3", "maddpg"):
        changes |= {"critic": "joint", "order": "joint"}
        changes |= {"updates_per_frame": updates if merl.td3.order == "sequential" else _JOINT_UPDATES}
    return GradientConfig(
        td3=dataclasses.replace(merl.td3, **changes),
        reward="agent" if family == "particles" else "mixed",  # as in the paper (FACTS §4)
        explore_episodes=10 if family == "particles" else 50,  # Tables 1 and 2
        noise=merl.noise,
        actor_hidden=merl.actor_hidden,
        critic_hidden=(300, 300) if algorithm in ("matd3", "maddpg") else merl.critic_hidden,
    )
