"""Keep-away: agents must reach a target from which an adversary pushes them away (FACTS §3)."""

from __future__ import annotations

import dataclasses

import jax.numpy as jnp
from jaxtyping import Array, Float

from merlax import config as checks
from merlax.envs import particles
from merlax.envs.base import Side, StepResult
from merlax.envs.particles import ParticleState
from merlax.types import Key, Reward

LANDMARK_SIZE = 0.05  # landmarks do not collide, so that their size is only drawn


@dataclasses.dataclass(frozen=True)
class KeepAway:
    """Each agent loses its distance to the target, and the team the sum; the adversary does not know the target."""

    num_agents: int = 2
    """Agents (the team); the adversary comes on top."""
    num_landmarks: int = 2
    """Landmarks, one of which is the target."""
    acceleration: float = 5.0
    """What a full action adds to a velocity, per unit of time."""
    size: float = 0.05
    """Radius of an agent and of the adversary, which all block each other."""
    horizon: int = 25
    """Steps of an episode."""

    def __post_init__(self) -> None:
        checks.whole(self, "num_agents", "num_landmarks", "horizon")
        checks.positive(self, "acceleration", "size")

    @property
    def obs_size(self) -> int:
        return self.opponent.obs_size + 2 + self._colors * (1 + self.num_landmarks)

    @property
    def act_size(self) -> int:
        return 2

    @property
    def opponent(self) -> Side:
        return Side(num_agents=1, obs_size=2 + 2 * self.num_landmarks + 2 * self.num_agents, act_size=2)

    def reset(self, key: Key) -> tuple[Float[Array, "agent obs"], ParticleState]:
        state = particles.scatter(key, 1 + self.num_agents, self.num_landmarks)
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
        reach = jnp.full(1 + self.num_agents, 2.0 * self.size)
        state = particles.advance(state, force + particles.contact(state.position, state.position, reach))
        truncated = state.time >= self.horizon
        return self._observe(state), state, self.reward(state), jnp.zeros((), bool), truncated, {}

    def reward(self, state: ParticleState) -> Reward:
        """What the step that led to this state paid the team."""
        agent = -particles.distance(state.position[1:], particles.target_position(state))
        return Reward(team=jnp.sum(agent), agent=agent)

    def opponent_obs(self, state: ParticleState) -> Float[Array, "opponent obs"]:
        own = slice(0, 1)
        landmarks, others = particles.seen(state.position, state.landmark), particles.others(state.position)
        return jnp.concatenate([state.velocity[own], landmarks[own], others[own]], axis=1)

    def opponent_reward(self, state: ParticleState) -> Float[Array, " opponent"]:
        """How much nearer to the target the adversary is than the nearest agent."""
        distance = particles.distance(state.position, particles.target_position(state))
        return (jnp.min(distance[1:]) - distance[0])[None]

    def scripted_opponent(self, state: ParticleState) -> Float[Array, "opponent act"]:
        """The adversary walks to the middle of the agents."""
        return particles.steer(state, 0, jnp.mean(state.position[1:], axis=0), self.acceleration)[None]

    @property
    def _colors(self) -> int:
        """The length of a colour: a number for each landmark and one before them, but at least red, green and blue."""
        return max(3, self.num_landmarks + 1)

    def _observe(self, state: ParticleState) -> Float[Array, "agent obs"]:
        """Landmarks have colours, and the agents that of the target: the one thing that the adversary cannot see."""
        agents, each = state.position[1:], self.num_agents
        number = jnp.arange(self._colors)
        own = jnp.where(number == state.target + 1, 0.75, 0.25)
        colors = jnp.where(number[None] == 1 + jnp.arange(self.num_landmarks)[:, None], 0.9, 0.1).reshape(-1)
        parts = (
            state.velocity[1:],
            particles.target_position(state)[None] - agents,
            jnp.broadcast_to(own, (each, self._colors)),
            particles.seen(agents, state.landmark),
            jnp.broadcast_to(colors, (each, colors.shape[0])),
            particles.others(state.position)[1:],
        )
        return jnp.concatenate(parts, axis=1)
