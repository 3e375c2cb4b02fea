"""Predator-prey: slow predators must touch a fast prey among obstacles (paper, §5; FACTS §3)."""

from __future__ import annotations

import dataclasses

import jax.numpy as jnp
from jaxtyping import Array, Float

from merlax import config as checks
from merlax.envs import particles
from merlax.envs.base import Side, StepResult
from merlax.envs.particles import ParticleState
from merlax.types import Key, Reward

LANDMARK_RANGE = 0.9
WALL = 0.9  # where the prey starts to pay for leaving
TURN_BACK = 0.8  # where the scripted prey starts to turn back


@dataclasses.dataclass(frozen=True)
class PredatorPrey:
    """The team are the predators: it scores one for every predator in contact with the prey after a step."""

    num_predators: int = 3
    """Predators (the team)."""
    num_landmarks: int = 2
    """Obstacles that block everybody."""
    predator_speed: float = 1.0
    """Top speed of a predator."""
    prey_speed: float = 1.3
    """Top speed of the prey; 2.0 in predator-prey-hard."""
    predator_acceleration: float = 3.0
    """What a full action of a predator adds to its velocity, per unit of time."""
    prey_acceleration: float = 4.0
    """What a full action of the prey adds to its velocity, per unit of time."""
    predator_size: float = 0.075
    """Radius of a predator."""
    prey_size: float = 0.05
    """Radius of the prey."""
    landmark_size: float = 0.2
    """Radius of an obstacle."""
    horizon: int = 25
    """Steps of an episode."""
    touch_bonus: float = 0.0
    """What every touch adds to the reward of each predator."""

    def __post_init__(self) -> None:
        checks.whole(self, "num_predators", "horizon")
        checks.whole(self, "num_landmarks", least=0)
        checks.positive(self, "predator_speed", "prey_speed", "predator_acceleration", "prey_acceleration")
        checks.positive(self, "predator_size", "prey_size", "landmark_size")
        checks.not_negative(self, "touch_bonus")

    @property
    def num_agents(self) -> int:
        return self.num_predators

    @property
    def obs_size(self) -> int:
        return 4 + 2 * self.num_landmarks + 2 * self.num_predators + 2

    @property
    def act_size(self) -> int:
        return 2

    @property
    def opponent(self) -> Side:
        return Side(num_agents=1, obs_size=self.obs_size - 2, act_size=2)

    def reset(self, key: Key) -> tuple[Float[Array, "agent obs"], ParticleState]:
        state = particles.scatter(key, self.num_predators + 1, self.num_landmarks, LANDMARK_RANGE)
        return self._observe(state), state

    def step(
        self,
        key: Key,
        state: ParticleState,
        action: Float[Array, "agent act"],
        opponent_action: Float[Array, "opponent act"],
    ) -> StepResult:
        del key  # only the reset is random
        factor = self._each(self.predator_acceleration, self.prey_acceleration)
        force = factor[:, None] * jnp.clip(jnp.concatenate([action, opponent_action]), -1.0, 1.0)
        top_speed = self._each(self.predator_speed, self.prey_speed)
        state = particles.advance(state, force + self._contacts(state), top_speed)
        reward, truncated = self.reward(state), state.time >= self.horizon
        return self._observe(state), state, reward, jnp.zeros((), bool), truncated, {"touches": reward.team}

    def reward(self, state: ParticleState) -> Reward:
        """What the step that led to this state paid the team."""
        touches = self._touches(state)
        distance = particles.distance(state.position[:-1], state.position[-1])
        each = self.touch_bonus * touches - 0.1 * jnp.mean(distance)
        return Reward(team=touches, agent=jnp.broadcast_to(each, (self.num_agents,)))

    def opponent_obs(self, state: ParticleState) -> Float[Array, "opponent obs"]:
        return self._observe_common(state)[-1:]

    def opponent_reward(self, state: ParticleState) -> Float[Array, " opponent"]:
        """Touched or outside: the prey must not leave the square, where nobody could catch it."""
        x = jnp.abs(state.position[-1])
        outside = jnp.where(x < 1.0, 10.0 * jnp.maximum(x - WALL, 0.0), jnp.minimum(jnp.exp(2.0 * x - 2.0), 10.0))
        return (-10.0 * self._touches(state) - outside[0] - outside[1])[None]

    def scripted_opponent(self, state: ParticleState) -> Float[Array, "opponent act"]:
        """The prey runs from the nearest predator, and turns back before it glides into a wall."""
        away = state.position[-1][None] - state.position[:-1]
        distance = particles.length(away)
        nearest = distance == jnp.min(distance)
        flee = jnp.sum(jnp.where(nearest[:, None], away / distance[:, None], 0.0), axis=0)
        glide = particles.coasting(state, -1)
        back = jnp.sign(glide) * jnp.maximum(jnp.abs(glide) - TURN_BACK, 0.0) / (1.0 - TURN_BACK)
        return jnp.clip(flee - 2.0 * back, -1.0, 1.0)[None]

    def _each(self, predator: float, prey: float) -> Float[Array, " body"]:
        return jnp.array([predator] * self.num_predators + [prey], jnp.float32)

    def _contacts(self, state: ParticleState) -> Float[Array, "body 2"]:
        """Everybody blocks everybody."""
        size, where = self._each(self.predator_size, self.prey_size), state.position
        return (
            particles.contact(where, where[:-1], size + self.predator_size)
            + particles.contact(where, where[-1:], size + self.prey_size)
            + particles.contact(where, state.landmark, size + self.landmark_size)
        )

    def _touches(self, state: ParticleState) -> Float[Array, ""]:
        """Predators in contact with the prey."""
        distance = particles.distance(state.position[:-1], state.position[-1])
        return jnp.sum((distance < self.predator_size + self.prey_size).astype(jnp.float32))

    def _observe_common(self, state: ParticleState) -> Float[Array, "body obs"]:
        landmarks = particles.seen(state.position, state.landmark)
        return jnp.concatenate([state.velocity, state.position, landmarks, particles.others(state.position)], axis=1)

    def _observe(self, state: ParticleState) -> Float[Array, "agent obs"]:
        prey = jnp.broadcast_to(state.velocity[-1], (self.num_predators, 2))
        return jnp.concatenate([self._observe_common(state)[:-1], prey], axis=1)
