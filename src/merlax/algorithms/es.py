"""OpenAI's evolution strategy (Salimans et al., 2017) on the team reward, through evosax."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator
from functools import cache
from typing import Annotated, Any

import equinox as eqx
import jax
import jax.numpy as jnp

from merlax.algorithms.base import Algorithm, Rollouts, Seat
from merlax.algorithms.evolutionary import random_teams
from merlax.config import LARGEST, Count, Layers, Positive, Range
from merlax.core import rollout
from merlax.core.evolution import fitness
from merlax.core.evolution.fitness import FitnessInfo
from merlax.core.networks import TeamPolicy, without_gains
from merlax.core.records import MAY_BREAK
from merlax.core.rollout import Field
from merlax.envs.base import Side
from merlax.types import Key, UserError


class EsState(eqx.Module):
    """Everything that changes during a run."""

    population: TeamPolicy = eqx.field(metadata=MAY_BREAK)  # [pop, ...], drawn around the mean
    # evosax's: its best fitness is infinite at first, and what breaks in it breaks the mean.
    search: Any = eqx.field(metadata=MAY_BREAK)
    mean: TeamPolicy


@dataclasses.dataclass(frozen=True)
class Es(Algorithm):
    """The evolution strategy.

    Examples:
        >>> merlax.Es(population=200, sigma=0.05).rate
        0.01
    """

    population: Annotated[int, Range(2, LARGEST)] = 100
    """Teams per generation, in mirrored pairs."""
    sigma: Positive = 0.1
    """Standard deviation of the teams around their mean (σ)."""
    rate: Positive = 0.01
    """Adam's learning rate for the mean (not published)."""
    fitness_episodes: Count = 10
    """Episodes per fitness (rollouts per fitness, ξ)."""
    same_instances: bool = False
    """Let all teams of a generation play the same episodes."""
    actor_hidden: Layers = (100, 100)
    """Hidden layers of a team's trunk."""

    def check(self) -> None:
        if self.population % 2:
            raise UserError(f"population is {self.population}; make it even: the teams of ES come in mirrored pairs.")

    def start(self, key: Key, seat: Seat) -> EsState:
        """A random mean, and teams around it."""
        key_mean, key_init, key_ask = jax.random.split(key, 3)
        teams = random_teams(key_mean, seat.side, self.actor_hidden, 1)
        mean = jax.tree.map(lambda leaf: leaf[0], teams)
        return self._around(mean, seat.side, key_init, key_ask)

    def adopt(self, key: Key, state: EsState, policy: TeamPolicy, seat: Seat) -> EsState:
        """The policy as the mean, and teams around it."""
        del state
        return self._around(without_gains(policy), seat.side, *jax.random.split(key))

    def _around(self, mean: TeamPolicy, side: Side, key_init: Key, key_ask: Key) -> EsState:
        strategy = _strategy(self, side)
        with _lenient():
            return self._ask(key_ask, strategy, strategy.init(key_init, mean, strategy.default_params))

    def champion(self, state: EsState) -> TeamPolicy:
        """The mean of the teams."""
        return state.mean

    def players(self, state: EsState) -> TeamPolicy:
        return state.population

    def play(self, key: Key, players: TeamPolicy, field: Field) -> Rollouts:
        """Each team's fitness."""
        keys = fitness.instances(key, self.population, self.fitness_episodes, self.same_instances)
        return (rollout.play_population(keys, field, players, keep=False),)

    def learn(self, key: Key, state: EsState, rollouts: Rollouts, seat: Seat) -> tuple[EsState, FitnessInfo]:
        """Move the mean towards the fitter teams and draw new ones."""
        key_tell, key_ask = jax.random.split(key)
        newest = rollouts[0].episode.fitness.mean(axis=1)
        known = jnp.where(jnp.isnan(newest), jnp.nanmin(newest), newest)  # a broken team counts like the worst
        strategy = _strategy(self, seat.side)
        with _lenient():
            params = strategy.default_params
            search, _ = strategy.tell(key_tell, state.population, -known, state.search, params)  # it minimises
            return self._ask(key_ask, strategy, search), fitness.describe(newest)

    def _ask(self, key: Key, strategy: Any, search: Any) -> EsState:
        teams, search = strategy.ask(key, search, strategy.default_params)
        # evosax mixes in Python numbers; with types of their own, every generation is one and the same program.
        search = jax.tree.map(lambda leaf: jnp.asarray(leaf, jnp.asarray(leaf).dtype), search)
        return EsState(teams, search, strategy.get_mean(search))


@cache
def _strategy(config: Es, side: Side) -> Any:
    """evosax's strategy; it needs an example of a team, and compiles anew for each object."""
    import optax  # here, since a champion plays without them, and evosax starts JAX when it is imported
    from evosax.algorithms import Open_ES

    with jax.ensure_compile_time_eval(), _lenient():
        example = TeamPolicy(jax.random.key(0), side, config.actor_hidden)
        deviation = optax.constant_schedule(config.sigma)
        return Open_ES(config.population, example, optimizer=optax.adam(config.rate), std_schedule=deviation)


@contextlib.contextmanager
def _lenient() -> Iterator[None]:
    """evosax relies on JAX's default promotion, whatever the caller has set."""
    with jax.numpy_rank_promotion("allow"), jax.numpy_dtype_promotion("standard"):
        yield
