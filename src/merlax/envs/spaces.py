"""What the agents of a world's side see and do: their spaces, and how worlds and networks pass them on."""

from __future__ import annotations

import dataclasses
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from merlax.types import UserError

# Axes with a "_" may differ between the sides of one world.
Obs: TypeAlias = Float[Array, "_agent _obs"]
Action: TypeAlias = Float[Array, "_agent _act"]


@dataclasses.dataclass(frozen=True)
class Box:
    """A vector of numbers: of any size as an observation, in [-1, 1] as an action.

    Args:
        size: How many numbers.

    Examples:
        >>> merlax.Box(3)
        Box(size=3)
    """

    size: int


@dataclasses.dataclass(frozen=True)
class Discrete:
    """One of `size` choices, numbered from 0.

    Args:
        size: How many choices.

    Examples:
        >>> merlax.Discrete(5)
        Discrete(size=5)
    """

    size: int


Space: TypeAlias = Box | Discrete


@dataclasses.dataclass(frozen=True)
class Side:
    """One side of a world: the observation and the action space of each of its agents.

    Agents that are alike have arrays with a row for each: observations [agent, size], actions [agent, size], or [agent]
    whole numbers where they choose. Where they differ, observation and action are tuples with one entry for each agent.

    Inside merlax every side has rows, so that networks, buffers and learners are one for all: `rows`, `actions` and
    `action_rows` translate. A row is as wide as the widest agent's observation; where agents differ, flags that tell
    which kind an agent is of follow it; where choices may be forbidden, flags of those that are legal. The action of
    whoever chooses is a row with a 1 at the choice.

    Examples:
        >>> side = merlax.Side.equal(num_agents=2, obs_size=5, act_size=1)
        >>> side.num_agents, side.obs_size, side.act_size
        (2, 5, 1)
        >>> merlax.Side(obs=(merlax.Box(4), merlax.Box(2)), action=(merlax.Box(2), merlax.Discrete(3))).alike
        False
    """

    obs: tuple[Box, ...]
    """The observation space of each agent."""
    action: tuple[Space, ...]
    """The action space of each agent."""
    masked: bool = False
    """Whether the world's `legal(state)` says which choices there are."""
    leaving: bool = False
    """Whether the world's `present(state)` says who is still there."""

    @classmethod
    def equal(
        cls,
        num_agents: int,
        obs_size: int,
        act_size: int = 0,
        *,
        choices: int = 0,
        masked: bool = False,
        leaving: bool = False,
    ) -> Side:
        """A side whose agents are all alike: each acts by `act_size` numbers, or by one of so many `choices`.

        Args:
            num_agents: How many there are.
            obs_size: Numbers that each sees.
            act_size: Numbers that each does.
            choices: Of how many each takes one, instead.
            masked: Whether the world's `legal(state)` says which choices there are.
            leaving: Whether the world's `present(state)` says who is still there.
        """
        if (act_size > 0) == (choices > 0):
            raise UserError("An agent acts by numbers or by choices: give Side.equal either act_size or choices.")
        action = Discrete(choices) if choices else Box(act_size)
        return cls((Box(obs_size),) * num_agents, (action,) * num_agents, masked, leaving)

    @property
    def num_agents(self) -> int:
        return len(self.obs)

    @property
    def obs_size(self) -> int:
        """Numbers in a row of observations, flags included."""
        kinds = 0 if self.alike else len(self.kinds)
        return self.widest + kinds + (self.act_size if self.masked else 0)

    @property
    def act_size(self) -> int:
        """Numbers in a row of actions."""
        return max(space.size for space in self.action)

    @property
    def widest(self) -> int:
        """Numbers in the largest observation."""
        return max(space.size for space in self.obs)

    @property
    def kinds(self) -> tuple[tuple[Box, Space], ...]:
        """The different pairs of spaces that agents have, in their order."""
        return tuple(dict.fromkeys(zip(self.obs, self.action, strict=True)))

    @property
    def alike(self) -> bool:
        """Whether all agents have the same spaces."""
        return len(self.kinds) == 1

    @property
    def plain(self) -> bool:
        """Whether the world's own arrays are rows: agents are alike, and act by numbers."""
        return self.alike and not self.masked and not self.chooses

    @property
    def chooses(self) -> bool:
        """Whether an agent acts by a choice."""
        return any(isinstance(space, Discrete) for space in self.action)

    def rows(self, obs: Any, legal: Any = None) -> Obs:
        """A world's observations of this side as rows, with its flags."""
        if self.alike and not self.masked:
            return obs
        parts = [obs if self.alike else jnp.stack([_widened(each, self.widest) for each in obs])]
        if not self.alike:
            places = [self.kinds.index(kind) for kind in zip(self.obs, self.action, strict=True)]
            parts.append(jnp.eye(len(self.kinds))[np.array(places)])
        if self.masked:
            parts.append(self._flags(legal).astype(jnp.float32))
        return jnp.concatenate(parts, axis=1)

    def _flags(self, legal: Any) -> Bool[Array, "agent act"]:
        """What is legal, as rows; an agent of whom nothing is said may do everything."""
        if self.alike:
            return legal
        free = (jnp.ones(space.size, bool) for space in self.action)
        told = (every if flags is None else flags for flags, every in zip(legal, free, strict=True))
        return jnp.stack([_widened(flags, self.act_size) for flags in told])

    def actions(self, rows: Action) -> Any:
        """Rows of actions as the world takes them."""
        if self.alike:
            return jnp.argmax(rows, axis=1).astype(jnp.int32) if self.chooses else rows
        own = [row[: space.size] for row, space in zip(rows, self.action, strict=True)]
        pairs = zip(own, self.action, strict=True)
        return tuple(jnp.argmax(x).astype(jnp.int32) if isinstance(s, Discrete) else x for x, s in pairs)

    def action_rows(self, action: Any) -> Action:
        """The inverse of `actions`."""
        if self.alike:
            return jax.nn.one_hot(action, self.act_size) if self.chooses else action
        pairs = zip(action, self.action, strict=True)
        own = [jax.nn.one_hot(x, s.size) if isinstance(s, Discrete) else x for x, s in pairs]
        return jnp.stack([_widened(x, self.act_size) for x in own])


def _widened(vector: Array, size: int) -> Array:
    return jnp.pad(vector, (0, size - vector.shape[0]))
