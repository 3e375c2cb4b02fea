"""OpenAI's evolution strategy (Salimans et al., 2017) on the team reward, through evosax."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator
from functools import cache
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from merlax import config as checks
from merlax.algorithms import population
from merlax.algorithms.base import Algorithm, Experience
from merlax.core import rollout
from merlax.core.networks import TeamPolicy
from merlax.core.rollout import Opponent
from merlax.envs.base import Env
from merlax.types import Key, Metrics, UserError


@dataclasses.dataclass(frozen=True)
class EsConfig:
    """Everything that shapes a run of the evolution strategy."""

    population: int = 100
    """Teams per generation, in mirrored pairs."""
    sigma: float = 0.1
    """Standard deviation of the teams around their mean (σ)."""
    rate: float = 0.01
    """Adam's learning rate for the mean (not published)."""
    fitness_episodes: int = 10
    """Episodes per fitness (rollouts per fitness, ξ)."""
    same_instances: bool = False
    """Judge all teams of a generation on the same episodes."""
    actor_hidden: tuple[int, ...] = (100, 100)
    """Hidden layers of a team's trunk."""

    def __post_init__(self) -> None:
        checks.whole(self, "population", least=2)
        if self.population % 2:
            raise UserError(f"population is {self.population}; make it even: the teams of ES come in mirrored pairs.")
        checks.whole(self, "fitness_episodes")
        checks.positive(self, "sigma", "rate")
        checks.layers(self, "actor_hidden")


class EsState(eqx.Module):
    """Everything that changes during a run."""

    population: TeamPolicy  # [pop, ...], drawn around the mean
    search: Any  # evosax's: the mean, its optimiser's moments


@dataclasses.dataclass(frozen=True)
class Es(Algorithm):
    """The evolution strategy on one world."""

    config: EsConfig = dataclasses.field(default_factory=EsConfig)

    @property
    def frames_per_generation(self) -> int:
        return self.config.population * self.config.fitness_episodes * self.env.horizon

    @property
    def strategy(self) -> Any:
        return _strategy(self.env, self.config)

    def start(self, key: Key) -> EsState:
        """A random mean, and teams around it."""
        key_mean, key_init, key_ask = jax.random.split(key, 3)
        teams = population.random_teams(key_mean, self.env, self.config.actor_hidden, 1)
        mean = jax.tree.map(lambda leaf: leaf[0], teams)
        with _lenient():
            return self._ask(key_ask, self.strategy.init(key_init, mean, self.strategy.default_params))

    def champion(self, state: EsState) -> TeamPolicy:
        """The mean of the teams."""
        return self.strategy.get_mean(state.search)

    def players(self, state: EsState) -> TeamPolicy:
        return state.population

    def rollouts(self, key: Key, players: TeamPolicy, opponent: Opponent | None) -> Experience:
        """Each team's fitness."""
        c = self.config
        keys = population.fitness_keys(key, c.population, c.fitness_episodes, c.same_instances)
        return (rollout.play_population(keys, self.env, players, None, opponent, keep=False),)

    def learn(self, key: Key, state: EsState, experience: Experience) -> tuple[EsState, Metrics]:
        """Move the mean towards the fitter teams and draw new ones."""
        ((played, _),) = experience
        key_tell, key_ask = jax.random.split(key)
        fitness = played.fitness.mean(axis=1)
        judged = jnp.where(jnp.isnan(fitness), jnp.nanmin(fitness), fitness)  # a broken team counts like the worst
        with _lenient():
            params = self.strategy.default_params
            search, _ = self.strategy.tell(key_tell, state.population, -judged, state.search, params)  # it minimises
            metrics = population.fitness_metrics(fitness) | {"frames": played.frames.sum()}
            return self._ask(key_ask, search), metrics

    def _ask(self, key: Key, search: Any) -> EsState:
        teams, search = self.strategy.ask(key, search, self.strategy.default_params)
        # evosax mixes in Python numbers; with types of their own, every generation is one and the same program.
        return EsState(teams, jax.tree.map(lambda leaf: jnp.asarray(leaf, jnp.asarray(leaf).dtype), search))


@cache
def _strategy(env: Env, config: EsConfig) -> Any:
    """evosax's strategy; it needs an example of a team, and compiles anew for each object."""
    import optax  # here, since a champion plays without them, and evosax starts JAX when it is imported
    from evosax.algorithms import Open_ES

    with jax.ensure_compile_time_eval(), _lenient():
        teams = population.random_teams(jax.random.key(0), env, config.actor_hidden, 1)
        example = jax.tree.map(lambda leaf: leaf[0], teams)
        deviation = optax.constant_schedule(config.sigma)
        return Open_ES(config.population, example, optimizer=optax.adam(config.rate), std_schedule=deviation)


@contextlib.contextmanager
def _lenient() -> Iterator[None]:
    """evosax relies on JAX's default promotion, whatever the caller has set."""
    with jax.numpy_rank_promotion("allow"), jax.numpy_dtype_promotion("standard"):
        yield
