"""How offspring are made: crossover and mutation, each for ONE genome, and the next generation of all."""

from __future__ import annotations

import dataclasses
from typing import Protocol, TypeVar, runtime_checkable

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Int

from merlax.config import Checked, NotNegative, Share
from merlax.core.evolution.lineage import Lineage, lineage
from merlax.core.evolution.selection import Selected
from merlax.types import Key, UserError

T = TypeVar("T")
CHILDREN_AT_ONCE = 32  # so many fit into a cache; all of a large population would fill the memory several times


@runtime_checkable
class Crossover(Protocol):
    """Makes a child of two genomes. A child of a genome with itself must be that genome."""

    def __call__(self, key: Key, first: T, second: T) -> T: ...


@runtime_checkable
class Mutation(Protocol):
    """Changes one genome, or leaves it."""

    def __call__(self, key: Key, genome: T) -> T: ...


@dataclasses.dataclass(frozen=True)
class SinglePointCrossover(Checked, Crossover):
    """The first parent's weights up to a random cut, the second's from there on (Algorithm 1, line 15).

    Examples:
        >>> cross = merlax.SinglePointCrossover()
        >>> child = cross(jax.random.key(0), {"w": jnp.zeros(4)}, {"w": jnp.ones(4)})["w"]
        >>> float(child[0]), float(child[-1])
        (0.0, 1.0)
    """

    def __call__(self, key: Key, first: T, second: T) -> T:
        a, unravel = ravel_pytree(first)
        b, _ = ravel_pytree(second)
        cut = jax.random.randint(key, (), 1, max(a.size, 2))
        return unravel(jnp.where(jnp.arange(a.size) < cut, a, b))


@dataclasses.dataclass(frozen=True)
class GaussianMutation(Checked, Mutation):
    """Gaussian noise on a random share of the weights; some change strongly, some are drawn anew (appendix A).

    Examples:
        >>> mutate = merlax.GaussianMutation(probability=1.0, fraction=0.5)
        >>> child = mutate(jax.random.key(0), {"w": jnp.zeros(1000)})["w"]
        >>> 400 < int(jnp.sum(child != 0.0)) < 600
        True
    """

    probability: Share = 0.9
    """Probability that a team that is not an elite is mutated."""
    fraction: Share = 0.1
    """Share of a mutated team's weights that change."""
    strength: NotNegative = 0.1
    """Standard deviation of a mutation."""
    super_probability: Share = 0.05
    """Share of the mutated weights that change `super_factor` times as much."""
    super_factor: NotNegative = 10.0
    """Size of a super mutation (not in the paper; docs/open-values.md)."""
    reset_probability: Share = 0.05
    """Share of the mutated weights that are drawn anew from N(0, 1)."""

    def check(self) -> None:
        if self.super_probability + self.reset_probability > 1.0:
            raise UserError("super_probability and reset_probability add up to more than 1; lower one of them.")

    def __call__(self, key: Key, genome: T) -> T:
        key_whether, key_mutate = jax.random.split(key)
        changes = jax.random.bernoulli(key_whether, self.probability)
        return jax.tree.map(lambda new, old: jnp.where(changes, new, old), self.mutate(key_mutate, genome), genome)

    def mutate(self, key: Key, genome: T) -> T:
        """Mutate for sure."""
        w, unravel = ravel_pytree(genome)
        key_which, key_noise = jax.random.split(key)
        # One number tells whether a weight changes and, since those that do are uniform too, how.
        which = jax.random.uniform(key_which, w.shape)
        mask = which < self.fraction
        kind = which / max(self.fraction, 1e-9)
        noise = jax.random.normal(key_noise, w.shape)
        strong = kind < self.super_probability
        reset = kind >= 1.0 - self.reset_probability
        step = self.strength * jnp.where(strong, self.super_factor, 1.0)
        return unravel(jnp.where(mask, jnp.where(reset, noise, w + step * noise), w))


def evolve(
    key: Key, population: T, selected: Selected, crossover: Crossover, mutation: Mutation, migrants: int = 0
) -> tuple[T, Lineage]:
    """The next generation: elites, then selected teams and children, mutated; and where all of them come from.

    So many migrants will join.
    """
    key_parents, key_cross, key_mutate = jax.random.split(key, 3)
    offspring = selected.winners.shape[0]
    first, second = parents(key_parents, selected)
    # Duplicates make room for children; a child of a team with itself is that team.
    first = jnp.where(selected.duplicate, first, selected.winners)
    second = jnp.where(selected.duplicate, second, selected.winners)

    def child(xs: tuple[Key, Key, Array, Array]) -> tuple[T, Int[Array, ""]]:
        key_cross, key_mutate, first, second = xs
        crossed = crossover(key_cross, take(population, first), take(population, second))
        mutated = mutation(key_mutate, crossed)
        return mutated, _differ(mutated, crossed)

    keys = jax.random.split(key_cross, offspring), jax.random.split(key_mutate, offspring)
    of_each = *keys, first, second
    few = offspring <= CHILDREN_AT_ONCE
    children, mutated = jax.vmap(child)(of_each) if few else jax.lax.map(child, of_each, batch_size=CHILDREN_AT_ONCE)
    teams = jax.tree.map(lambda *parts: jnp.concatenate(parts), take(population, selected.elites), children)
    return teams, lineage(selected, first, second, mutated, migrants)


def _differ(one: T, other: T) -> Int[Array, ""]:
    """1 if any weight differs."""
    pairs = zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True)
    return jnp.stack([jnp.any(a != b) for a, b in pairs]).any().astype(jnp.int32)


def parents(key: Key, selected: Selected) -> tuple[Int[Array, " offspring"], Int[Array, " offspring"]]:
    """A random elite and a random selected team, for each offspring."""
    key_elite, key_selected = jax.random.split(key)
    offspring = selected.winners.shape[0]
    first = jax.random.choice(key_elite, selected.elites, (offspring,))
    weights = (~selected.duplicate).astype(jnp.float32)
    second = jax.random.choice(key_selected, selected.winners, (offspring,), p=weights / weights.sum())
    return first, second


def migrate(population: T, *migrants: T) -> T:
    """Let the learners' teams join, in the last slots."""
    join = lambda teams, *team: jnp.concatenate([teams, *(one[None] for one in team)])  # noqa: E731
    return jax.tree.map(join, population, *migrants)


def take(population: T, index: Int[Array, "*chosen"]) -> T:
    """The chosen teams, as a population."""
    return jax.tree.map(lambda leaf: leaf[index], population)
