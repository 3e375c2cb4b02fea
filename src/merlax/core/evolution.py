"""Selection, crossover, mutation and migration (paper, Algorithm 1, lines 10–16 and 28).

A population is any pytree whose leaves have a leading `pop` axis; a genome is one slice of it. Slots:
elites first, then their offspring; where a learner's team migrates, it comes last.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Bool, Float, Int

from merlax import config as checks
from merlax.types import Key, UserError

T = TypeVar("T")

DISCARDED, SELECTED, ELITE = 0, 1, 2
FATES = ("discarded", "selected", "elite")


@dataclasses.dataclass(frozen=True)
class EvolutionConfig:
    """Tables 1 and 2 of the paper, the evolutionary half."""

    population: int = 10
    """Teams in the population (M)."""
    elites: int = 4
    """Teams that survive unchanged (e)."""
    tournament: int = 3
    """Candidates per tournament (t, appendix B)."""
    mutation_probability: float = 0.9
    """Probability that a team that is not an elite is mutated."""
    mutation_fraction: float = 0.1
    """Share of a mutated team's weights that change."""
    mutation_strength: float = 0.1
    """Standard deviation of a mutation."""
    super_probability: float = 0.05
    """Share of the mutated weights that change `super_factor` times as much."""
    super_factor: float = 10.0
    """Size of a super mutation (not in the paper; FACTS §4)."""
    reset_probability: float = 0.05
    """Share of the mutated weights that are drawn anew from N(0, 1)."""
    fitness_episodes: int = 10
    """Episodes per fitness (rollouts per fitness, ξ)."""
    fitness_memory: int = 1
    """Generations over which the fitness of a team that survives unchanged is averaged (1: the newest only)."""
    same_instances: bool = False
    """Judge all teams of a generation on the same episodes, so that none is lucky with its worlds."""

    def __post_init__(self) -> None:
        checks.whole(self, "elites", "tournament", "population", "fitness_episodes", "fitness_memory")
        if self.population < self.elites + 2:
            raise UserError(
                f"population is {self.population} with {self.elites} elites; it needs at least {self.elites + 2}: "
                "the elites, one offspring and the migrant."
            )
        if self.tournament > self.population:
            raise UserError(f"tournament is {self.tournament}; choose at most {self.population} (the population).")
        checks.share(self, "mutation_probability", "mutation_fraction", "super_probability", "reset_probability")
        if self.super_probability + self.reset_probability > 1.0:
            raise UserError("super_probability and reset_probability add up to more than 1; lower one of them.")
        checks.not_negative(self, "mutation_strength", "super_factor")


class Selection(eqx.Module):
    """Who goes on, as indices into the population."""

    elites: Int[Array, " elite"]
    winners: Int[Array, " offspring"]  # of the tournaments
    duplicate: Bool[Array, " offspring"]  # winners that won before: pruned


def rank(key: Key, fitness: Float[Array, " pop"]) -> Int[Array, " pop"]:
    """Indices from the fittest to the least fit; a fitness that is not a number comes last.

    Chance decides between equals: by slot, a migrant would lose every tie, and a sparse reward is mostly ties.
    """
    shuffled = jax.random.permutation(key, fitness.shape[0])
    known = jnp.where(jnp.isnan(fitness), -jnp.inf, fitness)
    order = jnp.argsort(-known[shuffled], stable=True)
    return shuffled[order]


class Record(eqx.Module):
    """What is known of each team's fitness: the mean over its newest `age` generations."""

    mean: Float[Array, " pop"]
    age: Int[Array, " pop"]


def new_record(population: int) -> Record:
    """Nothing is known yet."""
    return Record(jnp.zeros(population), jnp.zeros(population, jnp.int32))


def remember(record: Record, newest: Float[Array, " pop"], memory: int) -> Record:
    """Add one generation's fitness. With memory 1 only the newest counts, as in the paper."""
    known = ~jnp.isnan(record.mean)  # a team that broke starts anew
    age = jnp.where(known, jnp.minimum(record.age + 1, memory), 1)
    running = record.mean + (newest - record.mean) / age.astype(newest.dtype)
    return Record(jnp.where(age == 1, newest, running), age)


