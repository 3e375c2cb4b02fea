"""Whom a team meets in a contest: an algorithm on the other side, or a player that does not learn."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from merlax.algorithms.base import Algorithm, Rollouts, Seat
from merlax.algorithms.gradient import OffPolicy
from merlax.core.networks import TeamPolicy
from merlax.core.players import Player
from merlax.core.rollout import Field
from merlax.core.td3 import Td3
from merlax.types import Key

DDPG: dict[str, Any] = {"critics": 1, "delay": 1, "smoothing": 0.0}  # what tells it from TD3


def ddpg(learner: Td3 | None = None, actor_hidden: tuple[int, ...] = (100, 100)) -> OffPolicy:
    """An opponent that learns by DDPG from its side of all rollouts (paper, §5).

    Args:
        learner: Its settings; how many critics, delay and smoothing are DDPG's, whatever it says.
        actor_hidden: Hidden layers of its policy.

    Examples:
        >>> merlax.ddpg(merlax.Td3(discount=0.9)).learner.critics
        1
    """
    return OffPolicy(dataclasses.replace(learner or Td3(), order="joint", **DDPG), actor_hidden)


@dataclasses.dataclass(frozen=True)
class FixedOpponent(Algorithm):
    """An opponent that does not learn: scripted, or frozen."""

    player: Player
    learns: ClassVar[bool] = False

    def start(self, key: Key, seat: Seat) -> Player:
        del key, seat
        return self.player

    def play(self, key: Key, players: Any, field: Field) -> Rollouts:
        raise NotImplementedError("an opponent plays in the team's rollouts")

    def learn(self, key: Key, state: Any, rollouts: Rollouts, seat: Seat) -> tuple[Any, None]:
        del key, rollouts, seat
        return state, None

    def champion(self, state: Any) -> TeamPolicy:
        raise NotImplementedError("a scripted opponent has no policy")
