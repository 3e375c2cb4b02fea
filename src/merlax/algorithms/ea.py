"""The evolutionary half of MERL alone: no learner, no buffers, no migrant."""

from __future__ import annotations

import dataclasses

import equinox as eqx
import jax

from merlax.algorithms.base import Rollouts, Seat
from merlax.algorithms.evolutionary import Evolutionary, random_teams
from merlax.core import rollout
from merlax.core.evolution import fitness
from merlax.core.evolution.fitness import FitnessInfo, FitnessRecord
from merlax.core.networks import TeamPolicy
from merlax.core.records import MAY_BREAK
from merlax.core.rollout import Field
from merlax.types import Key


class EaState(eqx.Module):
    """Everything that changes during a run."""

    population: TeamPolicy = eqx.field(metadata=MAY_BREAK)  # [pop, ...]
    record: FitnessRecord
    champion: TeamPolicy


@dataclasses.dataclass(frozen=True)
class Ea(Evolutionary):
    """The evolutionary algorithm.

    Examples:
        >>> merlax.Ea(population=50, mutation=merlax.GaussianMutation(strength=0.05)).population
        50
    """

    def start(self, key: Key, seat: Seat) -> EaState:
        """A random population."""
        teams = random_teams(key, seat.side, self.actor_hidden, self.population)
        champion = jax.tree.map(lambda leaf: leaf[0], teams)
        return EaState(teams, fitness.nothing_known(self.population), champion)

    def adopt(self, key: Key, state: EaState, policy: TeamPolicy, seat: Seat) -> EaState:
        """The policy, with the gains that it may have, and mutants of it."""
        del seat
        return EaState(self.around(key, policy, self.population), state.record, policy)

    @property
    def keeps_gains(self) -> bool:
        return True

    def champion(self, state: EaState) -> TeamPolicy:
        """The fittest team of the newest generation."""
        return state.champion

    def players(self, state: EaState) -> TeamPolicy:
        return state.population

    def play(self, key: Key, players: TeamPolicy, field: Field) -> Rollouts:
        """Each team's fitness."""
        keys = self.fitness.keys(key, self.population)
        return (rollout.play_population(keys, field, players, keep=False),)

    def learn(self, key: Key, state: EaState, rollouts: Rollouts, seat: Seat) -> tuple[EaState, FitnessInfo]:
        """Rank, select, cross, mutate."""
        newest = rollouts[0].episode.fitness.mean(axis=1)
        evolved = self.evolve(key, state.population, state.record, newest)
        told = fitness.describe(newest, evolved.champion_team, evolved.lineage)
        return EaState(evolved.population, evolved.record, evolved.champion), told
