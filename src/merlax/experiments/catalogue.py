"""All experiments by name: the paper's, ours, and the tuning."""

from __future__ import annotations

from merlax.experiments import ours, paper, tuned
from merlax.experiments.spec import Experiment
from merlax.types import UserError, suggest


def experiments() -> dict[str, Experiment]:
    """The paper's in its order, then ours, then the tuning."""
    return {experiment.name: experiment for part in parts().values() for experiment in part}


def parts() -> dict[str, tuple[Experiment, ...]]:
    """The same, by what a reader wants of them."""
    return {
        "what the paper shows": paper.EXPERIMENTS,
        "ours: what it tells": ours.EXPERIMENTS,
        "tuning: what was tried": tuned.EXPERIMENTS,
    }


def experiment(name: str) -> Experiment:
    """The experiment `name`, or a sentence that suggests the nearest name."""
    known = experiments()
    if name not in known:
        near = suggest(name, list(known))
        raise UserError(f"There is no figure '{name}'{near}; `merlax reproduce --list` names them all.")
    return known[name]
