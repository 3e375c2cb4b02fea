"""The evolutionary half of MERL alone: no learner, no buffers, no migrant."""

from __future__ import annotations

import dataclasses

import equinox as eqx
import jax

from merlax import config as checks
from merlax.algorithms import population
from merlax.algorithms.base import Algorithm, Experience
from merlax.core import evolution, rollout
from merlax.core.evolution import EvolutionConfig
from merlax.core.networks import TeamPolicy
from merlax.core.rollout import Opponent
from merlax.types import Key, Metrics


@dataclasses.dataclass(frozen=True)
class EaConfig:
    """Everything that shapes a run of the evolutionary algorithm."""

    evolution: EvolutionConfig = dataclasses.field(default_factory=EvolutionConfig)
    actor_hidden: tuple[int, ...] = (100, 100)
    """Hidden layers of a team's trunk."""

    def __post_init__(self) -> None:
        checks.layers(self, "actor_hidden")


class EaState(eqx.Module):
    """Everything that changes during a run."""

    population: TeamPolicy  # [pop, ...]
    record: evolution.Record
    champion: TeamPolicy


@dataclasses.dataclass(frozen=True)
class Ea(Algorithm):
    """The evolutionary algorithm on one world."""

    config: EaConfig = dataclasses.field(default_factory=EaConfig)

    @property
    def frames_per_generation(self) -> int:
        return self.config.evolution.population * self.config.evolution.fitness_episodes * self.env.horizon

    def start(self, key: Key) -> EaState:
        """A random population."""
        c = self.config
        teams = population.random_teams(key, self.env, c.actor_hidden, c.evolution.population)
        champion = jax.tree.map(lambda leaf: leaf[0], teams)
        return EaState(teams, evolution.new_record(c.evolution.population), champion)

    def champion(self, state: EaState) -> TeamPolicy:
        """The fittest team of the newest generation."""
        return state.champion

    def players(self, state: EaState) -> TeamPolicy:
        return state.population

    def rollouts(self, key: Key, players: TeamPolicy, opponent: Opponent | None) -> Experience:
        """Each team's fitness."""
        c = self.config.evolution
        keys = population.fitness_keys(key, c.population, c.fitness_episodes, c.same_instances)
        return (rollout.play_population(keys, self.env, players, None, opponent, keep=False),)

    def learn(self, key: Key, state: EaState, experience: Experience) -> tuple[EaState, Metrics]:
        """Rank, select, cross, mutate."""
        ((played, _),) = experience
        fitness = played.fitness.mean(axis=1)
        generation = evolution.advance(
            key, state.population, state.record, fitness, self.config.evolution, migrants=0, batch=self.batched
        )
        metrics = population.fitness_metrics(fitness) | {"frames": played.frames.sum()}
        return EaState(generation.population, generation.record, generation.champion), metrics
