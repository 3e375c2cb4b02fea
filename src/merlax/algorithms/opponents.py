"""The other side of a contest: it learns by DDPG beside any algorithm, or it does not learn (FACTS §4)."""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any, TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.sharding import Mesh
from jaxtyping import Array, Float

from merlax import config as checks
from merlax.core import devices, replay, td3
from merlax.core import health as finite
from merlax.core.networks import TeamPolicy
from merlax.core.rollout import Episode, Memory
from merlax.core.td3 import TD3Config
from merlax.types import Key, Metrics, UserError

DDPG: dict[str, Any] = {"critics": 1, "delay": 1, "smoothing": 0.0}
Rollouts: TypeAlias = tuple[tuple[Episode, Memory], ...]


class Learnt(eqx.Module):
    """An opponent that follows a policy."""

    policy: TeamPolicy

    def __call__(self, env: Any, state: Any) -> Float[Array, "agent act"]:
        return self.policy(env.opponent_obs(state))


class Scripted(eqx.Module):
    """An opponent that follows the world's own simple rule."""

    def __call__(self, env: Any, state: Any) -> Float[Array, "agent act"]:
        return env.scripted_opponent(state)


@dataclasses.dataclass(frozen=True)
class AdversaryConfig:
    """How the opponent learns: as the team's learner does, with one critic, no smoothing and no delay."""

    td3: TD3Config = dataclasses.field(default_factory=lambda: TD3Config(order="joint", **DDPG))
    actor_hidden: tuple[int, ...] = (100, 100)
    """Hidden layers of the opponent's trunk."""
    critic_hidden: tuple[int, ...] = (100, 100)
    """Hidden layers of its critic."""

    def __post_init__(self) -> None:
        checks.layers(self, "actor_hidden", "critic_hidden")


class AdversaryState(eqx.Module):
    """Everything of the opponent that changes during a run."""

    learner: td3.Learner
    buffer: replay.Buffer


@dataclasses.dataclass(frozen=True)
class Fixed:
    """An opponent that does not learn."""

    opponent: Learnt | Scripted
    learns = False

    def init(self, key: Key) -> Any:
        del key
        return devices.spread(devices.mesh(), self.opponent)

    def player(self, state: Any) -> Learnt | Scripted:
        return state

    def improve(self, key: Key, state: Any, experience: Rollouts) -> tuple[Any, Metrics]:
        del key, experience
        return state, {}


@dataclasses.dataclass(frozen=True)
class Adversary:
    """An opponent that learns from its own buffer, which all rollouts fill."""

    env: Any
    config: AdversaryConfig = dataclasses.field(default_factory=AdversaryConfig)
    learns = True

    @property
    def mesh(self) -> Mesh:
        return devices.mesh(td3.shards(self.config.td3, self.env.opponent.num_agents))

    def init(self, key: Key) -> AdversaryState:
        """A new opponent and an empty buffer."""
        return self._init(key)

    def player(self, state: AdversaryState) -> Learnt:
        """The newest opponent."""
        return Learnt(state.learner.actor)

    def improve(self, key: Key, state: AdversaryState, experience: Rollouts) -> tuple[AdversaryState, Metrics]:
        """Learn from its side of all rollouts; the old state is used up."""
        memories = tuple((memory.opponent, memory.valid) for _, memory in experience)
        if self.mesh.size < devices.mesh().size:
            memories = devices.spread(self.mesh, memories)
        return self._improve(devices.spread(self.mesh, key), state, memories)

    @partial(jax.jit, static_argnums=0, compiler_options=devices.QUICK_COMPILE)
    def _init(self, key: Key) -> AdversaryState:
        side, c = self.env.opponent, self.config
        sizes = side.num_agents, side.obs_size, side.act_size
        learner = td3.init(key, *sizes, c.actor_hidden, c.critic_hidden, c.td3)
        state = AdversaryState(learner, replay.create(c.td3.buffer, *sizes, shards=self.mesh.size))
        return replay.pinned(self.mesh, state)

    @partial(jax.jit, static_argnums=0, donate_argnums=2, compiler_options=devices.QUICK_COMPILE)
    def _improve(self, key: Key, state: AdversaryState, memories: Any) -> tuple[AdversaryState, Metrics]:
        buffer = state.buffer
        for transitions, valid in memories:
            buffer = replay.remember(buffer, transitions, valid)
        frames = jnp.stack([valid.sum() for _, valid in memories]).sum()
        learner, losses = td3.learn(key, state.learner, buffer, frames, self.config.td3)
        metrics = {"opponent_critic_loss": losses["critic_loss"], "opponent_updates": losses["updates"]}
        state = AdversaryState(learner, buffer)
        return replay.pinned(self.mesh, state), metrics | {"opponent_sound": finite.flags(state)}


def check_fits(policy: TeamPolicy, env: Any, where: str) -> None:
    """Refuse an opponent that was made for another world."""
    side = env.opponent
    found = policy.num_agents, policy.trunk[0].weight.shape[0], policy.heads.weight.shape[1] // policy.num_agents
    if found != (side.num_agents, side.obs_size, side.act_size):
        raise UserError(
            f"The opponent in '{where}' was trained for another world: it sees {found[1]} numbers, "
            f"this world's opponent sees {side.obs_size}; choose a run on the same world."
        )
