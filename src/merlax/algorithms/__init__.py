"""Algorithms: assemblies of rollouts, buffers, learners and operators."""

from merlax.algorithms.base import Algorithm, Seat
from merlax.algorithms.ea import Ea
from merlax.algorithms.es import Es
from merlax.algorithms.game import Game
from merlax.algorithms.gradient import Gradient
from merlax.algorithms.merl import Merl
from merlax.algorithms.presets import names, preset, register

__all__ = ["Algorithm", "Ea", "Es", "Game", "Gradient", "Merl", "Seat", "names", "preset", "register"]
