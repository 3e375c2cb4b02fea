"""A gradient learner alone: TD3, DDPG, MATD3 and MADDPG are its configurations, on one of three rewards."""

from __future__ import annotations

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from merlax.algorithms.base import Algorithm, Rollouts, Seat
from merlax.config import Count, Layers, NotNegative
from merlax.core import replay, rollout, td3
from merlax.core.networks import TeamPolicy
from merlax.core.players import PolicyPlayer
from merlax.core.rollout import Field
from merlax.core.td3 import LearningInfo, Td3
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
class OffPolicy(Algorithm):
    """A learner that plays nothing itself: it learns from its side of whatever is played, as an opponent does."""

    learner: Td3 = Td3()
    actor_hidden: Layers = (100, 100)
    """Hidden layers of the trunk."""

    def num_shards(self, seat: Seat) -> int:
        return td3.num_shards([self.learner], seat.side.num_agents)

    def start(self, key: Key, seat: Seat) -> GradientState:
        """A new learner and empty buffers."""
        learner = td3.init(key, seat.side, self.actor_hidden, self.learner)
        return GradientState(learner, replay.create(self.learner.buffer, seat.side, self.num_shards(seat)))

    def champion(self, state: GradientState) -> TeamPolicy:
        """The current policy."""
        return state.learner.actor

    def players(self, state: GradientState) -> TeamPolicy:
        return state.learner.actor

    def play(self, key: Key, players: TeamPolicy, field: Field) -> Rollouts:
        raise UserError("This learner only follows what others play; train a team with Gradient instead.")

    def learn(
        self, key: Key, state: GradientState, rollouts: Rollouts, seat: Seat
    ) -> tuple[GradientState, GradientInfo]:
        """Store its side of all rollouts, learn."""
        buffer = store(state.buffer, rollouts, seat)
        frames = jnp.stack([played.episode.frames.sum() for played in rollouts]).sum()
        learner, learning = td3.learn(key, state.learner, buffer, frames, self.learner, seat.reward_bounds)
        paid = jnp.stack([played.episode.agent_reward[seat.index].sum() for played in rollouts]).sum()
        score = rollouts[0].episode.fitness.mean() if seat.index == 0 else None
        info = GradientInfo(score, paid / frames.astype(jnp.float32), learning)
        return GradientState(learner, buffer), info


@dataclasses.dataclass(frozen=True)
class Gradient(OffPolicy):
    """A gradient learner that explores by itself."""

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
