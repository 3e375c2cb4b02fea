"""What the algorithms that evolve a population of teams share."""

from __future__ import annotations

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from merlax.algorithms.base import Algorithm
from merlax.config import Count, Layers
from merlax.core.evolution import fitness, operators
from merlax.core.evolution.fitness import Fitness, FitnessRecord
from merlax.core.evolution.lineage import Lineage
from merlax.core.evolution.operators import Crossover, GaussianMutation, Mutation, SinglePointCrossover
from merlax.core.evolution.selection import Selected, Selection, TournamentSelection
from merlax.core.networks import TeamPolicy
from merlax.envs.base import Side
from merlax.types import Key


class Evolved(eqx.Module):
    """What one round of evolution leaves."""

    population: TeamPolicy  # elites and offspring; migrants may join
    champion: TeamPolicy
    champion_team: Int[Array, ""]  # where it was in the population
    record: FitnessRecord
    selected: Selected
    lineage: Lineage


@dataclasses.dataclass(frozen=True)
class Evolutionary(Algorithm):
    """Tables 1 and 2 of the paper, the evolutionary half."""

    population: Count = 10
    """Teams in the population (M)."""
    fitness: Fitness = Fitness()
    selection: Selection = TournamentSelection()
    crossover: Crossover = SinglePointCrossover()
    mutation: Mutation = GaussianMutation()
    actor_hidden: Layers = (100, 100)
    """Hidden layers of a team's trunk."""

    def check(self) -> None:
        if isinstance(self.selection, TournamentSelection):
            self.selection.check_room(self.population, self.population - self.num_migrants)

    @property
    def num_migrants(self) -> int:
        """Slots of the population that offspring do not get."""
        return 0

    def evolve(self, key: Key, teams: TeamPolicy, record: FitnessRecord, newest: Float[Array, " pop"]) -> Evolved:
        """Lines 10–16: rank every team by what is known of it, select, cross, mutate."""
        key_select, key_evolve = jax.random.split(key)
        record = self.fitness.extend(record, newest)
        selected = self.selection(key_select, record.mean, self.population - self.num_migrants)
        migrants = jnp.arange(self.population - self.num_migrants, self.population)  # known, though they may not stay
        candidates = jnp.concatenate([selected.elites, migrants])
        best = fitness.champion(record, candidates, self.fitness.caution)
        champion = jax.tree.map(lambda leaf: leaf[best], teams)

        operations = self.crossover, self.mutation
        children, family = operators.evolve(key_evolve, teams, selected, *operations, self.num_migrants)
        heirs = fitness.inherit(record, selected, self.num_migrants, self.fitness.migrant_memory)
        return Evolved(children, champion, best, heirs, selected, family)

    def around(self, key: Key, policy: TeamPolicy, number: int) -> TeamPolicy:
        """A population that begins with a policy: it, then mutants of it."""
        mutants = jax.vmap(lambda key: self.mutation(key, policy))(jax.random.split(key, number))
        return jax.tree.map(lambda leaf, own: leaf.at[0].set(own), mutants, policy)


def random_teams(key: Key, side: Side, hidden: tuple[int, ...], number: int) -> TeamPolicy:
    """A population of new teams."""
    return jax.vmap(lambda key: TeamPolicy(key, side, hidden))(jax.random.split(key, number))
