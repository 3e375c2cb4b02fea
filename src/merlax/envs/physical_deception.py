"""Physical deception: agents must be near a target without showing the adversary which one it is (FACTS §3)."""

from __future__ import annotations

import dataclasses

import jax.numpy as jnp
from jaxtyping import Array, Float

from merlax import config as checks
from merlax.envs import particles
from merlax.envs.base import Side, StepResult
from merlax.envs.particles import ParticleState
from merlax.types import Key, Reward

# Nothing collides here, so that sizes are only drawn.
BODY_SIZE, LANDMARK_SIZE = 0.15, 0.08


@dataclasses.dataclass(frozen=True)
class PhysicalDeception:
    """The team scores how much nearer to the target its best agent is than the adversary, who does not know it."""

    num_agents: int = 2
    """Agents (the team); the adversary comes on top."""
    num_landmarks: int | None = None
    """Landmarks, one of which is the target; None: as many as agents."""
    acceleration: float = 5.0
    """What a full action adds to a velocity, per unit of time."""
    horizon: int = 25
    """Steps of an episode."""

    def __post_init__(self) -> None:
        checks.whole(self, "num_agents", "horizon")
        if self.num_landmarks is not None:
            checks.whole(self, "num_landmarks")
        checks.positive(self, "acceleration")

    @property
    def obs_size(self) -> int:
        return 2 + self.opponent.obs_size

    @property
    def act_size(self) -> int:
        return 2

    @property
    def opponent(self) -> Side:
        return Side(num_agents=1, obs_size=2 * self._landmarks + 2 * self.num_agents, act_size=2)

    def reset(self, key: Key) -> tuple[Float[Array, "agent obs"], ParticleState]:
        state = particles.scatter(key, 1 + self.num_agents, self._landmarks)
        return self._observe(state), state

    def step(
        self,
        key: Key,
        state: ParticleState,
        action: Float[Array, "agent act"],
        opponent_action: Float[Array, "opponent act"],
    ) -> StepResult:
        del key  # only the reset is random
        force = self.acceleration * jnp.clip(jnp.concatenate([opponent_action, action]), -1.0, 1.0)
        state = particles.advance(state, force)
        truncated = state.time >= self.horizon
        return self._observe(state), state, self.reward(state), jnp.zeros((), bool), truncated, {}

    def reward(self, state: ParticleState) -> Reward:
        """What the step that led to this state paid the team."""
        distance = particles.distance(state.position, particles.target_position(state))
        lead = distance[0] - jnp.min(distance[1:])
        return Reward(team=lead, agent=jnp.broadcast_to(lead, (self.num_agents,)))

    def opponent_obs(self, state: ParticleState) -> Float[Array, "opponent obs"]:
        return self._observe_common(state)[:1]

    def opponent_reward(self, state: ParticleState) -> Float[Array, " opponent"]:
        return -particles.distance(state.position[:1], particles.target_position(state))

    def scripted_opponent(self, state: ParticleState) -> Float[Array, "opponent act"]:
        """The adversary walks to the middle of the agents, and stops there."""
        return particles.steer(state, 0, jnp.mean(state.position[1:], axis=0), self.acceleration)[None]

    @property
    def _landmarks(self) -> int:
        return self.num_agents if self.num_landmarks is None else self.num_landmarks

    def _observe_common(self, state: ParticleState) -> Float[Array, "body obs"]:
        landmarks = particles.seen(state.position, state.landmark)
        return jnp.concatenate([landmarks, particles.others(state.position)], axis=1)

    def _observe(self, state: ParticleState) -> Float[Array, "agent obs"]:
        target = particles.target_position(state)[None] - state.position[1:]
        return jnp.concatenate([target, self._observe_common(state)[1:]], axis=1)
