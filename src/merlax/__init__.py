"""merlax trains teams: evolution on the team's reward, gradients on the agents' rewards (MERL), in JAX."""

from merlax.core import devices as _devices

_devices.use_all_cores()  # must come before JAX starts

from merlax.algorithms.presets import preset  # noqa: E402
from merlax.api import evaluate, play_each_other, plot, render, resume, train  # noqa: E402
from merlax.core.evolution import expected_selection_rate  # noqa: E402
from merlax.core.networks import TeamPolicy  # noqa: E402
from merlax.envs import (  # noqa: E402
    Contest,
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
from merlax.runs.evaluation import Score  # noqa: E402
from merlax.runs.reader import Run, load  # noqa: E402
from merlax.types import Reward, UserError  # noqa: E402

__all__ = [
    "Contest",
    "Env",
    "KeepAway",
    "PhysicalDeception",
    "PredatorPrey",
    "Reward",
    "Rover",
    "Run",
    "Score",
    "Side",
    "TeamPolicy",
    "UserError",
    "evaluate",
    "expected_selection_rate",
    "ids",
    "load",
    "make",
    "play_each_other",
    "plot",
    "preset",
    "register",
    "render",
    "resume",
    "train",
    "two_rovers",
]
