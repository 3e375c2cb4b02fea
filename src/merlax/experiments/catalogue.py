"""All experiments by name: the paper's, and ours."""

from __future__ import annotations

from merlax.experiments import ours, paper
from merlax.experiments.spec import Experiment
from merlax.types import UserError, suggest


def experiments() -> dict[str, Experiment]:
    """The paper's in its order, then ours."""
    return {experiment.name: experiment for experiment in (*paper.EXPERIMENTS, *ours.EXPERIMENTS)}


def experiment(name: str) -> Experiment:
    """The experiment `name`, or a sentence that suggests the nearest name."""
    known = experiments()
    if name not in known:
        near = suggest(name, list(known))
        raise UserError(f"There is no figure '{name}'{near}; `merlax reproduce --list` names them all.")
    return known[name]
