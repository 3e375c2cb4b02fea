"""Worlds: pure physics and rewards. They never see a network."""

from functools import partial

from merlax.envs.base import Box, Discrete, Env, Side
from merlax.envs.check import check
from merlax.envs.keep_away import KeepAway
from merlax.envs.particles import ParticleState
from merlax.envs.physical_deception import PhysicalDeception
from merlax.envs.predator_prey import PredatorPrey
from merlax.envs.registry import ids, is_known, make, register
from merlax.envs.rover import Rover, RoverState
from merlax.envs.two_rovers import two_rovers

# name → rovers, POIs, side of the square. The number in the name is the coupling (docs/open-values.md).
_ROVER_SIZES = {
    1: (3, 3, 30),
    2: (4, 4, 20),
    3: (6, 4, 20),
    4: (8, 4, 20),
    5: (10, 4, 20),
    6: (12, 4, 20),
    7: (14, 4, 20),
}

for _coupling, (_agents, _poi, _side) in _ROVER_SIZES.items():
    _constructor = partial(Rover, num_agents=_agents, num_poi=_poi, coupling=_coupling, side=_side)
    register(f"rover-{_coupling}", _constructor)
register("two-rovers", two_rovers)
register("predator-prey", PredatorPrey)
register("predator-prey-hard", partial(PredatorPrey, prey_speed=2.0))
register("physical-deception", PhysicalDeception)
register("keep-away", KeepAway)

__all__ = [
    "Box",
    "Discrete",
    "Env",
    "KeepAway",
    "ParticleState",
    "PhysicalDeception",
    "PredatorPrey",
    "Rover",
    "RoverState",
    "Side",
    "check",
    "ids",
    "is_known",
    "make",
    "register",
    "two_rovers",
]
