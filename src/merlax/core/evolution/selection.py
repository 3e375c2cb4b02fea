"""Who goes on: elites, and winners of tournaments (appendix B)."""

from __future__ import annotations

import dataclasses
from typing import Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from merlax.config import Checked, Count
from merlax.types import Key, UserError

FATES = DISCARDED, SELECTED, ELITE = "discarded", "selected", "elite"


class Selected(eqx.Module):
    """Who goes on, as indices into the population."""

    elites: Int[Array, " elite"]
    winners: Int[Array, " offspring"]  # one for each offspring
    duplicate: Bool[Array, " offspring"]  # winners that won before: children of two parents take their places


@runtime_checkable
class Selection(Protocol):
    """Chooses who goes on."""

    def __call__(self, key: Key, fitness: Float[Array, " pop"], size: int) -> Selected:
        """Choose `size` teams in all: elites, and winners whose places offspring take."""
        ...


@dataclasses.dataclass(frozen=True)
class TournamentSelection(Checked):
    """Elites by rank, then one tournament of distinct candidates for each offspring (appendix B)."""

    elites: Count = 4
    """Teams that survive unchanged (e)."""
    tournament: Count = 3
    """Candidates per tournament (t, appendix B)."""

    def __call__(self, key: Key, fitness: Float[Array, " pop"], size: int) -> Selected:
        population = fitness.shape[0]
        self.check_room(population, size)
        key_rank, key_tournaments = jax.random.split(key)
        order = rank(key_rank, fitness)
        place = jnp.zeros_like(order).at[order].set(jnp.arange(population))

        def one_tournament(key: Key) -> Int[Array, ""]:
            candidates = jax.random.permutation(key, population)[: self.tournament]
            return candidates[jnp.argmin(place[candidates])]

        winners = jax.vmap(one_tournament)(jax.random.split(key_tournaments, size - self.elites))
        same = winners[:, None] == winners[None, :]
        duplicate = jnp.any(jnp.tril(same, -1), axis=1)
        return Selected(order[: self.elites], winners, duplicate)

    def check_room(self, population: int, size: int) -> None:
        """Refuse a population without room for a single offspring beside the elites and the migrants."""
        migrants = population - size
        if size < self.elites + 1:
            also = {0: "", 1: " and the migrant"}.get(migrants, f" and {migrants} migrants")
            raise UserError(
                f"population is {population} with {self.elites} elites; it needs at least "
                f"{self.elites + 1 + migrants}: the elites, one offspring{also}."
            )
        if self.tournament > population:
            raise UserError(f"tournament is {self.tournament}; choose at most {population} (the population).")


def rank(key: Key, fitness: Float[Array, " pop"]) -> Int[Array, " pop"]:
    """Indices from the fittest to the least fit; a fitness that is not a number comes last.

    Chance decides between equals: by slot, a migrant would lose every tie, and a sparse reward is mostly ties.
    """
    shuffled = jax.random.permutation(key, fitness.shape[0])
    known = jnp.where(jnp.isnan(fitness), -jnp.inf, fitness)
    order = jnp.argsort(-known[shuffled], stable=True)
    return shuffled[order]


def fate_of(team: int, selected: Selected) -> Int[Array, ""]:
    """What became of one team of the population: an index into FATES."""
    elite = jnp.any(selected.elites == team)
    chosen = jnp.any(selected.winners == team)
    return jnp.where(elite, FATES.index(ELITE), jnp.where(chosen, FATES.index(SELECTED), FATES.index(DISCARDED)))


def expected_selection_rate(
    population: int = 10, elites: int = 4, tournament: int = 3, *, trials: int = 1_000_000, seed: int = 0
) -> float:
    """How often a team is selected if fitness is pure chance, by simulation (appendix B: 0.47).

    Args:
        population: Teams in the population (M), the migrant included.
        elites: Teams that survive unchanged (e).
        tournament: Candidates per tournament (t).
        trials: Simulated selections.
        seed: Of the simulation.
    """
    selection = TournamentSelection(elites, tournament)
    selection.check_room(population, population - 1)
    rounds = min(trials, 10_000)

    @jax.jit
    def share(key: Key) -> Float[Array, ""]:
        def one_trial(key: Key) -> Float[Array, ""]:
            # A random fitness needs no drawing: team 0 is the fittest, since the tournaments are random.
            selected = selection(key, -jnp.arange(population, dtype=jnp.float32), population - 1)
            chosen = jnp.zeros(population, bool).at[selected.elites].set(True).at[selected.winners].set(True)
            return chosen.mean()

        return jax.vmap(one_trial)(jax.random.split(key, rounds)).mean()

    keys = jax.random.split(jax.random.key(seed), -(-trials // rounds))
    return float(jnp.stack([share(key) for key in keys]).mean())
