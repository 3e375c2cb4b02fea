"""How good a team is held to be: from its newest episodes, and from what is known of it."""

from __future__ import annotations

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from merlax.config import Checked, Count, Positive
from merlax.core.evolution.lineage import Lineage
from merlax.core.evolution.selection import Selected
from merlax.core.records import MAY_BREAK
from merlax.types import Key, Keys


class FitnessRecord(eqx.Module):
    """What is known of each team's fitness: the mean over its newest `age` generations."""

    mean: Float[Array, " pop"] = eqx.field(metadata=MAY_BREAK)
    age: Int[Array, " pop"]


class FitnessInfo(eqx.Module):
    """What is written down of a population; a broken team has no fitness and is only counted."""

    best_fitness: Float[Array, ""]
    mean_fitness: Float[Array, ""]
    broken_teams: Int[Array, ""]
    champion_team: Int[Array, ""] | None  # the place of this generation's champion, where it is one of the teams
    fitness: Float[Array, " pop"] = eqx.field(metadata=MAY_BREAK)
    lineage: Lineage | None = None


@dataclasses.dataclass(frozen=True)
class Fitness(Checked):
    """Episodes per fitness, and how many generations of them count.

    Examples:
        >>> merlax.Fitness(episodes=5, same_instances=True).memory
        1
    """

    episodes: Count = 10
    """Episodes per fitness (rollouts per fitness, ξ)."""
    memory: Count = 1
    """Generations over which the fitness of a team that survives unchanged is averaged (1: the newest only)."""
    migrant_memory: Count = 1
    """Generations over which a migrant's fitness is averaged, though its weights move meanwhile."""
    caution: Positive = 1.0
    """What the population's mean counts, in generations of a team's own, when the champion is chosen."""
    same_instances: bool = False
    """Let all teams of a generation play the same episodes, so that none is lucky with its worlds."""

    def keys(self, key: Key, teams: int) -> Keys:
        """The instances [pop, episode] that tell each team's fitness."""
        return instances(key, teams, self.episodes, self.same_instances)

    def extend(self, record: FitnessRecord, newest: Float[Array, " pop"]) -> FitnessRecord:
        """Add one generation's fitness. With memory 1 only the newest counts, as in the paper."""
        known = ~jnp.isnan(record.mean)  # a team that broke starts anew
        age = jnp.where(known, jnp.minimum(record.age + 1, self.memory), 1)
        before = record.mean + drift(record, newest) if self.same_instances else record.mean
        running = before + (newest - before) / age.astype(newest.dtype)
        return FitnessRecord(jnp.where(age == 1, newest, running), age)


def drift(record: FitnessRecord, newest: Float[Array, " pop"]) -> Float[Array, ""]:
    """How much more this generation's instances, and its opponent, let those teams score of which something is known.

    What is known of them was told under other conditions; with this added, a newcomer is compared under its own.
    """
    known = (record.age > 0) & jnp.isfinite(record.mean) & jnp.isfinite(newest)
    change = jnp.where(known, newest - record.mean, 0.0)
    return change.sum() / jnp.maximum(known.sum(), 1).astype(newest.dtype)


def instances(key: Key, teams: int, episodes: int, same: bool) -> Keys:
    """Keys of the episodes [pop, episode] that all teams play: the same for all, or each team's own."""
    if same:
        return jnp.broadcast_to(jax.random.split(key, episodes), (teams, episodes))
    return jax.random.split(key, (teams, episodes))


def champion(record: FitnessRecord, candidates: Int[Array, " candidate"], caution: float) -> Int[Array, ""]:
    """The team to show and to test. Being an elite for a generation takes luck; being champion must not.

    A team's mean is drawn to the population's, which counts like `caution` generations of its own, so a young team
    needs a higher one than an old one. Among teams of one age it is the fittest.
    """
    age = record.age.astype(record.mean.dtype)
    drawn = (age * record.mean + caution * jnp.nanmean(record.mean)) / (age + caution)
    return candidates[jnp.argmax(jnp.where(jnp.isnan(drawn), -jnp.inf, drawn)[candidates])]


def nothing_known(population: int) -> FitnessRecord:
    """The record of teams that have not played yet."""
    return FitnessRecord(jnp.zeros(population), jnp.zeros(population, jnp.int32))


def inherit(record: FitnessRecord, selected: Selected, migrants: int = 0, memory: int = 1) -> FitnessRecord:
    """The next generation's record: elites keep theirs, migrants what `memory` lets them, offspring start anew."""
    fresh = nothing_known(record.age.shape[0])
    kept = selected.elites.shape[0]
    heirs = jax.tree.map(lambda new, old: new.at[:kept].set(old[selected.elites]), fresh, record)
    if memory == 1 or not migrants:
        return heirs
    known = FitnessRecord(record.mean, jnp.minimum(record.age, memory - 1))
    return jax.tree.map(lambda new, old: new.at[-migrants:].set(old[-migrants:]), heirs, known)


def describe(
    fitness: Float[Array, " pop"], champion: Int[Array, ""] | None = None, lineage: Lineage | None = None
) -> FitnessInfo:
    """What is written down of one generation: how fit its teams are, which is the champion, and who comes from whom."""
    return FitnessInfo(
        best_fitness=jnp.nanmax(fitness),
        mean_fitness=jnp.nanmean(fitness),
        broken_teams=jnp.isnan(fitness).sum(),
        champion_team=champion,
        fitness=fitness,
        lineage=lineage,
    )
