"""One side of a world as rows, one per agent, all of one width: what `merlax.Side` makes of JAX worlds, in NumPy."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

Rows = np.ndarray  # float32, [agent, ...]


@dataclasses.dataclass(frozen=True)
class Sizes:
    """The agents of a side, and the sizes of their spaces."""

    agents: tuple[str, ...]
    obs: tuple[int, ...]
    action: tuple[int, ...]
    chooses: tuple[bool, ...]
    kinds: tuple[int, ...]  # which kind each agent is of; flags tell it where there are several
    masked: bool

    @property
    def widest(self) -> int:
        """Numbers in the largest observation."""
        return max(self.obs)

    @property
    def act_size(self) -> int:
        """Numbers in a row of actions."""
        return max(self.action)

    @property
    def num_flags(self) -> int:
        """Flags of an agent's kind."""
        return max(self.kinds) + 1 if max(self.kinds) else 0

    @property
    def obs_size(self) -> int:
        """Numbers in a row of observations."""
        return self.widest + self.num_flags + (self.act_size if self.masked else 0)


def obs_rows(sizes: Sizes, seen: Sequence[np.ndarray | None], legal: Sequence[np.ndarray | None]) -> Rows:
    """What the agents see, with their flags; zeros for whoever sees nothing, since it is not there."""
    rows = np.zeros((len(sizes.agents), sizes.obs_size), np.float32)
    for k, (vector, allowed) in enumerate(zip(seen, legal, strict=True)):
        if vector is None:
            continue
        rows[k, : sizes.obs[k]] = vector
        if sizes.num_flags:
            rows[k, sizes.widest + sizes.kinds[k]] = 1.0
        if sizes.masked:
            begin = sizes.widest + sizes.num_flags
            rows[k, begin : begin + sizes.action[k]] = 1.0 if allowed is None else allowed
    return rows


def settle(sizes: Sizes, outputs: Rows, obs: Rows) -> Rows:
    """What agents do whose policy has these outputs: numbers in [-1, 1], or a 1 at the largest legal output."""
    rows = np.zeros_like(outputs)
    for k, number in enumerate(sizes.action):
        own = outputs[k, :number]
        if not sizes.chooses[k]:
            rows[k, :number] = np.clip(own, -1.0, 1.0)
            continue
        if sizes.masked:
            begin = sizes.widest + sizes.num_flags
            own = np.where(obs[k, begin : begin + number] > 0.5, own, -np.inf)
        rows[k, int(np.argmax(own))] = 1.0
    return rows
