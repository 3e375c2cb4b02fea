"""The champion of another run that a run begins with: read, fitted to the world, kept in the run folder."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import logging
from pathlib import Path
from typing import Any

import jax
import numpy as np

from merlax.algorithms.base import Algorithm
from merlax.core import devices, transfer
from merlax.core.networks import TeamPolicy
from merlax.envs.base import Side
from merlax.runs import policies, reader
from merlax.types import UserError

FOLDER = "start"  # of a run folder: the policy, as it fits the world, so that the other run may be deleted
_LOG = logging.getLogger("merlax")


@dataclasses.dataclass(frozen=True)
class Start:
    """Whose champion a run begins with, and that champion for the agents of its own world."""

    run: str
    policy: TeamPolicy

    def record(self) -> dict[str, Any]:
        """What `config.json` says."""
        return {"run": self.run, "weights": digest(self.policy)}


def choose(run: reader.Run | str | Path, side: Side, algorithm: Algorithm) -> Start:
    """The champion of a run, for the agents of a side and for an algorithm."""
    devices.prepare()  # to read it starts JAX
    path = run.path if isinstance(run, reader.Run) else Path(run)
    if not path.exists():
        raise UserError(f"There is no run folder '{path}' whose champion to begin with; name one with --from.")
    reader.read_config(path)
    what = f"The champion in '{path / 'champion'}'"
    policy = transfer.fit(policies.load(path / "champion"), side, what)
    own, asked = tuple(layer.weight.shape[1] for layer in policy.trunk), getattr(algorithm, "actor_hidden", None)
    if asked is not None and own != tuple(asked):
        told = [" ".join(map(str, sizes)) for sizes in (own, asked)]
        raise UserError(
            f"{what} has hidden layers of {told[0]}, this run's have {told[1]}; add --actor-hidden {told[0]}."
        )
    if policy.gain is not None and not algorithm.keeps_gains:
        _warn_of_gains(what, type(algorithm).__name__)
    return Start("".join(sign if sign.isprintable() else "?" for sign in str(path)), policy)


@functools.cache  # once: a sweep plans its runs again and again
def _warn_of_gains(what: str, algorithm: str) -> None:
    _LOG.warning(
        "%s heeds its inputs by gains, which %s does not tune: the run begins without them, so at first with another "
        "behaviour than that champion's.", what, algorithm,
    )  # fmt: skip


def load(path: Path, record: dict[str, Any], side: Side) -> Start:
    """What a run folder says that its run began with."""
    policy = policies.load(path / FOLDER)
    policies.check_fits(policy, side, f"The policy in '{path / FOLDER}'")
    if digest(policy) != record.get("weights"):
        raise UserError(f"'{path / FOLDER}' holds another policy than the run began with; put that one back.")
    return Start(record.get("run", ""), policy)


def digest(policy: TeamPolicy) -> str:
    """A number by which weights are known again."""
    found = hashlib.sha256()
    for leaf in jax.tree.leaves(policy):
        found.update(repr(leaf.shape).encode() + np.asarray(leaf).tobytes())
    return found.hexdigest()
