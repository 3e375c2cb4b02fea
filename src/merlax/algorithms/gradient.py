"""A gradient learner alone: TD3, DDPG, MATD3 and MADDPG are configurations of `td3`, on one of three rewards."""

from __future__ import annotations

import dataclasses
from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.sharding import Mesh
from jaxtyping import Array, Float

from merlax import config as checks
from merlax.algorithms.base import Algorithm, Experience
from merlax.core import devices, replay, rollout, td3
from merlax.core.networks import TeamPolicy
from merlax.core.rollout import Opponent
from merlax.core.td3 import TD3Config
from merlax.types import Key, Metrics, Reward


@dataclasses.dataclass(frozen=True)
class GradientConfig:
    """Everything that shapes a run of a gradient learner."""

    td3: TD3Config = dataclasses.field(default_factory=TD3Config)
    reward: Literal["agent", "mixed", "global"] = "mixed"
    """agent: each agent's own; global: the team's alone; mixed: agent + `team_weight` × team, each normalised."""
    team_weight: float = 10.0
    """Weight of the team reward in the mixed one."""
    explore_episodes: int = 50
    """Noisy episodes per generation (rollout size)."""
    noise: float = 0.4
    """Standard deviation of the exploration noise (σ)."""
    actor_hidden: tuple[int, ...] = (100, 100)
    """Hidden layers of the team's trunk."""
    critic_hidden: tuple[int, ...] = (100, 100)
    """Hidden layers of a critic."""

    def __post_init__(self) -> None:
        checks.choice(self, "reward", "agent", "mixed", "global")
        checks.whole(self, "explore_episodes")
        checks.not_negative(self, "noise", "team_weight")
        checks.layers(self, "actor_hidden", "critic_hidden")


class GradientState(eqx.Module):
    """Everything that changes during a run."""

    learner: td3.Learner
    buffer: replay.Buffer


@dataclasses.dataclass(frozen=True)
class Gradient(Algorithm):
    """A gradient learner on one world."""

    config: GradientConfig = dataclasses.field(default_factory=GradientConfig)

    @property
    def frames_per_generation(self) -> int:
        return self.config.explore_episodes * self.env.horizon

    @property
    def mesh(self) -> Mesh:
        return devices.mesh(td3.shards(self.config.td3, self.env.num_agents))

    def start(self, key: Key) -> GradientState:
        """A new learner and empty buffers."""
        env, c = self.env, self.config
        sizes = env.num_agents, env.obs_size, env.act_size
        learner = td3.init(key, *sizes, c.actor_hidden, c.critic_hidden, c.td3)
        return GradientState(learner, replay.create(c.td3.buffer, *sizes, shards=self.mesh.size))

    def champion(self, state: GradientState) -> TeamPolicy:
        """The current policy."""
        return state.learner.actor

    def players(self, state: GradientState) -> TeamPolicy:
        return state.learner.actor

    def rollouts(self, key: Key, players: TeamPolicy, opponent: Opponent | None) -> Experience:
        """Noisy episodes."""
        keys = jax.random.split(key, self.config.explore_episodes)
        return (rollout.play_team(keys, self.env, players, self.config.noise, opponent, pay=self.pay),)

    def learn(self, key: Key, state: GradientState, experience: Experience) -> tuple[GradientState, Metrics]:
        """Remember, learn."""
        ((explored, memory),) = experience
        buffer = rollout.remember(state.buffer, memory)
        frames = explored.frames.sum()
        learner, losses = td3.learn(key, state.learner, buffer, frames, self.config.td3)
        metrics = losses | {
            "frames": frames,
            "explore_score": explored.fitness.mean(),
            "agent_reward": explored.agent_reward.sum() / frames.astype(jnp.float32),
        }
        return GradientState(learner, buffer), metrics

    def pay(self, reward: Reward) -> Float[Array, " agent"]:
        """What each agent learns from. A world may state the largest size of its rewards; else it is 1 for both."""
        if self.config.reward == "agent":
            return reward.agent
        team = jnp.broadcast_to(reward.team, reward.agent.shape)
        if self.config.reward == "global":
            return team
        team_bound, agent_bound = getattr(self.env, "reward_bounds", (1.0, 1.0))
        return reward.agent / agent_bound + self.config.team_weight * team / team_bound
