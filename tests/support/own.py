"""What a user would write without touching merlax: an algorithm and operators of their own."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from merlax.algorithms.base import Algorithm, Rollouts, Seat
from merlax.config import Count
from merlax.core import rollout
from merlax.core.evolution.selection import Selected
from merlax.core.networks import TeamPolicy
from merlax.core.players import PolicyPlayer
from merlax.core.records import MAY_BREAK
from merlax.core.rollout import Field
from merlax.types import Key


class SearchState(eqx.Module):
    candidate: TeamPolicy
    best: TeamPolicy
    score: Float[Array, ""] = eqx.field(metadata=MAY_BREAK)  # minus infinity at first


class SearchInfo(eqx.Module):
    tried: Float[Array, ""]
    known: Float[Array, ""]


@dataclasses.dataclass(frozen=True)
class RandomSearch(Algorithm):
    """Draws one team after another and keeps the best."""

    episodes: Count = 2

    def start(self, key: Key, seat: Seat) -> SearchState:
        key_candidate, key_best = jax.random.split(key)
        return SearchState(self._draw(key_candidate, seat), self._draw(key_best, seat), jnp.array(-jnp.inf))

    def play(self, key: Key, players: SearchState, field: Field) -> Rollouts:
        keys = jax.random.split(key, self.episodes)
        return (rollout.play_team(keys, field, PolicyPlayer(players.candidate), keep=False),)

    def learn(self, key: Key, state: SearchState, rollouts: Rollouts, seat: Seat) -> tuple[SearchState, SearchInfo]:
        tried = rollouts[0].episode.fitness.mean()
        better = tried > state.score
        best = jax.tree.map(lambda new, old: jnp.where(better, new, old), state.candidate, state.best)
        score = jnp.maximum(tried, state.score)
        return SearchState(self._draw(key, seat), best, score), SearchInfo(tried, score)

    def champion(self, state: SearchState) -> TeamPolicy:
        return state.best

    def _draw(self, key: Key, seat: Seat) -> TeamPolicy:
        return TeamPolicy(key, seat.side, (4,))


@dataclasses.dataclass(frozen=True)
class Fill:
    """A mutation: every weight becomes the same number."""

    value: float

    def __call__(self, key, genome):
        del key
        return jax.tree.map(lambda leaf: jnp.full_like(leaf, self.value), genome)


@dataclasses.dataclass(frozen=True)
class Keep:
    """A mutation that changes nothing."""

    def __call__(self, key, genome):
        del key
        return genome


@dataclasses.dataclass(frozen=True)
class Mean:
    """A crossover: half of each parent."""

    def __call__(self, key, first, second):
        del key
        return jax.tree.map(lambda a, b: 0.5 * (a + b), first, second)


@dataclasses.dataclass(frozen=True)
class Appoint:
    """A selection: these teams, whatever their fitness. All offspring but the first are of the elite and the winner."""

    elite: int
    winner: int

    def __call__(self, key: Key, fitness: Float[Array, " pop"], size: int) -> Selected:
        del key, fitness
        winners = jnp.full(size - 1, self.winner)
        return Selected(jnp.array([self.elite]), winners, jnp.arange(size - 1) > 0)
