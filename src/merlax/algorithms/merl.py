"""MERL (paper, Algorithm 1): evolution on the team reward, TD3 on the agents' rewards, migration between them."""

from __future__ import annotations

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.sharding import Mesh

from merlax import config as checks
from merlax.algorithms import population
from merlax.algorithms.base import Algorithm, Experience
from merlax.core import devices, evolution, replay, rollout, td3
from merlax.core.evolution import EvolutionConfig
from merlax.core.networks import TeamPolicy
from merlax.core.rollout import Opponent
from merlax.core.td3 import TD3Config
from merlax.types import Key, Metrics


@dataclasses.dataclass(frozen=True)
class MerlConfig:
    """Everything that shapes a run of MERL."""

    evolution: EvolutionConfig = dataclasses.field(default_factory=EvolutionConfig)
    td3: TD3Config = dataclasses.field(default_factory=TD3Config)
    noisy_episodes: int = 1
    """Noisy episodes of each team of the population (Algorithm 1, line 8)."""
    explore_episodes: int = 50
    """Noisy episodes of the learner per generation (rollout size)."""
    noise: float = 0.4
    """Standard deviation of the exploration noise (σ)."""
    actor_hidden: tuple[int, ...] = (100, 100)
    """Hidden layers of a team's trunk."""
    critic_hidden: tuple[int, ...] = (100, 100)
    """Hidden layers of a critic."""

    def __post_init__(self) -> None:
        checks.whole(self, "noisy_episodes", "explore_episodes")
        checks.not_negative(self, "noise")
        checks.layers(self, "actor_hidden", "critic_hidden")


class MerlState(eqx.Module):
    """Everything that changes during a run."""

    population: TeamPolicy  # [pop, ...]; the last team is the migrant
    record: evolution.Record
    learner: td3.Learner
    buffer: replay.Buffer
    champion: TeamPolicy


@dataclasses.dataclass(frozen=True)
class Merl(Algorithm):
    """MERL on one world."""

    config: MerlConfig = dataclasses.field(default_factory=MerlConfig)

    @property
    def frames_per_generation(self) -> int:
        c = self.config
        episodes = c.evolution.population * (c.evolution.fitness_episodes + c.noisy_episodes) + c.explore_episodes
        return episodes * self.env.horizon

    @property
    def mesh(self) -> Mesh:
        return devices.mesh(td3.shards(self.config.td3, self.env.num_agents))

    def start(self, key: Key) -> MerlState:
        """Lines 1–3: a random population with the learner's first team in it, and empty buffers."""
        key_population, key_learner = jax.random.split(key)
        env, c = self.env, self.config
        sizes = env.num_agents, env.obs_size, env.act_size
        learner = td3.init(key_learner, *sizes, c.actor_hidden, c.critic_hidden, c.td3)
        teams = population.random_teams(key_population, env, c.actor_hidden, c.evolution.population - 1)
        return MerlState(
            population=evolution.migrate(teams, learner.actor),
            record=evolution.new_record(c.evolution.population),
            learner=learner,
            buffer=replay.create(c.td3.buffer, *sizes, shards=self.mesh.size),
            champion=jax.tree.map(jnp.copy, learner.actor),
        )

    def champion(self, state: MerlState) -> TeamPolicy:
        """The fittest team of the newest generation."""
        return state.champion

    def players(self, state: MerlState) -> tuple[TeamPolicy, TeamPolicy]:
        return state.population, state.learner.actor

    def rollouts(self, key: Key, players: tuple[TeamPolicy, TeamPolicy], opponent: Opponent | None) -> Experience:
        """Lines 6–9: each team's fitness, its noisy episodes, and the learner's own."""
        teams, learner = players
        c, e = self.config, self.config.evolution
        key_fitness, key_noisy, key_learner = jax.random.split(key, 3)
        keys_fitness = population.fitness_keys(key_fitness, e.population, e.fitness_episodes, e.same_instances)
        keys_noisy = jax.random.split(key_noisy, (e.population, c.noisy_episodes))
        keys = jnp.concatenate([keys_fitness, keys_noisy], axis=1)
        noise = jnp.where(jnp.arange(keys.shape[1]) < e.fitness_episodes, 0.0, c.noise)
        played = rollout.play_population(keys, self.env, teams, noise, opponent)
        keys_learner = jax.random.split(key_learner, c.explore_episodes)
        return played, rollout.play_team(keys_learner, self.env, learner, c.noise, opponent)

    def learn(self, key: Key, state: MerlState, experience: Experience) -> tuple[MerlState, Metrics]:
        """Lines 10–28: remember, learn, rank, select, evolve, migrate."""
        c = self.config
        key_learn, key_evolve = jax.random.split(key)
        (played, teams_memory), (explored, learner_memory) = experience
        buffer = rollout.remember(state.buffer, teams_memory)
        buffer = rollout.remember(buffer, learner_memory)
        frames = played.frames.sum() + explored.frames.sum()
        learner, losses = td3.learn(key_learn, state.learner, buffer, frames, c.td3)

        fitness = played.fitness[:, : c.evolution.fitness_episodes].mean(axis=1)
        generation = evolution.advance(
            key_evolve, state.population, state.record, fitness, c.evolution, migrants=1, batch=self.batched
        )
        teams = evolution.migrate(generation.population, learner.actor)

        metrics = (
            losses
            | population.fitness_metrics(fitness)
            | {
                "frames": frames,
                "learner_score": fitness[-1],
                "explore_score": explored.fitness.mean(),
                "agent_reward": explored.agent_reward.sum() / explored.frames.sum().astype(jnp.float32),
                "migrant_fate": evolution.fate(generation.selection, c.evolution.population - 1),
            }
        )
        return MerlState(teams, generation.record, learner, buffer, generation.champion), metrics
