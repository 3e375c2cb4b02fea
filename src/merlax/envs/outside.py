"""Worlds outside JAX: nothing of them can be traced, so whole episodes are played in other processes."""

from __future__ import annotations

import abc
import dataclasses
from typing import Any, NoReturn

import jax.numpy as jnp

from merlax.envs.base import Env
from merlax.envs.spaces import Side
from merlax.types import Reward, UserError
from merlax_worker.world import World

HERE, RAY = "here", "ray"  # where the processes are


class Outside(abc.ABC):
    """A world that is played in other processes. It has sides and a horizon, but its steps are not merlax's to take."""

    name: str
    on: str
    workers: int
    timeout: float

    @property
    @abc.abstractmethod
    def sides(self) -> tuple[Side, ...]: ...

    @property
    @abc.abstractmethod
    def horizon(self) -> int: ...

    @property
    @abc.abstractmethod
    def draws(self) -> bool:
        """Whether it makes pictures of itself."""

    @abc.abstractmethod
    def world(self) -> World:
        """What other processes need to play it; refuses one whose team nobody has said how to pay."""

    @abc.abstractmethod
    def findings(self) -> tuple[list[str], bool]:
        """All that is wrong with it, a sentence each, and whether a seed decides its episodes."""

    def reset(self, key: Any) -> NoReturn:
        self._refuse()

    def step(self, key: Any, state: Any, action: Any) -> NoReturn:
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise UserError(
            f"{self.name} is played outside JAX, where nobody sees its state; it can be trained on, evaluated, "
            "rendered and played in crossplay, but nothing else."
        )


@dataclasses.dataclass(frozen=True)
class Shadow:
    """A world in JAX with the sides and the horizon of another, in which nothing happens: for shapes only."""

    sides: tuple[Side, ...]
    horizon: int

    def reset(self, key: Any) -> Any:
        del key
        return self._one_or_all([self._zeros(side) for side in self.sides]), jnp.zeros(())

    def step(self, key: Any, state: Any, action: Any) -> Any:
        del action
        obs, _ = self.reset(key)
        reward = self._one_or_all([Reward(jnp.zeros(()), jnp.zeros(side.num_agents)) for side in self.sides])
        return obs, state, reward, jnp.zeros((), bool), jnp.zeros((), bool), {}

    def legal(self, state: Any) -> Any:
        del state
        flags = [[jnp.ones(space.size, bool) for space in side.action] for side in self.sides]
        arranged = zip(flags, self.sides, strict=True)
        return self._one_or_all([jnp.stack(own) if side.alike else tuple(own) for own, side in arranged])

    def present(self, state: Any) -> Any:
        del state
        return self._one_or_all([jnp.ones(side.num_agents, bool) for side in self.sides])

    def _zeros(self, side: Side) -> Any:
        vectors = [jnp.zeros(space.size) for space in side.obs]
        return jnp.stack(vectors) if side.alike else tuple(vectors)

    def _one_or_all(self, values: list[Any]) -> Any:
        return tuple(values) if len(self.sides) > 1 else values[0]


def traceable(env: Env) -> Env:
    """A world with the same shapes that can be traced: itself, unless it is outside JAX."""
    return Shadow(env.sides, env.horizon) if isinstance(env, Outside) else env
