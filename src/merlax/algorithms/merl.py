"""MERL (paper, Algorithm 1): evolution on the team reward, TD3 on the agents' rewards, migration between them."""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from merlax import checks, devices, evolution, replay, rollout, td3
from merlax.envs.base import Env
from merlax.evolution import EvolutionConfig
from merlax.networks import TeamPolicy
from merlax.td3 import TD3Config
from merlax.types import Key, Metrics, UserError


@dataclasses.dataclass(frozen=True)
class MerlConfig:
    """Everything that shapes a run of MERL."""

    evolution: EvolutionConfig = dataclasses.field(default_factory=EvolutionConfig)
    td3: TD3Config = dataclasses.field(default_factory=TD3Config)
    fitness_episodes: int = 10
    """Episodes per fitness (rollouts per fitness, ξ)."""
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
    fitness_memory: int = 1
    """Generations over which the fitness of a team that survives unchanged is averaged (1: the newest only)."""
    same_instances: bool = False
    """Judge all teams of a generation on the same episodes, so that none is lucky with its worlds."""

    def __post_init__(self) -> None:
        checks.whole(self, "fitness_episodes", "noisy_episodes", "explore_episodes", "fitness_memory")
        checks.not_negative(self, "noise")
        for name in ("actor_hidden", "critic_hidden"):
            if not getattr(self, name) or min(getattr(self, name)) < 1:
                raise UserError(f"{name} is {getattr(self, name)}; give at least one layer, each of at least 1 unit.")


class MerlState(eqx.Module):
    """Everything that changes during a run."""

    population: TeamPolicy  # [pop, ...]; the last team is the migrant
    record: evolution.Record
    learner: td3.Learner
    buffer: replay.Buffer
    champion: TeamPolicy


@dataclasses.dataclass(frozen=True)
class Merl:
    """`init`, `step` and `champion` of MERL on one world."""

    env: Env
    config: MerlConfig = dataclasses.field(default_factory=MerlConfig)

    @property
    def frames_per_generation(self) -> int:
        """Joint steps of one generation in which no episode ends early."""
        c = self.config
        episodes = c.evolution.population * (c.fitness_episodes + c.noisy_episodes) + c.explore_episodes
        return episodes * self.env.horizon

    def init(self, key: Key) -> MerlState:
        """Lines 1–3: a random population with the learner's first team in it, and empty buffers."""
        return devices.gather(devices.mesh(), self._init(key))

    @partial(jax.jit, static_argnums=0, compiler_options=devices.QUICK_COMPILE)
    def _init(self, key: Key) -> MerlState:
        key_population, key_learner = jax.random.split(key)
        env, c = self.env, self.config
        sizes = env.num_agents, env.obs_size, env.act_size
        learner = td3.init(key_learner, *sizes, c.actor_hidden, c.critic_hidden, c.td3)
        keys = jax.random.split(key_population, c.evolution.population)
        population = jax.vmap(lambda k: TeamPolicy(k, *sizes, c.actor_hidden))(keys)
        return MerlState(
            population=evolution.migrate(population, learner.actor),
            record=evolution.new_record(c.evolution.population),
            learner=learner,
            buffer=replay.create(c.td3.buffer, *sizes),
            champion=jax.tree.map(jnp.copy, learner.actor),
        )

    def step(self, key: Key, state: MerlState) -> tuple[MerlState, Metrics]:
        """One generation: all rollouts over all devices, then everything else on the first."""
        key_rollouts, key_learn = jax.random.split(key)
        experience = self.explore(key_rollouts, state.population, state.learner.actor)
        return self.improve(*devices.gather(devices.mesh(), (key_learn, state, experience)))

    def champion(self, state: MerlState) -> TeamPolicy:
        """The fittest team of the newest generation."""
        return state.champion

    def explore(self, key: Key, population: TeamPolicy, learner: TeamPolicy) -> Any:
        """Lines 6–9 and the learner's own noisy rollouts, over all devices."""
        return self._explore(*devices.spread(devices.mesh(), (key, population, learner)))

    @partial(jax.jit, static_argnums=0, compiler_options=devices.QUICK_COMPILE)
    def _explore(self, key: Key, population: TeamPolicy, learner: TeamPolicy) -> Any:
        c = self.config
        key_teams, key_learner = jax.random.split(key)
        episodes = c.fitness_episodes + c.noisy_episodes
        noise = jnp.where(jnp.arange(episodes) < c.fitness_episodes, 0.0, c.noise)
        if c.same_instances:
            keys = jnp.broadcast_to(jax.random.split(key_teams, episodes), (c.evolution.population, episodes))
        else:
            keys = jax.random.split(key_teams, (c.evolution.population, episodes))
        teams = rollout.play_population(keys, self.env, population, noise)
        keys_learner = jax.random.split(key_learner, c.explore_episodes)
        return teams, rollout.play_team(keys_learner, self.env, learner, c.noise)

    @partial(jax.jit, static_argnums=0, donate_argnums=2)
    def improve(self, key: Key, state: MerlState, experience: Any) -> tuple[MerlState, Metrics]:
        """Lines 10–28: remember, learn, rank, select, evolve, migrate."""
        c = self.config
        key_learn, key_select, key_evolve = jax.random.split(key, 3)
        (played, memory), (explored, learner_memory) = experience
        buffer = _remember(_remember(state.buffer, memory), learner_memory)
        frames = played.frames.sum() + explored.frames.sum()
        learner, losses = td3.learn(key_learn, state.learner, buffer, frames, c.td3)

        newest = played.fitness[:, : c.fitness_episodes].mean(axis=1)
        record = evolution.remember(state.record, newest, c.fitness_memory)
        fitness = evolution.judge(record)
        selection = evolution.select(key_select, fitness, elites=c.evolution.elites, tournament=c.evolution.tournament)
        champion = jax.tree.map(lambda leaf: leaf[selection.elites[0]], state.population)
        population = evolution.evolve(key_evolve, state.population, selection, c.evolution)
        population = evolution.migrate(population, learner.actor)

        metrics = losses | {
            "frames": frames,
            "fitness": newest,
            "best_fitness": newest.max(),
            "mean_fitness": newest.mean(),
            "learner_score": newest[-1],
            "agent_reward": explored.agent_reward.sum() / explored.frames.sum().astype(jnp.float32),
            "migrant_fate": evolution.fate(selection, c.evolution.population - 1),
        }
        state = MerlState(
            population=population,
            record=evolution.inherit(record, selection),
            learner=learner,
            buffer=buffer,
            champion=champion,
        )
        return state, metrics


def _remember(buffer: replay.Buffer, memory: rollout.Memory) -> replay.Buffer:
    """Store all transitions of a batch of episodes."""
    batch = memory.valid.ndim
    flat = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[batch:]), memory)
    return replay.add(buffer, flat.transitions, flat.valid)
