"""An algorithm and, in a contest, the opponent that it trains against: what the training loop drives."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax

from merlax.algorithms.base import Algorithm
from merlax.algorithms.opponents import Adversary, Fixed
from merlax.core.networks import TeamPolicy
from merlax.core.rollout import Opponent
from merlax.types import Key, Metrics


@dataclasses.dataclass(frozen=True)
class Match:
    """One generation of both sides: they play the same episodes, then each learns from its own side of them."""

    algorithm: Algorithm
    adversary: Adversary | Fixed | None = None

    def init(self, key: Key) -> tuple[Any, Any]:
        key_team, key_opponent = jax.random.split(key)
        return self.algorithm.init(key_team), self.adversary and self.adversary.init(key_opponent)

    def step(self, key: Key, state: tuple[Any, Any]) -> tuple[tuple[Any, Any], Metrics]:
        """One generation; the old state is used up."""
        team, theirs = state
        key_explore, key_team, key_opponent = jax.random.split(key, 3)
        experience = self.algorithm.explore(key_explore, team, self.opponent(state))
        metrics: Metrics = {}
        if self.adversary is not None:
            theirs, metrics = self.adversary.improve(key_opponent, theirs, experience)
        team, found = self.algorithm.improve(key_team, team, experience)
        return (team, theirs), found | metrics

    def champion(self, state: tuple[Any, Any]) -> TeamPolicy:
        return self.algorithm.champion(state[0])

    def opponent(self, state: tuple[Any, Any]) -> Opponent | None:
        """The newest opponent, where there is one."""
        return self.adversary and self.adversary.player(state[1])
