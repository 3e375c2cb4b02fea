"""A gradient learner alone: TD3, DDPG, MATD3 and MADDPG are its configurations, on one of three rewards."""

from __future__ import annotations

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from merlax.algorithms.base import Episodes, InPieces, Rollouts, Seat
from merlax.config import Count, Layers, NotNegative
from merlax.core import practice, replay, rollout, td3
from merlax.core.networks import TeamPolicy, without_gains
from merlax.core.players import PolicyPlayer
from merlax.core.practice import LearningInfo
from merlax.core.rollout import Field
from merlax.core.td3 import Td3
from merlax.types import Key, UserError


class GradientState(eqx.Module):
    """Everything that changes during a run."""

    learner: td3.Learner
    buffer: replay.Buffer


class GradientInfo(eqx.Module):
    """What is written down of one generation."""

    explore_score: Float[Array, ""] | None  # the team's fitness in these episodes; nothing for an opponent
    agent_reward: Float[Array, ""]  # per step
    learning: LearningInfo


@dataclasses.dataclass(frozen=True)
class OffPolicy(InPieces):
    """A learner that plays nothing itself: it learns from its side of whatever is played, as an opponent does."""

    learner: Td3 = Td3()
    actor_hidden: Layers = (100, 100)
    """Hidden layers of the trunk."""

    def num_shards(self, seat: Seat) -> int:
        return practice.num_shards([self.learner], seat.side.num_agents)

    def start(self, key: Key, seat: Seat) -> GradientState:
        """A new learner and empty buffers."""
        learner = td3.init(key, seat.side, self.actor_hidden, self.learner)
        return GradientState(learner, replay.create(self.learner.buffer, seat.side, self.num_shards(seat)))

    def adopt(self, key: Key, state: GradientState, policy: TeamPolicy, seat: Seat) -> GradientState:
        """The policy as the actor."""
        del key, seat
        return dataclasses.replace(state, learner=td3.adopt(state.learner, without_gains(policy)))

    def champion(self, state: GradientState) -> TeamPolicy:
        """The current policy."""
        return state.learner.actor

    def players(self, state: GradientState) -> TeamPolicy:
        return state.learner.actor

    def play(self, key: Key, players: TeamPolicy, field: Field) -> Rollouts:
        raise UserError("This learner only follows what others play; train a team with Gradient instead.")

    def receive(self, state: GradientState, rollouts: Rollouts, seat: Seat) -> GradientState:
        """Store its side of all rollouts."""
        buffer = store(state.buffer, rollouts, seat)
        frames = rollout.num_frames(each.episode for each in rollouts)
        learner = practice.owe(state.learner, buffer, frames, self.learner)
        return dataclasses.replace(state, learner=learner, buffer=buffer)

    def rounds(self, state: GradientState) -> tuple[Array, Array]:
        return state.learner.practice.done, state.learner.practice.due

    def practise(self, key: Key, state: GradientState, seat: Seat, most: Int[Array, ""] | None = None) -> GradientState:
        learner = practice.work_off(key, state.learner, state.buffer, self.learner, seat.reward_bounds, most)
        return dataclasses.replace(state, learner=learner)

    def conclude(
        self, key: Key, state: GradientState, episodes: Episodes, seat: Seat
    ) -> tuple[GradientState, GradientInfo]:
        """Nothing is left to do but to tell."""
        del key
        paid = jnp.stack([each.agent_reward[seat.index].sum() for each in episodes]).sum()
        paid = paid / rollout.num_frames(episodes).astype(jnp.float32)
        score = episodes[0].fitness.mean() if seat.index == 0 else None
        return state, GradientInfo(score, paid, practice.report(state.learner))


@dataclasses.dataclass(frozen=True)
class Gradient(OffPolicy):
    """A gradient learner that explores by itself.

    Examples:
        >>> matd3 = merlax.Gradient(learner=merlax.Td3(critic="joint", order="joint", critic_hidden=(300, 300)))
        >>> matd3.explore_episodes
        50
    """

    explore_episodes: Count = 50
    """Noisy episodes per generation (rollout size)."""
    noise: NotNegative = 0.4
    """Standard deviation of the exploration noise (σ)."""

    def play(self, key: Key, players: TeamPolicy, field: Field) -> Rollouts:
        """Noisy episodes."""
        keys = jax.random.split(key, self.explore_episodes)
        return (rollout.play_team(keys, field, PolicyPlayer(players), self.noise),)


def store(buffer: replay.Buffer, rollouts: Rollouts, seat: Seat) -> replay.Buffer:
    """Add the transitions of one side of all rollouts."""
    for played in rollouts:
        transitions = played.transitions[seat.index]
        assert transitions is not None, "these episodes were played with keep=False"
        buffer = replay.store(buffer, transitions, played.valid)
    return buffer
