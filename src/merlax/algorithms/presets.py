"""Algorithms by name, in two presets side by side: `paper` (its tables and Algorithm 1) and `fast` (the default)."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal, overload

from merlax import config
from merlax.algorithms import opponents
from merlax.algorithms.base import Algorithm
from merlax.algorithms.ea import Ea
from merlax.algorithms.es import Es
from merlax.algorithms.gradient import Gradient
from merlax.algorithms.merl import Merl
from merlax.algorithms.opponents import Opponent
from merlax.core.evolution.fitness import Fitness
from merlax.core.evolution.operators import GaussianMutation
from merlax.core.evolution.selection import TournamentSelection
from merlax.core.evolution.tuning import Tuning
from merlax.core.td3 import Td3
from merlax.types import UserError, suggest

PRESETS = ("fast", "paper")
BUILT_IN = ("merl", "ea", "es", "td3", "ddpg", "matd3", "maddpg")
_REGISTERED: dict[str, Algorithm] = {}

# Table 2 of the paper; where it is silent, docs/open-values.md.
PAPER_ROVER_TD3 = Td3(
    actor_rate=5e-5,
    critic_rate=1e-5,
    target_weight=1e-5,
    discount=0.5,
    batch=512,
    buffer=100_000,
    reward_scale=10.0,
    order="sequential",
    updates_per_frame=1.0,
)
PAPER_ROVER = Merl(
    population=10, fitness=Fitness(episodes=10), learners=(PAPER_ROVER_TD3,), explore_episodes=50, noise=0.4
)

# Tuned on seeds 1 to 8; docs/algorithm.md gives the reason for each difference.
FAST_TWO_ROVERS_TD3 = dataclasses.replace(
    PAPER_ROVER_TD3,
    actor_rate=5e-4,
    critic_rate=2e-3,
    target_weight=0.01,
    batch=256,
    reward_scale=1.0,
    order="joint",
    updates_per_frame=0.0125,
    action_penalty=0.002,
)
FAST_ROVER_TD3 = dataclasses.replace(
    FAST_TWO_ROVERS_TD3,
    batch=32,
    updates_per_frame=0.05,
    critic_hidden=(100, 100, 100),
    critic_normalised=True,
    huber=0.02,
    halving_rounds=10_000.0,
)
FAST_ROVER = dataclasses.replace(
    PAPER_ROVER,
    population=7,
    selection=TournamentSelection(elites=3),
    fitness=Fitness(episodes=10, memory=50, migrant_memory=10, same_instances=True),
    learners=(FAST_ROVER_TD3,),
    tuning=Tuning(pairs=80, after=30),
)
# A world of the user's own: nothing is known of how its agents might divide their work, so nothing is tuned.
FAST_OWN = dataclasses.replace(FAST_ROVER, population=10, selection=TournamentSelection(), tuning=Tuning())

# Table 1 of the paper; where it is silent, docs/open-values.md.
PAPER_PARTICLES_TD3 = dataclasses.replace(
    PAPER_ROVER_TD3,
    actor_rate=0.01,
    critic_rate=0.01,
    target_weight=0.01,
    discount=0.95,
    batch=1024,
    buffer=1_000_000,
    reward_scale=1.0,
)
PAPER_PARTICLES = dataclasses.replace(PAPER_ROVER, learners=(PAPER_PARTICLES_TD3,), explore_episodes=10)

# Rates and batch were tuned on seeds 1 and 2 of predator-prey (`merlax reproduce tune-particles`, docs/algorithm.md).
FAST_PARTICLES_OPPONENT = dataclasses.replace(
    PAPER_PARTICLES_TD3,
    actor_rate=1e-3,
    critic_rate=2e-3,
    batch=512,
    buffer=200_000,
    order="joint",
    updates_per_frame=0.02,
    action_penalty=0.002,
)
FAST_PARTICLES_TD3 = dataclasses.replace(
    FAST_PARTICLES_OPPONENT,
    discount=0.8,
    reward_scale=10.0,
    batch=64,
    updates_per_frame=0.05,
    action_penalty=0.0001,
    critic_hidden=(100, 100, 100),
    critic_normalised=True,
    huber=0.1,
    halving_rounds=20_000.0,
)
FAST_PARTICLES = dataclasses.replace(
    PAPER_PARTICLES,
    # Touches are rare: the episodes of a few generations may show a poor team as the best.
    fitness=Fitness(episodes=10, memory=50, migrant_memory=20, caution=10.0, same_instances=True),
    learners=(FAST_PARTICLES_TD3,),
)
# Here the two rewards differ: a second learner maximises the team's, from episodes in which the first one leads it to
# the prey. (In the other two worlds the agents' rewards add up to the team's, or are the same.) What it learns of one
# prey's habits must not be all that it knows, so replay reaches back to earlier preys.
# Plain critics are better here, and cheaper (`merlax reproduce tune-predators`).
_FAST_PREDATORS_TD3 = dataclasses.replace(
    FAST_PARTICLES_TD3,
    buffer=PAPER_PARTICLES_TD3.buffer,
    critic_hidden=PAPER_PARTICLES_TD3.critic_hidden,
    critic_normalised=False,
    huber=0.0,
)
FAST_PREDATORS = dataclasses.replace(
    FAST_PARTICLES,
    population=6,
    selection=TournamentSelection(elites=2),
    fitness=dataclasses.replace(FAST_PARTICLES.fitness, episodes=20),
    learners=(
        _FAST_PREDATORS_TD3,
        dataclasses.replace(_FAST_PREDATORS_TD3, reward="global", reward_scale=1.0, discount=0.9),
    ),
    explore_episodes=50,
    noise=0.6,
)

_MERL: dict[str, dict[str, Merl]] = {
    "particles": {"paper": PAPER_PARTICLES, "fast": FAST_PARTICLES},
    "predator-prey": {"paper": PAPER_PARTICLES, "fast": FAST_PREDATORS},
    "rover": {"paper": PAPER_ROVER, "fast": FAST_ROVER},
    "own": {"paper": PAPER_ROVER, "fast": FAST_OWN},
    # Nothing is random in this world, so one episode tells a team's fitness, and what is hard in it is left to
    # evolution: `fast` spends its frames on a larger population instead of 50 noisy episodes of the learner.
    "two-rovers": {
        "paper": dataclasses.replace(PAPER_ROVER, fitness=Fitness(episodes=1)),
        "fast": dataclasses.replace(
            PAPER_ROVER,
            population=20,
            fitness=Fitness(episodes=1, memory=50, same_instances=True),
            learners=(FAST_TWO_ROVERS_TD3,),
            explore_episodes=5,
        ),
    },
}

# Where MERL has fewer teams for something else's sake, EA has them all.
_EA_HAS = {"rover": FAST_OWN, "predator-prey": FAST_PARTICLES}

_EA_PARTICLES_MUTATION = GaussianMutation(strength=0.3)  # alone it does better so (`merlax reproduce tune-contests`)

_FAMILIES = {
    "predator-prey": "predator-prey",
    "predator-prey-hard": "predator-prey",
    "physical-deception": "particles",
    "keep-away": "particles",
    "two-rovers": "two-rovers",
}
_PARTICLES = ("predator-prey", "particles")
_BASELINE_DISCOUNT = 0.97  # Table 2: MERL's learner sees 0.5, MATD3 and MADDPG 0.97; in Table 1 all see 0.95
_JOINT: dict[str, Any] = {"critic": "joint", "order": "joint", "critic_hidden": (300, 300), "critic_normalised": False}
# They cost a dozen times MERL's critics. In the rover domain 8 rounds per 2,500 frames, with a common first layer, end
# a run of rover-3 within 6 minutes; four times as many are better, and four times as dear (`tune-baselines`).
_FAST_JOINT: dict[str, Any] = {"critic": "shared", "updates_per_frame": 0.0032, "batch": 256}
# In contests they need MERL's updates, which its width makes affordable (`tune-contests`, `tune-deceivers`).
_FAST_JOINT_PARTICLES: dict[str, Any] = {"critic": "shared", "critic_hidden": (100, 100), "huber": 0.0}


def names() -> list[str]:
    """The names of all algorithms."""
    return [*BUILT_IN, *_REGISTERED]


def register(name: str, algorithm: Algorithm) -> None:
    """Give an algorithm of your own a name, so that `train` and the command line find it.

    Args:
        name: What users will write.
        algorithm: The algorithm with its settings; no preset changes them.

    Examples:
        >>> merlax.register_algorithm("large-ea", merlax.Ea(population=500))
        >>> merlax.preset("fast", "rover-3", "large-ea").population
        500
    """
    if name in names() or ":" in name:
        raise UserError(f"The algorithm name '{name}' is taken already, or has a colon; register another one.")
    if not isinstance(algorithm, Algorithm):
        raise UserError(f"{algorithm!r} is no algorithm; register an object of a class that extends merlax.Algorithm.")
    _REGISTERED[name] = algorithm


@overload
def preset(name: str, world: str | None, algorithm: Literal["merl"] = "merl") -> Merl: ...


@overload
def preset(name: str, world: str | None, algorithm: str) -> Algorithm: ...


def preset(name: str, world: str | None, algorithm: str = "merl") -> Algorithm:
    """An algorithm with the settings of a preset for a world; one of your own takes the rover domain's, without tuning.

    The baselines share MERL's settings, half by half, so that a comparison compares methods.

    Args:
        name: "fast" or "paper".
        world: Name of the world, or nothing for a world of your own.
        algorithm: Its name, a registered one, or `module:Name`; the latter two bring their own settings.

    Examples:
        >>> merlax.preset("paper", "rover-3").population
        10
        >>> merlax.preset("paper", "rover-3", "td3").learner.discount
        0.97
    """
    if name not in PRESETS:
        raise UserError(f"There is no preset '{name}'; choose from {', '.join(PRESETS)}.")
    if ":" in algorithm:
        return _imported(algorithm)
    if algorithm in _REGISTERED:
        return _REGISTERED[algorithm]
    family = _family(world)
    merl = _MERL[family][name]
    if algorithm == "merl":
        return merl
    if algorithm == "ea":
        whole = _EA_HAS.get(family, merl) if name == "fast" else merl
        own = Ea(**{field.name: getattr(whole, field.name) for field in dataclasses.fields(Ea)})
        boldly = name == "fast" and family in _PARTICLES
        return dataclasses.replace(own, mutation=_EA_PARTICLES_MUTATION) if boldly else own
    if algorithm == "es":
        return Es(fitness_episodes=merl.fitness.episodes, same_instances=merl.fitness.same_instances)
    if algorithm not in BUILT_IN:
        near = suggest(algorithm, names())
        raise UserError(f"There is no algorithm '{algorithm}'{near}; choose from {', '.join(names())}.")
    return _gradient(merl, algorithm, family, fast=name == "fast")


def opponent(name: str, world: str | None) -> Opponent:
    """How a world's opponent learns: in a world of the user's own as the team's learner (docs/open-values.md).

    Its rewards are of another size (a touch costs the prey 10), so that they and its discount are Table 1's.
    """
    merl = preset(name, world)
    own = {field: getattr(PAPER_PARTICLES_TD3, field) for field in ("discount", "reward_scale")}
    if name == "fast" and _family(world) in _PARTICLES:
        return opponents.ddpg(FAST_PARTICLES_OPPONENT, merl.actor_hidden, earlier=16)
    return opponents.ddpg(dataclasses.replace(merl.learners[0], **own), merl.actor_hidden)


def _imported(name: str) -> Algorithm:
    found = config.import_object(name)
    found = found() if isinstance(found, type) else found
    if not isinstance(found, Algorithm):
        raise UserError(f"'{name}' is no algorithm; name a class that extends merlax.Algorithm, or an object of one.")
    return found


def _family(world: str | None) -> str:
    if world is None:
        return "own"
    return _FAMILIES.get(world, "rover" if world.startswith("rover-") else "own")


def _gradient(merl: Merl, algorithm: str, family: str, *, fast: bool) -> Gradient:
    """MERL's first learner alone, with what the method's name says."""
    learner, particles = merl.learners[0], family in _PARTICLES
    changes: dict[str, Any] = {"reward": "agent" if particles else "mixed"}  # as in the paper
    if not particles:
        changes |= {"discount": _BASELINE_DISCOUNT}
    if algorithm in ("ddpg", "maddpg"):
        changes |= opponents.DDPG
    if algorithm in ("matd3", "maddpg"):
        changes |= _JOINT
        if fast:
            changes |= _FAST_JOINT_PARTICLES if particles else _FAST_JOINT
    return Gradient(
        learner=dataclasses.replace(learner, **changes),
        actor_hidden=merl.actor_hidden,
        # Tables 1 and 2; generations of 250 frames would spend most of their time on starting what they do
        explore_episodes=10 if particles and not fast else 50,
        noise=merl.noise,
    )
