"""Whom a team meets in a contest: an algorithm on the other side, or a player that does not learn."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any, ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int

from merlax.algorithms.base import Algorithm, Episodes, Rollouts, Seat
from merlax.algorithms.gradient import GradientInfo, GradientState, OffPolicy
from merlax.config import Range
from merlax.core.networks import TeamPolicy
from merlax.core.players import Gallery, Player, PolicyPlayer
from merlax.core.rollout import Field
from merlax.core.td3 import Td3
from merlax.types import Key

_SAMPLE = 2**31 - 1  # a stream of its own, beside those of the rounds of learning
DDPG: dict[str, Any] = {"critics": 1, "delay": 1, "smoothing": 0.0}  # what tells it from TD3


class OpponentState(GradientState):
    """A learner's, and a fair sample of its former selves."""

    earlier: TeamPolicy  # [earlier, ...]
    generations: Int[Array, ""]  # from which they were drawn


@dataclasses.dataclass(frozen=True)
class Opponent(OffPolicy):
    """An opponent that learns from its side of all rollouts, and that earlier ones of itself may stand in for.

    A team that only ever meets the newest opponent becomes a specialist: what beat the earlier ones is forgotten.
    """

    earlier: Annotated[int, Range(0, 1000)] = 0
    """Former selves to keep, a fair sample of all; half of the training episodes are against one of them."""

    def start(self, key: Key, seat: Seat) -> GradientState:
        first = super().start(key, seat)
        if not self.earlier:
            return first
        copies = jax.tree.map(lambda leaf: jnp.repeat(leaf[None], self.earlier, axis=0), first.learner.actor)
        return OpponentState(first.learner, first.buffer, copies, jnp.zeros((), jnp.int32))

    def partner(self, state: GradientState) -> PolicyPlayer | Gallery:
        newest = self.champion(state)
        return Gallery(newest, state.earlier) if isinstance(state, OpponentState) else PolicyPlayer(newest)

    def conclude(
        self, key: Key, state: GradientState, episodes: Episodes, seat: Seat
    ) -> tuple[GradientState, GradientInfo]:
        """It becomes one of the earlier ones itself, or not: of n selves each is kept with the same probability."""
        if isinstance(state, OpponentState):
            state = self._remember(jax.random.fold_in(key, _SAMPLE), state)
        return super().conclude(key, state, episodes, seat)

    def _remember(self, key: Key, state: OpponentState) -> OpponentState:
        drawn = jax.random.randint(key, (), 0, state.generations + 1)
        place = jnp.where(state.generations < self.earlier, state.generations, drawn)
        keep = lambda old, new: old.at[place].set(new, mode="drop")  # noqa: E731 - beyond the last: forgotten
        earlier = jax.tree.map(keep, state.earlier, self.champion(state))
        return dataclasses.replace(state, earlier=earlier, generations=state.generations + 1)


def ddpg(learner: Td3 | None = None, actor_hidden: tuple[int, ...] = (100, 100), earlier: int = 0) -> Opponent:
    """An opponent that learns by DDPG from its side of all rollouts (paper, §5).

    Args:
        learner: Its settings; how many critics, delay and smoothing are DDPG's, whatever it says.
        actor_hidden: Hidden layers of its policy.
        earlier: How many former selves stand in for it in half of the training episodes.

    Examples:
        >>> merlax.ddpg(merlax.Td3(discount=0.9)).learner.critics
        1
    """
    return Opponent(dataclasses.replace(learner or Td3(), order="joint", **DDPG), actor_hidden, earlier)


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

    def partner(self, state: Any) -> Player:
        return state
