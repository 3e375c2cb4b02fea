"""Engines that runs are given to: this machine's own processes, Ray, SLURM. Queues and retries are the engine's."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from merlax.experiments.backends.base import Backend, Order, Resources
from merlax.experiments.backends.local import Local
from merlax.types import UserError

Engine = Literal["local", "ray", "slurm"]


def choose(on: Engine, resources: Resources, root: Path, workers: int | None = None) -> Backend:
    """The engine of this name, which is asked whether it can give a run what it needs.

    Args:
        on: Its name.
        resources: What every run needs.
        root: Folder of all runs, which every machine must see.
        workers: Runs at a time, on this machine; elsewhere the engine decides.
    """
    if on != "slurm" and resources.hours is not None:
        raise UserError(f"On {on}, a run has no limit of time; leave out hours={resources.hours:g}.")
    if on == "local":
        return Local(resources, workers)
    if workers is not None:
        raise UserError(f"On {on}, the engine decides how many runs there are at a time; leave out --workers.")
    if on == "ray":
        from merlax.experiments.backends.ray import Ray

        return Ray(resources, root)
    from merlax.experiments.backends.slurm import Slurm

    return Slurm(resources, root)


__all__ = ["Backend", "Engine", "Local", "Order", "Resources", "choose"]