def judge(record: Record) -> Float[Array, " pop"]:
    """The fitness to rank by: a young team's mean is drawn to the population's, for it may have been lucky.

    The population's mean counts like one generation of the team's own. Among teams of one age this changes no rank.
    """
    age = record.age.astype(record.mean.dtype)
    return (age * record.mean + jnp.nanmean(record.mean)) / (age + 1.0)


def inherit(record: Record, selection: Selection) -> Record:
    """The next generation's record: elites keep theirs, everyone else starts anew."""
    fresh = new_record(record.age.shape[0])
    kept = selection.elites.shape[0]
    return jax.tree.map(lambda new, old: new.at[:kept].set(old[selection.elites]), fresh, record)


def select(key: Key, fitness: Float[Array, " pop"], *, elites: int, tournament: int, migrants: int = 1) -> Selection:
    """Elites by rank, then one tournament of distinct candidates for each offspring (appendix B)."""
    population = fitness.shape[0]
    key_rank, key_tournaments = jax.random.split(key)
    order = rank(key_rank, fitness)
    place = jnp.zeros_like(order).at[order].set(jnp.arange(population))
    offspring = population - elites - migrants

    def one_tournament(key: Key) -> Int[Array, ""]:
        candidates = jax.random.permutation(key, population)[:tournament]
        return candidates[jnp.argmin(place[candidates])]

    winners = jax.vmap(one_tournament)(jax.random.split(key_tournaments, offspring))
    same = winners[:, None] == winners[None, :]
    duplicate = jnp.any(jnp.tril(same, -1), axis=1)
    return Selection(order[:elites], winners, duplicate)


def fate(selection: Selection, index: int) -> Int[Array, ""]:
    """What became of one team: DISCARDED, SELECTED by a tournament, or ELITE."""
    elite = jnp.any(selection.elites == index)
    selected = jnp.any(selection.winners == index)
    return jnp.where(elite, ELITE, jnp.where(selected, SELECTED, DISCARDED))


def crossover(key: Key, first: T, second: T) -> T:
    """Single-point: the first parent's weights up to a random cut, the second's from there on."""
    a, unravel = ravel_pytree(first)
    b, _ = ravel_pytree(second)
    cut = jax.random.randint(key, (), 1, max(a.size, 2))
    return unravel(jnp.where(jnp.arange(a.size) < cut, a, b))


def mutate(key: Key, genome: T, config: EvolutionConfig) -> T:
    """Change a random share of the weights; some of them strongly, some are drawn anew (appendix A)."""

    w, unravel = ravel_pytree(genome)
    key_which, key_noise = jax.random.split(key)
    # One number tells whether a weight changes and, since those that do are uniform too, how.
    which = jax.random.uniform(key_which, w.shape)
    mask = which < config.mutation_fraction
    kind = which / max(config.mutation_fraction, 1e-9)
    noise = jax.random.normal(key_noise, w.shape)
    strong = kind < config.super_probability
    reset = kind >= 1.0 - config.reset_probability
    step = config.mutation_strength * jnp.where(strong, config.super_factor, 1.0)
    return unravel(jnp.where(mask, jnp.where(reset, noise, w + step * noise), w))


def maybe_mutate(key: Key, genome: T, config: EvolutionConfig) -> T:
    """Mutate with the probability of Tables 1 and 2, or leave the genome as it is."""
    key_whether, key_mutate = jax.random.split(key)
    changes = jax.random.bernoulli(key_whether, config.mutation_probability)
    return jax.tree.map(lambda new, old: jnp.where(changes, new, old), mutate(key_mutate, genome, config), genome)


