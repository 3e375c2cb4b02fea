"""Predator-prey: slow predators must touch a fast prey among obstacles (paper, §5)."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from merlax.config import Checked, Count, Few, NotNegative, Positive, Range
from merlax.envs import diagnosis, drawing, particles
from merlax.envs.base import Action, Obs, Side, StepResult
from merlax.envs.diagnosis import History, Measure
from merlax.envs.drawing import Circles, Drawing
from merlax.envs.particles import ParticleState
from merlax.envs.rules import SCRIPTED, Rule
from merlax.types import Key, Reward

LANDMARK_RANGE = 0.9
WALL = 0.9  # where the prey starts to pay for leaving
TURN_BACK = 0.8  # where the scripted prey starts to turn back
LEAD = 0.5  # units of time by which scripted predators lead the prey


@dataclasses.dataclass(frozen=True)
class PredatorPrey(Checked):
    """The team are the predators: it scores one for every predator in contact with the prey after a step.

    Examples:
        >>> predators, prey = merlax.PredatorPrey(num_predators=4).sides
        >>> predators.num_agents, predators.obs_size, prey.obs_size
        (4, 18, 16)
    """

    num_predators: Few = 3
    """Predators (the team)."""
    num_landmarks: Annotated[int, Range(0, 1000)] = 2
    """Obstacles that block everybody."""
    predator_speed: Positive = 1.0
    """Top speed of a predator."""
    prey_speed: Positive = 1.3
    """Top speed of the prey; 2.0 in predator-prey-hard."""
    predator_acceleration: Positive = 3.0
    """What a full action of a predator adds to its velocity, per unit of time."""
    prey_acceleration: Positive = 4.0
    """What a full action of the prey adds to its velocity, per unit of time."""
    predator_size: Positive = 0.075
    """Radius of a predator."""
    prey_size: Positive = 0.05
    """Radius of the prey."""
    landmark_size: Positive = 0.2
    """Radius of an obstacle."""
    horizon: Count = 25
    """Steps of an episode."""
    touch_bonus: NotNegative = 0.0
    """What every touch adds to the reward of each predator."""

    @property
    def sides(self) -> tuple[Side, Side]:
        """The predators, the prey."""
        common = 4 + 2 * self.num_landmarks + 2 * self.num_predators
        return Side.equal(self.num_predators, obs_size=common + 2, act_size=2), Side.equal(1, common, act_size=2)

    def reset(self, key: Key) -> tuple[tuple[Obs, Obs], ParticleState]:
        state = particles.scatter(key, self.num_predators + 1, self.num_landmarks, LANDMARK_RANGE)
        return self._observe(state), state

    def step(
        self,
        key: Key,
        state: ParticleState,
        action: tuple[Action, ...],
    ) -> StepResult:
        del key  # only the reset is random
        team, opponent = action
        factor = self._each(self.predator_acceleration, self.prey_acceleration)
        force = factor[:, None] * jnp.clip(jnp.concatenate([team, opponent]), -1.0, 1.0)
        top_speed = self._each(self.predator_speed, self.prey_speed)
        state = particles.advance(state, force + self._contacts(state), top_speed)
        reward, truncated = self.reward(state), state.time >= self.horizon
        return self._observe(state), state, reward, jnp.zeros((), bool), truncated, {"touches": reward[0].team}

    def reward(self, state: ParticleState) -> tuple[Reward, Reward]:
        """What the step that led to this state paid the predators and the prey."""
        touches = self._touches(state)
        distance = particles.distance(state.position[:-1], state.position[-1])
        each = self.touch_bonus * touches - 0.1 * jnp.mean(distance)
        prey = self._prey_reward(state, touches)
        predators = Reward(team=touches, agent=jnp.broadcast_to(each, (self.num_predators,)))
        return predators, Reward(team=prey, agent=prey[None])

    def _prey_reward(self, state: ParticleState, touches: Float[Array, ""]) -> Float[Array, ""]:
        """Touched or outside: the prey must not leave the square, where nobody could catch it."""
        x = jnp.abs(state.position[-1])
        outside = jnp.where(x < 1.0, 10.0 * jnp.maximum(x - WALL, 0.0), jnp.minimum(jnp.exp(2.0 * x - 2.0), 10.0))
        return -10.0 * touches - outside[0] - outside[1]

    def rules(self, side: int) -> dict[str, Rule]:
        if side == particles.OPPONENT:
            return {SCRIPTED: Rule(self._flee, "runs from the nearest predator, and turns back at the walls", "state")}
        return {SCRIPTED: Rule(_chase, "each predator to where the prey will be, relative to it, in half a second")}

    def diagnose(self, history: History) -> tuple[Measure, ...]:
        """Who touches the prey, how near everybody comes to it, and who wanders off."""
        where = history.states.position
        distance = particles.each_distance(where[:, :-1], where[:, -1])
        touches = jnp.sum(distance[1:] < self.predator_size + self.prey_size, axis=0).astype(jnp.float32)
        return (
            diagnosis.by_agent("touches per episode", touches),
            *particles.approach(history, distance, "the prey"),
        )

    def draw(self, states: Any) -> Drawing:
        """Predators and the prey among obstacles; whoever is in contact with the other side flashes."""
        team, prey = states.position[:, :-1], states.position[:, -1:]
        obstacles: dict[str, Any] = {"position": states.landmark, "radius": self.landmark_size, "color": drawing.GREY}
        bodies = particles.contest_marks(team, prey, ("predator", "prey"), (self.predator_size, self.prey_size))
        touches = np.cumsum([0, *np.asarray(bodies[0].lit)[1:].sum(axis=1)])
        return Drawing(
            marks=(Circles(name="obstacle", **obstacles), *bodies),
            title=f"{self.num_predators} predators, a prey of top speed {self.prey_speed:g}, "
            f"{self.num_landmarks} obstacles",
            caption=[f"touches {number}" for number in touches],
            box=particles.GROUND,
        )

    def _flee(self, state: ParticleState) -> Action:
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

    def _observe(self, state: ParticleState) -> tuple[Obs, Obs]:
        """Predators see how fast the prey is."""
        common = self._observe_common(state)
        prey = jnp.broadcast_to(state.velocity[-1], (self.num_predators, 2))
        return jnp.concatenate([common[:-1], prey], axis=1), common[-1:]


def _chase(obs: Obs) -> Action:
    """With full force: towards the prey, leading it by its velocity relative to one's own."""
    own, to_prey, prey = obs[:, :2], obs[:, -4:-2], obs[:, -2:]
    way = to_prey + LEAD * (prey - own)
    return way / jnp.maximum(jnp.max(jnp.abs(way), axis=1, keepdims=True), particles.TINY)
