"""Physical deception: agents must be near a target without showing the opponent which one it is."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from merlax.config import Checked, Count, Few, Positive
from merlax.envs import diagnosis, particles
from merlax.envs.base import Action, Obs, Side, StepResult
from merlax.envs.diagnosis import History, Measure
from merlax.envs.drawing import Drawing
from merlax.envs.particles import ParticleState
from merlax.envs.rules import SCRIPTED, Rule
from merlax.types import Key, Reward

# Nothing collides here, so that sizes are only drawn.
BODY_SIZE, LANDMARK_SIZE = 0.15, 0.08


@dataclasses.dataclass(frozen=True)
class PhysicalDeception(Checked):
    """The team scores how much nearer to the target its best agent is than the opponent, who does not know it.

    Examples:
        >>> agents, opponent = merlax.PhysicalDeception(num_agents=3).sides
        >>> agents.num_agents, agents.obs_size, opponent.obs_size
        (3, 14, 12)
    """

    num_agents: Few = 2
    """Agents (the team); the opponent comes on top."""
    num_landmarks: Few | None = None
    """Landmarks, one of which is the target; None: as many as agents."""
    acceleration: Positive = 5.0
    """What a full action adds to a velocity, per unit of time."""
    horizon: Count = 25
    """Steps of an episode."""

    @property
    def sides(self) -> tuple[Side, Side]:
        """The agents, the opponent."""
        common = 2 * self._landmarks + 2 * self.num_agents
        return Side.equal(self.num_agents, obs_size=2 + common, act_size=2), Side.equal(1, common, act_size=2)

    def reset(self, key: Key) -> tuple[tuple[Obs, Obs], ParticleState]:
        state = particles.scatter(key, 1 + self.num_agents, self._landmarks)
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
        state = particles.advance(state, force)
        truncated = state.time >= self.horizon
        return self._observe(state), state, self.reward(state), jnp.zeros((), bool), truncated, {}

    def reward(self, state: ParticleState) -> tuple[Reward, Reward]:
        """What the step that led to this state paid the team and the opponent, who loses its own distance."""
        distance = particles.distance(state.position, particles.target_position(state))
        lead = distance[0] - jnp.min(distance[1:])
        team = Reward(team=lead, agent=jnp.broadcast_to(lead, (self.num_agents,)))
        return team, Reward(team=-distance[0], agent=-distance[:1])

    def rules(self, side: int) -> dict[str, Rule]:
        if side == particles.OPPONENT:
            return {
                SCRIPTED: Rule(self._to_their_middle, "walks to the middle of the agents, and stops", "state"),
                "cautious": Rule(self._between, "walks to the middle of the landmarks, come what may", "state"),
            }
        return {
            SCRIPTED: Rule(self._to_own_landmark, "each agent to a landmark of its own, whichever is the target"),
            "direct": Rule(self._to_target, "each agent to the target, as fast as it can", "state", drawn=False),
        }

    def diagnose(self, history: History) -> tuple[Measure, ...]:
        """How near the agents and the opponent come to the target, and who gets lost."""
        states = history.states
        target = jnp.take_along_axis(states.landmark, states.target[:, None, None], axis=1)[:, 0]
        distance = particles.each_distance(states.position, target)
        opponent, distance = distance[:, 0], distance[:, 1:]
        nearest = jnp.argmin(distance[1:], axis=1)
        cover = diagnosis.shares(
            "agent nearest to the target", diagnosis.agents(self.num_agents), nearest, history.valid
        )
        return (
            diagnosis.over_time("distance to the target over time, opponent", opponent),
            cover,
            *particles.approach(history, distance, "the target"),
        )

    def draw(self, states: Any) -> Drawing:
        """The agents, the opponent, and the landmarks with the target among them."""
        team, opponent = states.position[:, 1:], states.position[:, :1]
        landmarks, target = particles.landmark_marks(states, LANDMARK_SIZE)
        size = BODY_SIZE, BODY_SIZE
        bodies = particles.contest_marks(team, opponent, ("agent", "opponent"), size, touching=False)
        return Drawing(
            marks=(landmarks, *bodies, target),
            title=f"{self.num_agents} agents, an opponent, {self._landmarks} landmarks",
            box=particles.GROUND,
        )

    def _to_their_middle(self, state: ParticleState) -> Action:
        return particles.steer(state, 0, jnp.mean(state.position[1:], axis=0), self.acceleration)[None]

    def _between(self, state: ParticleState) -> Action:
        return particles.steer(state, 0, jnp.mean(state.landmark, axis=0), self.acceleration)[None]

    def _to_target(self, state: ParticleState) -> Action:
        target = particles.target_position(state)
        agents = range(1, 1 + self.num_agents)
        return jnp.stack([particles.steer(state, agent, target, self.acceleration) for agent in agents])

    def _to_own_landmark(self, obs: Obs) -> Action:
        """Agent i to landmark i, from the first again if there are fewer."""
        landmarks = obs[:, 2 : 2 + 2 * self._landmarks].reshape(self.num_agents, self._landmarks, 2)
        agents = jnp.arange(self.num_agents)
        return jnp.clip(landmarks[agents, agents % self._landmarks], -1.0, 1.0)

    @property
    def _landmarks(self) -> int:
        return self.num_agents if self.num_landmarks is None else self.num_landmarks

    def _observe_common(self, state: ParticleState) -> Float[Array, "body obs"]:
        landmarks = particles.seen(state.position, state.landmark)
        return jnp.concatenate([landmarks, particles.others(state.position)], axis=1)

    def _observe(self, state: ParticleState) -> tuple[Obs, Obs]:
        """Only the agents see the target."""
        common = self._observe_common(state)
        target = particles.target_position(state)[None] - state.position[1:]
        return jnp.concatenate([target, common[1:]], axis=1), common[:1]