def evolve(
    key: Key,
    population: T,
    selection: Selection,
    config: EvolutionConfig,
    batch: Callable[[Callable[..., Any]], Callable[..., Any]] = jax.vmap,
) -> T:
    """The next generation: elites, then selected teams and children, mutated. `batch` makes the offspring."""
    key_parents, key_cross, key_mutate = jax.random.split(key, 3)
    offspring = selection.winners.shape[0]
    first, second = parents(key_parents, selection)
    # Pruned winners make room for children; a child of a team with itself is that team.
    first = jnp.where(selection.duplicate, first, selection.winners)
    second = jnp.where(selection.duplicate, second, selection.winners)

    def child(xs: tuple[Key, Key, T, T]) -> T:
        key_cross, key_mutate, first, second = xs
        return maybe_mutate(key_mutate, crossover(key_cross, first, second), config)

    keys = jax.random.split(key_cross, offspring), jax.random.split(key_mutate, offspring)
    children = batch(child)((*keys, take(population, first), take(population, second)))
    return jax.tree.map(lambda *parts: jnp.concatenate(parts), take(population, selection.elites), children)


def parents(key: Key, selection: Selection) -> tuple[Int[Array, " offspring"], Int[Array, " offspring"]]:
    """A random elite and a random selected team, for each offspring."""
    key_elite, key_selected = jax.random.split(key)
    offspring = selection.winners.shape[0]
    first = jax.random.choice(key_elite, selection.elites, (offspring,))
    weights = (~selection.duplicate).astype(jnp.float32)
    second = jax.random.choice(key_selected, selection.winners, (offspring,), p=weights / weights.sum())
    return first, second


def migrate(population: T, migrant: T) -> T:
    """Let the learner's team join, in the last slot."""
    return jax.tree.map(lambda teams, team: jnp.concatenate([teams, team[None]]), population, migrant)


class Generation(eqx.Module):
    """What one round of evolution leaves."""

    population: Any  # elites and offspring; a migrant may join
    champion: Any
    record: Record
    selection: Selection


def advance(
    key: Key,
    population: Any,
    record: Record,
    newest: Float[Array, " pop"],
    config: EvolutionConfig,
    *,
    migrants: int,
    batch: Callable[[Callable[..., Any]], Callable[..., Any]] = jax.vmap,
) -> Generation:
    """Lines 10–16: judge every team by its newest fitness and what is known of it, select, cross, mutate."""
    key_select, key_evolve = jax.random.split(key)
    record = remember(record, newest, config.fitness_memory)
    fitness, sizes = judge(record), {"elites": config.elites, "tournament": config.tournament}
    selection = select(key_select, fitness, **sizes, migrants=migrants)
    champion = jax.tree.map(lambda leaf: leaf[selection.elites[0]], population)
    offspring = evolve(key_evolve, population, selection, config, batch)
    return Generation(offspring, champion, inherit(record, selection), selection)


def take(population: T, index: Int[Array, " chosen"]) -> T:
    """The chosen teams, as a population."""
    return jax.tree.map(lambda leaf: leaf[index], population)


def expected_selection_rate(
    population: int = 10, elites: int = 4, tournament: int = 3, *, trials: int = 1_000_000, seed: int = 0
) -> float:
    """How often a team is selected if fitness is pure chance, by simulation (appendix B: 0.47)."""
    EvolutionConfig(population=population, elites=elites, tournament=tournament)
    rounds = min(trials, 10_000)

    @jax.jit
    def share(key: Key) -> Float[Array, ""]:
        def one_trial(key: Key) -> Float[Array, ""]:
            # A random fitness needs no drawing: team 0 is the fittest, since the tournaments are random.
            selection = select(key, -jnp.arange(population, dtype=jnp.float32), elites=elites, tournament=tournament)
            chosen = jnp.zeros(population, bool).at[selection.elites].set(True).at[selection.winners].set(True)
            return chosen.mean()

        return jax.vmap(one_trial)(jax.random.split(key, rounds)).mean()

    keys = jax.random.split(jax.random.key(seed), -(-trials // rounds))
    return float(jnp.stack([share(key) for key in keys]).mean())
