"""merlax trains teams: evolution on the team's reward, gradients on the agents' rewards (MERL), in JAX."""

from merlax.algorithms import Algorithm, Ea, Es, Game, Gradient, Merl, Seat, preset
from merlax.algorithms import register as register_algorithm
from merlax.algorithms.opponents import ddpg
from merlax.api import (
    check,
    diagnose,
    evaluate,
    export,
    load,
    play_each_other,
    plot,
    plot_diagnosis,
    render,
    report,
    resume,
    to_pettingzoo,
    train,
)
from merlax.config import Checked
from merlax.core.evolution.fitness import Fitness
from merlax.core.evolution.operators import GaussianMutation, SinglePointCrossover
from merlax.core.evolution.selection import TournamentSelection, expected_selection_rate
from merlax.core.evolution.tuning import Tuning
from merlax.core.networks import TeamPolicy
from merlax.core.td3 import Td3
from merlax.envs import (
    Box,
    Discrete,
    Env,
    KeepAway,
    PhysicalDeception,
    PredatorPrey,
    Rover,
    Side,
    ids,
    make,
    register,
    two_rovers,
)
from merlax.envs.diagnosis import History, Measure
from merlax.envs.drawing import Circles, Drawing, Labels, Points, Sectors
from merlax.envs.rules import Rule
from merlax.figures import Replay
from merlax.runs.diagnosis import Diagnosis
from merlax.runs.evaluation import Score
from merlax.runs.reader import Run
from merlax.runs.recorders import Tracker
from merlax.types import Reward, UserError

__all__ = [
    "Algorithm",
    "Box",
    "Checked",
    "Circles",
    "Diagnosis",
    "Discrete",
    "Drawing",
    "Ea",
    "Env",
    "Es",
    "Fitness",
    "Game",
    "GaussianMutation",
    "Gradient",
    "History",
    "KeepAway",
    "Labels",
    "Measure",
    "Merl",
    "PhysicalDeception",
    "Points",
    "PredatorPrey",
    "Replay",
    "Reward",
    "Rover",
    "Rule",
    "Run",
    "Score",
    "Seat",
    "Sectors",
    "Side",
    "SinglePointCrossover",
    "Td3",
    "TeamPolicy",
    "TournamentSelection",
    "Tracker",
    "Tuning",
    "UserError",
    "check",
    "ddpg",
    "diagnose",
    "evaluate",
    "expected_selection_rate",
    "export",
    "ids",
    "load",
    "make",
    "play_each_other",
    "plot",
    "plot_diagnosis",
    "preset",
    "register",
    "register_algorithm",
    "render",
    "report",
    "resume",
    "to_pettingzoo",
    "train",
    "two_rovers",
]
