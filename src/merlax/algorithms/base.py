"""The contract of an algorithm: a value whose fields are its settings, and whose methods are pure."""

from __future__ import annotations

import abc
import dataclasses
from typing import Any, ClassVar, TypeAlias

import jax
from jaxtyping import Array, Int

from merlax.config import Checked
from merlax.core import devices
from merlax.core.networks import TeamPolicy
from merlax.core.players import Gallery, Player, PolicyPlayer
from merlax.core.rollout import Episode, Field, Rollout
from merlax.envs.base import Env, Side
from merlax.types import Key, UserError

Rollouts: TypeAlias = tuple[Rollout, ...]  # all of one generation
Episodes: TypeAlias = tuple[Episode, ...]  # the same without transitions


@dataclasses.dataclass(frozen=True)
class Seat:
    """One side of a world, as the algorithm that trains it sees it.

    Args:
        env: The world.
        index: Which of its sides; 0 is the team.

    Examples:
        >>> merlax.Seat(merlax.make("predator-prey"), index=1).side.num_agents
        1
    """

    env: Env
    index: int = 0  # 0: the team

    @property
    def side(self) -> Side:
        return self.env.sides[self.index]

    @property
    def reward_bounds(self) -> tuple[float, float]:
        """The largest sizes of the team's and of an agent's reward; a world that does not state them has 1 for both."""
        return getattr(self.env, "reward_bounds", (1.0, 1.0))


@dataclasses.dataclass(frozen=True)
class Algorithm(Checked, abc.ABC):
    """Trains the agents of one side of a world. `game.Game` drives it: one generation is `play`, then `learn`.

    It is a frozen dataclass, so hashable, and knows no world: whatever depends on one comes as an argument. The state
    is a pytree of its own choice.

    Examples:
        >>> isinstance(merlax.Merl(population=20), merlax.Algorithm)
        True
    """

    learns: ClassVar[bool] = True

    @abc.abstractmethod
    def start(self, key: Key, seat: Seat) -> Any:
        """The state before the first generation."""

    @abc.abstractmethod
    def play(self, key: Key, players: Any, field: Field) -> Rollouts:
        """All rollouts of one generation, by `players(state)`."""

    @abc.abstractmethod
    def learn(self, key: Key, state: Any, rollouts: Rollouts, seat: Seat) -> tuple[Any, Any]:
        """Everything that follows them: the next state, and a record of what is to be written down (`core.records`)."""

    @abc.abstractmethod
    def champion(self, state: Any) -> TeamPolicy:
        """The team that a test plays and a run keeps."""

    def partner(self, state: Any) -> Player | Gallery:
        """Whom the other side trains with, where this is the opponent's algorithm."""
        return PolicyPlayer(self.champion(state))

    def adopt(self, key: Key, state: Any, policy: TeamPolicy, seat: Seat) -> Any:
        """The state before the first generation, `start`'s, of a run that begins with a policy."""
        raise UserError(f"{type(self).__name__} cannot begin with a champion: it has no method `adopt`.")

    @property
    def keeps_gains(self) -> bool:
        """Whether `adopt` keeps the gains of a policy that was tuned."""
        return False

    def players(self, state: Any) -> Any:
        """Of the state, what the rollouts need."""
        return state

    def num_shards(self, seat: Seat) -> int:
        """How many devices share `learn`."""
        del seat
        return devices.count()


class InPieces(Algorithm):
    """An algorithm that learns in rounds, a few at a time: a run can show, save and end them between two pieces."""

    @abc.abstractmethod
    def receive(self, state: Any, rollouts: Rollouts, seat: Seat) -> Any:
        """Store what was played, and note how many rounds are due."""

    @abc.abstractmethod
    def rounds(self, state: Any) -> tuple[Int[Array, ""], Int[Array, ""]]:
        """How many rounds of this generation are done, and how many were due; with several learners, the most."""

    @abc.abstractmethod
    def practise(self, key: Key, state: Any, seat: Seat, most: Int[Array, ""] | None = None) -> Any:
        """The next rounds: all that are left, or at most so many. Pieces make what one call with the same key would."""

    @abc.abstractmethod
    def conclude(self, key: Key, state: Any, episodes: Episodes, seat: Seat) -> tuple[Any, Any]:
        """What follows the last round: as `learn`, but everything that was played is stored already."""

    def learn(self, key: Key, state: Any, rollouts: Rollouts, seat: Seat) -> tuple[Any, Any]:
        state = self.practise(jax.random.clone(key), self.receive(state, rollouts, seat), seat)
        return self.conclude(key, state, tuple(each.episode for each in rollouts), seat)
