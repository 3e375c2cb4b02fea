"""Who goes on: elites, and winners of tournaments (appendix B)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from merlax.config import Checked, Count
from merlax.types import Key, UserError

FATES = DISCARDED, SELECTED, ELITE = "discarded", "selected", "elite"
MOST_TEAMS = 10_000_000  # whose selection rate is worked out in a second
MOST_SIMULATED, MOST_TRIALS = 1_000, 1_000_000_000
_NUMBERS_AT_ONCE = 1_000_000  # that tournaments draw together, each a whole permutation
_SHUFFLED = 256  # teams, or candidates, up to which one is drawn


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
class TournamentSelection(Checked, Selection):
    """Elites by rank, then one tournament of distinct candidates for each offspring (appendix B).

    Examples:
        >>> select = merlax.TournamentSelection(elites=2, tournament=3)
        >>> fitness = jnp.array([0.1, 0.9, 0.3, 0.7, 0.2])
        >>> [int(team) for team in select(jax.random.key(0), fitness, size=4).elites]
        [1, 3]
    """

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
            candidates = distinct(key, population, self.tournament)
            return candidates[jnp.argmin(place[candidates])]

        number, at_once = size - self.elites, max(1, _NUMBERS_AT_ONCE // population)
        keys = jax.random.split(key_tournaments, number)
        few = number <= at_once
        winners = jax.vmap(one_tournament)(keys) if few else jax.lax.map(one_tournament, keys, batch_size=at_once)
        turn = jnp.arange(number)
        first_win = jnp.full(population, number).at[winners].min(turn)
        return Selected(order[: self.elites], winners, duplicate=first_win[winners] < turn)

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


def distinct(key: Key, population: int, number: int) -> Int[Array, " number"]:
    """So many different teams, all sets of them equally likely.

    A small population is shuffled. Of a large one that would take longer than all else: there each is drawn among those
    that are left, counted without the ones before it, and then moved past these.
    """
    if population <= _SHUFFLED or number > _SHUFFLED:
        return jax.random.permutation(key, population)[:number]
    drawn = jax.random.randint(key, (number,), 0, population - jnp.arange(number))
    chosen = drawn[:1]
    for k in range(1, number):
        past = jnp.sort(chosen)
        moved = jax.lax.fori_loop(0, k, lambda i, at, past=past: at + (at >= past[i]).astype(at.dtype), drawn[k])
        chosen = jnp.append(chosen, moved)
    return chosen


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


def expected_selection_rate(population: int = 10, elites: int = 4, tournament: int = 3, migrants: int = 1) -> float:
    """How often a team is selected if fitness is pure chance (appendix B: 0.47).

    The team in place r, the fittest being in place 0, wins a tournament if it is a candidate and no fitter one is: with
    probability C(M - 1 - r, t - 1) / C(M, t). It goes on if it is an elite, or wins one of M - m - e tournaments.

    Args:
        population: Teams in the population (M), the migrant included.
        elites: Teams that survive unchanged (e).
        tournament: Candidates per tournament (t).
        migrants: Slots that offspring do not get (m).

    Examples:
        >>> round(merlax.expected_selection_rate(population=10, elites=4, tournament=3), 3)
        0.474
    """
    _check_size("population", population, MOST_TEAMS)
    TournamentSelection(elites, tournament).check_room(population, population - migrants)
    place = np.arange(population - 1)
    fewer = np.maximum(population - tournament - place, 0) / (population - 1 - place)
    wins = tournament / population * np.cumprod(np.concatenate([[1.0], fewer]))
    goes_on = 1.0 - (1.0 - wins[elites:]) ** (population - migrants - elites)
    return float((elites + goes_on.sum()) / population)


def simulated_selection_rate(
    population: int = 10,
    elites: int = 4,
    tournament: int = 3,
    *,
    trials: int = 1_000_000,
    seed: int = 0,
    watch: Callable[[range], Iterable[int]] = iter,
) -> float:
    """The same rate by simulation, as the paper has it.

    Args:
        population: Teams in the population (M), the migrant included.
        elites: Teams that survive unchanged (e).
        tournament: Candidates per tournament (t).
        trials: Simulated selections.
        seed: Of the simulation.
        watch: Hands on the parts of the work one by one, such as a progress bar.
    """
    _check_size("population", population, MOST_SIMULATED)
    _check_size("trials", trials, MOST_TRIALS)
    selection = TournamentSelection(elites, tournament)
    selection.check_room(population, population - 1)
    at_once = min(trials, max(1, _NUMBERS_AT_ONCE // population**2))

    @jax.jit
    def share(key: Key) -> Float[Array, ""]:
        def one_trial(key: Key) -> Float[Array, ""]:
            # A random fitness needs no drawing: team 0 is the fittest, since the tournaments are random.
            selected = selection(key, -jnp.arange(population, dtype=jnp.float32), population - 1)
            chosen = jnp.zeros(population, bool).at[selected.elites].set(True).at[selected.winners].set(True)
            return chosen.mean()

        return jax.vmap(one_trial)(jax.random.split(key, at_once)).mean()

    parts = watch(range(-(-trials // at_once)))
    return float(np.mean([float(share(jax.random.fold_in(jax.random.key(seed), part))) for part in parts]))


def _check_size(name: str, value: int, most: int) -> None:
    if not 1 <= value <= most:
        raise UserError(f"{name} is {value}; choose a whole number from 1 to {most:,}.")
