"""The contract of an algorithm (DESIGN §2), and where its programs run."""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
from jax.sharding import Mesh

from merlax.core import devices, replay
from merlax.core import health as finite
from merlax.core.networks import TeamPolicy
from merlax.core.rollout import Episode, Memory, Opponent
from merlax.envs.base import Env
from merlax.types import Key, Metrics

Experience: TypeAlias = tuple[tuple[Episode, Memory], ...]  # all rollouts of one generation


@dataclasses.dataclass(frozen=True)
class Algorithm(abc.ABC):
    """`step` is one generation; `champion` is the team that a test plays and a run keeps.

    A generation has two halves, so that an opponent can learn from the same rollouts: `explore` plays,
    `improve` learns. An algorithm defines them as the pure functions `start`, `rollouts` and `learn`.
    """

    env: Env
    config: Any

    @property
    @abc.abstractmethod
    def frames_per_generation(self) -> int:
        """Joint steps of one generation in which no episode ends early."""

    @abc.abstractmethod
    def start(self, key: Key) -> Any:
        """The state before the first generation."""

    @abc.abstractmethod
    def players(self, state: Any) -> Any:
        """Of the state, what the rollouts need."""

    @abc.abstractmethod
    def rollouts(self, key: Key, players: Any, opponent: Opponent | None) -> Experience:
        """All rollouts of one generation."""

    @abc.abstractmethod
    def learn(self, key: Key, state: Any, experience: Experience) -> tuple[Any, Metrics]:
        """Everything that follows them."""

    @abc.abstractmethod
    def champion(self, state: Any) -> TeamPolicy:
        """The team to test."""

    @property
    def mesh(self) -> Mesh:
        """The devices that share `learn`."""
        return devices.mesh()

    def batched(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """`jax.vmap` over all these devices."""
        return devices.shard_over(self.mesh, jax.vmap(function))

    def init(self, key: Key) -> Any:
        """The state before the first generation, on its devices."""
        return self._start(key)

    def step(self, key: Key, state: Any, opponent: Opponent | None = None) -> tuple[Any, Metrics]:
        """One generation."""
        key_explore, key_improve = jax.random.split(key)
        return self.improve(key_improve, state, self.explore(key_explore, state, opponent))

    def explore(self, key: Key, state: Any, opponent: Opponent | None = None) -> Experience:
        """Play all rollouts, over all devices."""
        return self._rollouts(*devices.spread(devices.mesh(), (key, self.players(state), opponent)))

    def improve(self, key: Key, state: Any, experience: Experience) -> tuple[Any, Metrics]:
        """Learn from them; the old state is used up."""
        if self.mesh.size < devices.mesh().size:
            experience = devices.spread(self.mesh, experience)
        return self._learn(devices.spread(self.mesh, key), state, experience)

    @partial(jax.jit, static_argnums=0, compiler_options=devices.QUICK_COMPILE)
    def _start(self, key: Key) -> Any:
        return replay.pinned(self.mesh, self.start(key))

    @partial(jax.jit, static_argnums=0, compiler_options=devices.QUICK_COMPILE)
    def _rollouts(self, key: Key, players: Any, opponent: Opponent | None) -> Experience:
        return self.rollouts(key, players, opponent)

    @partial(jax.jit, static_argnums=0, donate_argnums=2, compiler_options=devices.QUICK_COMPILE)
    def _learn(self, key: Key, state: Any, experience: Experience) -> tuple[Any, Metrics]:
        state, metrics = self.learn(key, state, experience)
        faults = [episode.fault.reshape(-1, episode.fault.shape[-1]).any(axis=0) for episode, _ in experience]
        metrics |= {"fault": jnp.stack(faults).any(axis=0), "sound": finite.flags(state)}
        return replay.pinned(self.mesh, state), metrics
