"""MERL (paper, Algorithm 1): evolution on the team reward, TD3 on the agents' rewards, migration between them."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from merlax.algorithms import gradient
from merlax.algorithms.base import Episodes, InPieces, Rollouts, Seat
from merlax.algorithms.evolutionary import Evolutionary, random_teams
from merlax.config import Count, Length, NotNegative
from merlax.core import practice, replay, rollout, td3
from merlax.core.evolution import allocation, fitness, operators, selection
from merlax.core.evolution.fitness import FitnessInfo, FitnessRecord
from merlax.core.evolution.selection import Selected
from merlax.core.evolution.tuning import Tuning, TuningState
from merlax.core.networks import TeamPolicy, tuned, untuned, without_gains
from merlax.core.players import PolicyPlayer
from merlax.core.practice import LearningInfo
from merlax.core.records import MAY_BREAK, names
from merlax.core.rollout import Episode, Field
from merlax.core.td3 import Learner, Td3
from merlax.types import Key, UserError


class MerlState(eqx.Module):
    """Everything that changes during a run."""

    # [pop, ...]; the last teams are the migrants: the tuned team, if there is one, then one for each learner.
    population: TeamPolicy = eqx.field(metadata=MAY_BREAK)
    record: FitnessRecord
    learners: tuple[Learner, ...]
    buffer: replay.Buffer
    champion: TeamPolicy
    tuning: TuningState | None = None
    rates: Float[Array, " learner"] | None = None  # how often each learner's migrant is selected, if that counts


class LearnerInfo(eqx.Module):
    """What is written down of one learner and its migrant."""

    learner_score: Float[Array, ""] = eqx.field(metadata=MAY_BREAK)  # its team's fitness, as a member of the population
    migrant_fate: Int[Array, ""] = eqx.field(metadata=names(selection.FATES))
    explore_score: Float[Array, ""]  # the fitness of its noisy episodes
    agent_reward: Float[Array, ""]  # in these, per step
    learning: LearningInfo


class TunedInfo(eqx.Module):
    """What is written down of the tuned team."""

    tuned_score: Float[Array, ""] = eqx.field(metadata=MAY_BREAK)  # its fitness, as a member of the population
    tuned_fate: Int[Array, ""] = eqx.field(metadata=names(selection.FATES))
    tuned_gain: Float[Array, ""]  # root mean square of its gains


class MerlInfo(eqx.Module):
    """What is written down of one generation."""

    evolution: FitnessInfo
    learners: tuple[LearnerInfo, ...]
    tuning: TunedInfo | None


@dataclasses.dataclass(frozen=True)
class Merl(Evolutionary, InPieces):
    """MERL. The paper's has one learner; each of several has a reward, a discount and a migrant's slot of its own.

    Examples:
        >>> short, far = merlax.Td3(discount=0.3), merlax.Td3(discount=0.8)
        >>> merl = merlax.Merl(population=20, learners=(short, far))
        >>> merl.num_migrants
        2
    """

    learners: Annotated[tuple[Td3, ...], Length(1, 32)] = (Td3(),)
    allocate: Literal["equal", "selection"] = "equal"
    """How gradient steps are divided among several learners: each has its own number, or the more of all of them the
    more often its migrant is selected."""
    tuning: Tuning = Tuning()
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
        if self.allocate == "selection" and len(self.learners) < 2:
            raise UserError("allocate is 'selection' but there is only one learner; give several, or leave it out.")

    @property
    def num_migrants(self) -> int:
        return len(self.learners) + self.tunes

    @property
    def tunes(self) -> bool:
        """Whether a tuned team of the first learner's migrates, too."""
        return self.tuning.pairs > 0

    def num_shards(self, seat: Seat) -> int:
        return practice.num_shards(self.learners, seat.side.num_agents)

    def start(self, key: Key, seat: Seat) -> MerlState:
        """Lines 1–3: a random population with the learners' first teams in it, and empty buffers."""
        key_population, key_learners = jax.random.split(key)
        keys = jax.random.split(key_learners, len(self.learners))
        learners = tuple(
            td3.init(k, seat.side, self.actor_hidden, config) for k, config in zip(keys, self.learners, strict=True)
        )
        tuning = None
        if self.tunes:
            key_tuning, key_population = jax.random.split(key_population)
            tuning = self.tuning.start(key_tuning, seat.side)
        teams = random_teams(key_population, seat.side, self.actor_hidden, self.population - self.num_migrants)
        migrants = self._migrants(learners, tuning)
        return MerlState(
            population=operators.migrate(jax.vmap(untuned)(teams) if self.tunes else teams, *migrants),
            record=fitness.nothing_known(self.population),
            learners=learners,
            buffer=replay.create(self.learners[0].buffer, seat.side, self.num_shards(seat)),
            champion=jax.tree.map(jnp.copy, migrants[0]),
            tuning=tuning,
            rates=allocation.nothing_known(len(learners)) if self.allocate == "selection" else None,
        )

    def adopt(self, key: Key, state: MerlState, policy: TeamPolicy, seat: Seat) -> MerlState:
        """The policy as every learner's actor, as the mean of the tuned teams, and with mutants as the population."""
        del seat
        actor, tuning = without_gains(policy), state.tuning
        learners = tuple(td3.adopt(learner, actor) for learner in state.learners)
        own = actor
        if tuning is not None:
            own = untuned(policy) if policy.gain is None else policy
            tuning = dataclasses.replace(tuning, gain=own.gain)
        migrants = self._migrants(learners, tuning)
        teams = self.around(key, own, self.population - self.num_migrants)
        return dataclasses.replace(
            state,
            population=operators.migrate(teams, *migrants),
            learners=learners,
            champion=jax.tree.map(jnp.copy, own),
            tuning=tuning,
        )

    @property
    def keeps_gains(self) -> bool:
        return self.tunes

    def _migrants(self, learners: tuple[Learner, ...], tuning: TuningState | None) -> tuple[TeamPolicy, ...]:
        """The first learner's team as it is tuned, if it is, and every learner's own."""
        actors = tuple(learner.actor for learner in learners)
        if tuning is None:
            return actors
        return tuned(actors[0], tuning.gain), *(untuned(actor) for actor in actors)

    def champion(self, state: MerlState) -> TeamPolicy:
        """The fittest team of the newest generation."""
        return state.champion

    def players(self, state: MerlState) -> tuple[TeamPolicy, tuple[TeamPolicy, ...], TuningState | None]:
        return state.population, tuple(learner.actor for learner in state.learners), state.tuning

    def play(
        self, key: Key, players: tuple[TeamPolicy, tuple[TeamPolicy, ...], TuningState | None], field: Field
    ) -> Rollouts:
        """Lines 6–9: each team's fitness, its noisy episodes, the learners' own, and those of the tuned pairs."""
        teams, learners, tuning = players
        key_fitness, key_noisy, key_learners = jax.random.split(key, 3)
        key_pairs, key_fitness = jax.random.split(key_fitness) if tuning is not None else (None, key_fitness)
        keys_noisy = jax.random.split(key_noisy, (self.population, self.noisy_episodes))
        keys = jnp.concatenate([self.fitness.keys(key_fitness, self.population), keys_noisy], axis=1)
        noise = jnp.where(jnp.arange(keys.shape[1]) < self.fitness.episodes, 0.0, self.noise)
        keys_learners = jax.random.split(key_learners, (len(learners), self.explore_episodes))
        explored = tuple(
            rollout.play_team(own, field, PolicyPlayer(actor), self.noise)
            for own, actor in zip(keys_learners, learners, strict=True)
        )
        played = rollout.play_population(keys, field, teams, noise), *explored
        if tuning is None or key_pairs is None:
            return played
        pairs = fitness.instances(key_pairs, 2, self.tuning.pairs, same=True).reshape(-1)
        gains, active = self.tuning.teams(tuning), self.tuning.active(tuning)
        return *played, rollout.play_gains(pairs, field, learners[0], gains, active)

    def receive(self, state: MerlState, rollouts: Rollouts, seat: Seat) -> MerlState:
        """Store every rollout in the buffers that all learners share, but for the tuned pairs'."""
        shared = rollouts[:-1] if self.tunes else rollouts
        buffer = gradient.store(state.buffer, shared, seat)
        frames = rollout.num_frames(each.episode for each in shared)
        shares = jnp.ones(len(self.learners)) if state.rates is None else allocation.shares(state.rates)
        learners = tuple(
            practice.owe(learner, buffer, frames, config, share)
            for learner, config, share in zip(state.learners, self.learners, shares, strict=True)
        )
        return dataclasses.replace(state, learners=learners, buffer=buffer, tuning=self._watch(state, rollouts, seat))

    def _watch(self, state: MerlState, rollouts: Rollouts, seat: Seat) -> TuningState | None:
        """The first learner's noisy episodes tell which inputs are neighbours."""
        if state.tuning is None:
            return None
        seen = rollouts[1].transitions[seat.index]
        assert seen is not None, "these episodes were played with keep=False"
        valid = rollouts[1].valid
        valid = valid if seen.present is None else valid[:, :, None] & seen.present
        return self.tuning.watch(state.tuning, seen.obs, valid)

    def rounds(self, state: MerlState) -> tuple[Array, Array]:
        done, due = zip(*((each.practice.done, each.practice.due) for each in state.learners), strict=True)
        return jnp.stack(done).max(), jnp.stack(due).max()

    def practise(self, key: Key, state: MerlState, seat: Seat, most: Int[Array, ""] | None = None) -> MerlState:
        """Lines 17–27, for every learner."""
        key_learn, _ = jax.random.split(key)
        keys = jax.random.split(key_learn, len(self.learners))
        shards, bounds = state.buffer.size.shape[0], seat.reward_bounds
        if self.allocate == "equal" and practice.one_each(self.learners, shards):
            learners = practice.work_off_apart(keys, state.learners, state.buffer, self.learners, bounds, most)
            return dataclasses.replace(state, learners=learners)
        learners = tuple(
            practice.work_off(k, learner, state.buffer, config, bounds, most)
            for k, learner, config in zip(keys, state.learners, self.learners, strict=True)
        )
        return dataclasses.replace(state, learners=learners)

    def conclude(self, key: Key, state: MerlState, episodes: Episodes, seat: Seat) -> tuple[MerlState, MerlInfo]:
        """Lines 10–16 and 28: rank, select, evolve, migrate."""
        _, key_evolve = jax.random.split(key)
        played, explored = episodes[0], episodes[1 : 1 + len(self.learners)]
        tuning = None
        if state.tuning is not None:
            key_tune, key_evolve = jax.random.split(key_evolve)
            tuning = self.tuning(key_tune, state.tuning, episodes[-1].fitness)
        newest = played.fitness[:, : self.fitness.episodes].mean(axis=1)
        evolved = self.evolve(key_evolve, state.population, state.record, newest)
        teams = operators.migrate(evolved.population, *self._migrants(state.learners, tuning))

        slots = range(self.population - len(state.learners), self.population)
        infos = tuple(
            self._describe(one, newest[slot], selection.fate_of(slot, evolved.selected), learner, seat)
            for one, slot, learner in zip(explored, slots, state.learners, strict=True)
        )
        rates = state.rates
        if rates is not None:
            fates = jnp.stack([info.migrant_fate for info in infos])
            rates = allocation.follow(rates, fates != selection.FATES.index(selection.DISCARDED))
        told = fitness.describe(newest, evolved.champion_team, evolved.lineage)
        info = MerlInfo(told, infos, self._describe_tuned(newest, evolved.selected, tuning))
        return MerlState(teams, evolved.record, state.learners, state.buffer, evolved.champion, tuning, rates), info

    def _describe(self, explored: Episode, score: Array, fate: Array, learner: Learner, seat: Seat) -> LearnerInfo:
        paid = explored.agent_reward[seat.index].sum() / explored.frames.sum().astype(jnp.float32)
        return LearnerInfo(score, fate, explored.fitness.mean(), paid, practice.report(learner))

    def _describe_tuned(self, newest: Array, selected: Selected, tuning: TuningState | None) -> TunedInfo | None:
        if tuning is None:
            return None
        slot = self.population - self.num_migrants
        return TunedInfo(newest[slot], selection.fate_of(slot, selected), jnp.sqrt(jnp.mean(tuning.gain**2)))
