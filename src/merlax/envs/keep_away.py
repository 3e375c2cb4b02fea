"""Keep-away: agents must reach a target from which an opponent pushes them away."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax.numpy as jnp

from merlax.config import Checked, Count, Few, Positive
from merlax.envs import diagnosis, particles
from merlax.envs.base import Action, Obs, Side, StepResult
from merlax.envs.diagnosis import History, Measure
from merlax.envs.drawing import Drawing
from merlax.envs.particles import ParticleState
from merlax.envs.rules import SCRIPTED, Rule
from merlax.types import Key, Reward

LANDMARK_SIZE = 0.05  # landmarks do not collide, so that their size is only drawn


@dataclasses.dataclass(frozen=True)
class KeepAway(Checked):
    """Each agent loses its distance to the target, and the team the sum; the opponent does not know the target.

    Examples:
        >>> agents, opponent = merlax.KeepAway().sides
        >>> agents.num_agents, agents.obs_size, opponent.obs_size
        (2, 21, 10)
    """

    num_agents: Few = 2
    """Agents (the team); the opponent comes on top."""
    num_landmarks: Few = 2
    """Landmarks, one of which is the target."""
    acceleration: Positive = 5.0
    """What a full action adds to a velocity, per unit of time."""
    size: Positive = 0.05
    """Radius of an agent and of the opponent, which all block each other."""
    horizon: Count = 25
    """Steps of an episode."""

    @property
    def sides(self) -> tuple[Side, Side]:
        """The agents, the opponent."""
        common = 2 + 2 * self.num_landmarks + 2 * self.num_agents
        agents = common + 2 + self._colors * (1 + self.num_landmarks)
        return Side.equal(self.num_agents, agents, act_size=2), Side.equal(1, common, act_size=2)

    def reset(self, key: Key) -> tuple[tuple[Obs, Obs], ParticleState]:
        state = particles.scatter(key, 1 + self.num_agents, self.num_landmarks)
        return self._observe(state), state

    def step(
        self,
        key: Key,
        state: ParticleState,
        action: tuple[Action, ...],
    ) -> StepResult:
        del key  # only the reset is random
        team, opponent = action
        force = self.acceleration * jnp.clip(jnp.concatenate([opponent, team]), -1.0, 1.0)
        reach = jnp.full(1 + self.num_agents, 2.0 * self.size)
        state = particles.advance(state, force + particles.contact(state.position, state.position, reach))
        truncated = state.time >= self.horizon
        return self._observe(state), state, self.reward(state), jnp.zeros((), bool), truncated, {}

    def reward(self, state: ParticleState) -> tuple[Reward, Reward]:
        """What the step that led to this state paid the team, and the opponent: its lead over the nearest agent."""
        distance = particles.distance(state.position, particles.target_position(state))
        lead = jnp.min(distance[1:]) - distance[0]
        return Reward(team=jnp.sum(-distance[1:]), agent=-distance[1:]), Reward(team=lead, agent=lead[None])

    def rules(self, side: int) -> dict[str, Rule]:
        if side == particles.OPPONENT:
            return {SCRIPTED: Rule(self._to_their_middle, "walks to the middle of the agents", "state")}
        return {SCRIPTED: Rule(_to_target, "each agent to the target, braking")}

    def diagnose(self, history: History) -> tuple[Measure, ...]:
        """How near the agents and the opponent come to the target, and who gets lost."""
        states = history.states
        target = jnp.take_along_axis(states.landmark, states.target[:, None, None], axis=1)[:, 0]
        distance = particles.each_distance(states.position, target)
        opponent, distance = distance[:, 0], distance[:, 1:]
        return (
            diagnosis.over_time("distance to the target over time, opponent", opponent),
            *particles.approach(history, distance, "the target"),
        )

    def draw(self, states: Any) -> Drawing:
        """The agents, the opponent, and the landmarks with the target among them; whoever touches flashes."""
        team, opponent = states.position[:, 1:], states.position[:, :1]
        landmarks, target = particles.landmark_marks(states, LANDMARK_SIZE)
        bodies = particles.contest_marks(team, opponent, ("agent", "opponent"), (self.size, self.size))
        return Drawing(
            marks=(landmarks, *bodies, target),
            title=f"{self.num_agents} agents, an opponent, {self.num_landmarks} landmarks",
            box=particles.GROUND,
        )

    def _to_their_middle(self, state: ParticleState) -> Action:
        return particles.steer(state, 0, jnp.mean(state.position[1:], axis=0), self.acceleration)[None]

    @property
    def _colors(self) -> int:
        """The length of a colour: a number for each landmark and one before them, but at least red, green and blue."""
        return max(3, self.num_landmarks + 1)

    def _observe(self, state: ParticleState) -> tuple[Obs, Obs]:
        """Landmarks have colours, and the agents that of the target: the one thing that the opponent cannot see."""
        agents, each = state.position[1:], self.num_agents
        number = jnp.arange(self._colors)
        own = jnp.where(number == state.target + 1, 0.75, 0.25)
        colors = jnp.where(number[None] == 1 + jnp.arange(self.num_landmarks)[:, None], 0.9, 0.1).reshape(-1)
        landmarks, others = particles.seen(state.position, state.landmark), particles.others(state.position)
        parts = (
            state.velocity[1:],
            particles.target_position(state)[None] - agents,
            jnp.broadcast_to(own, (each, self._colors)),
            landmarks[1:],
            jnp.broadcast_to(colors, (each, colors.shape[0])),
            others[1:],
        )
        opponent = jnp.concatenate([state.velocity[:1], landmarks[:1], others[:1]], axis=1)
        return jnp.concatenate(parts, axis=1), opponent


def _to_target(obs: Obs) -> Action:
    velocity, target = obs[:, :2], obs[:, 2:4]
    return jnp.clip(8.0 * (target - 0.2 * velocity), -1.0, 1.0)
