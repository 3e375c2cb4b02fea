"""MERL (paper, Algorithm 1): evolution on the team reward, TD3 on the agents' rewards, migration between them."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from merlax.algorithms import gradient
from merlax.algorithms.base import Episodes, InPieces, Rollouts, Seat
from merlax.algorithms.evolutionary import Evolutionary, random_teams
from merlax.config import Count, Length, NotNegative
from merlax.core import replay, rollout, td3
from merlax.core.evolution import fitness, operators, selection
from merlax.core.evolution.fitness import FitnessInfo, FitnessRecord
from merlax.core.networks import TeamPolicy
from merlax.core.players import PolicyPlayer
from merlax.core.records import MAY_BREAK, names
from merlax.core.rollout import Episode, Field
from merlax.core.td3 import Learner, LearningInfo, Td3
from merlax.types import Key, UserError


class MerlState(eqx.Module):
    """Everything that changes during a run."""

    # [pop, ...]; the last teams are the migrants, one for each learner.
    population: TeamPolicy = eqx.field(metadata=MAY_BREAK)
    record: FitnessRecord
    learners: tuple[Learner, ...]
    buffer: replay.Buffer
    champion: TeamPolicy


class LearnerInfo(eqx.Module):
    """What is written down of one learner and its migrant."""

    learner_score: Float[Array, ""] = eqx.field(metadata=MAY_BREAK)  # its team's fitness, as a member of the population
    migrant_fate: Int[Array, ""] = eqx.field(metadata=names(selection.FATES))
    explore_score: Float[Array, ""]  # the fitness of its noisy episodes
    agent_reward: Float[Array, ""]  # in these, per step
    learning: LearningInfo


class MerlInfo(eqx.Module):
    """What is written down of one generation."""

    evolution: FitnessInfo
    learners: tuple[LearnerInfo, ...]


@dataclasses.dataclass(frozen=True)
class Merl(Evolutionary, InPieces):
    """MERL. The paper's has one learner; each of several has a reward, a discount and a migrant's slot of its own."""

    learners: Annotated[tuple[Td3, ...], Length(1, 32)] = (Td3(),)
    noisy_episodes: Count = 1
    """Noisy episodes of each team of the population (Algorithm 1, line 8)."""
    explore_episodes: Count = 50
    """Noisy episodes of each learner per generation (rollout size)."""
    noise: NotNegative = 0.4
    """Standard deviation of the exploration noise (σ)."""

    def check(self) -> None:
        super().check()
        if len({learner.buffer for learner in self.learners}) > 1:
            raise UserError("The learners share one replay buffer; give all of them the same `buffer`.")

    @property
    def num_migrants(self) -> int:
        return len(self.learners)

    def num_shards(self, seat: Seat) -> int:
        return td3.num_shards(self.learners, seat.side.num_agents)

    def start(self, key: Key, seat: Seat) -> MerlState:
        """Lines 1–3: a random population with the learners' first teams in it, and empty buffers."""
        key_population, key_learners = jax.random.split(key)
        keys = jax.random.split(key_learners, len(self.learners))
        learners = tuple(
            td3.init(k, seat.side, self.actor_hidden, config) for k, config in zip(keys, self.learners, strict=True)
        )
        teams = random_teams(key_population, seat.side, self.actor_hidden, self.population - len(learners))
        return MerlState(
            population=operators.migrate(teams, *(learner.actor for learner in learners)),
            record=fitness.nothing_known(self.population),
            learners=learners,
            buffer=replay.create(self.learners[0].buffer, seat.side, self.num_shards(seat)),
            champion=jax.tree.map(jnp.copy, learners[0].actor),
        )

    def champion(self, state: MerlState) -> TeamPolicy:
        """The fittest team of the newest generation."""
        return state.champion

    def players(self, state: MerlState) -> tuple[TeamPolicy, tuple[TeamPolicy, ...]]:
        return state.population, tuple(learner.actor for learner in state.learners)

    def play(self, key: Key, players: tuple[TeamPolicy, tuple[TeamPolicy, ...]], field: Field) -> Rollouts:
        """Lines 6–9: each team's fitness, its noisy episodes, and the learners' own."""
        teams, learners = players
        key_fitness, key_noisy, key_learners = jax.random.split(key, 3)
        keys_noisy = jax.random.split(key_noisy, (self.population, self.noisy_episodes))
        keys = jnp.concatenate([self.fitness.keys(key_fitness, self.population), keys_noisy], axis=1)
        noise = jnp.where(jnp.arange(keys.shape[1]) < self.fitness.episodes, 0.0, self.noise)
        keys_learners = jax.random.split(key_learners, (len(learners), self.explore_episodes))
        explored = (
            rollout.play_team(own, field, PolicyPlayer(actor), self.noise)
            for own, actor in zip(keys_learners, learners, strict=True)
        )
        return rollout.play_population(keys, field, teams, noise), *explored

    def receive(self, state: MerlState, rollouts: Rollouts, seat: Seat) -> MerlState:
        """Store every rollout in the buffers that all learners share."""
        buffer = gradient.store(state.buffer, rollouts, seat)
        frames = rollout.num_frames(each.episode for each in rollouts)
        learners = tuple(
            td3.owe(learner, buffer, frames, config)
            for learner, config in zip(state.learners, self.learners, strict=True)
        )
        return dataclasses.replace(state, learners=learners, buffer=buffer)

    def rounds(self, state: MerlState) -> tuple[Array, Array]:
        done, due = zip(*((each.practice.done, each.practice.due) for each in state.learners), strict=True)
        return jnp.stack(done).max(), jnp.stack(due).max()

    def practise(self, key: Key, state: MerlState, seat: Seat, most: Int[Array, ""] | None = None) -> MerlState:
        """Lines 17–27, for every learner."""
        key_learn, _ = jax.random.split(key)
        keys = jax.random.split(key_learn, len(self.learners))
        learners = tuple(
            td3.practise(k, learner, state.buffer, config, seat.reward_bounds, most)
            for k, learner, config in zip(keys, state.learners, self.learners, strict=True)
        )
        return dataclasses.replace(state, learners=learners)

    def conclude(self, key: Key, state: MerlState, episodes: Episodes, seat: Seat) -> tuple[MerlState, MerlInfo]:
        """Lines 10–16 and 28: rank, select, evolve, migrate."""
        _, key_evolve = jax.random.split(key)
        played, *explored = episodes
        newest = played.fitness[:, : self.fitness.episodes].mean(axis=1)
        evolved = self.evolve(key_evolve, state.population, state.record, newest)
        teams = operators.migrate(evolved.population, *(learner.actor for learner in state.learners))

        slots = range(self.population - len(state.learners), self.population)
        infos = tuple(
            self._describe(one, newest[slot], selection.fate_of(slot, evolved.selected), learner, seat)
            for one, slot, learner in zip(explored, slots, state.learners, strict=True)
        )
        info = MerlInfo(fitness.describe(newest), infos)
        return MerlState(teams, evolved.record, state.learners, state.buffer, evolved.champion), info

    def _describe(self, explored: Episode, score: Array, fate: Array, learner: Learner, seat: Seat) -> LearnerInfo:
        paid = explored.agent_reward[seat.index].sum() / explored.frames.sum().astype(jnp.float32)
        return LearnerInfo(score, fate, explored.fitness.mean(), paid, td3.report(learner))
