"""The contract of a world, and how everybody else calls one."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple, Protocol, TypeAlias, runtime_checkable

import jax
from jaxtyping import Array, Bool, Float, PyTree

from merlax.types import Key, Reward

# One value where a world has one side, else a tuple with one for each side, the team's first.
PerSide: TypeAlias = PyTree
# Axes with a "_" may differ between the sides of one world.
Obs: TypeAlias = Float[Array, "_agent _obs"]
Action: TypeAlias = Float[Array, "_agent _act"]
Flag: TypeAlias = Bool[Array, ""]
State: TypeAlias = PyTree  # whatever a world keeps
StepResult: TypeAlias = tuple[PerSide, State, PerSide, Flag, Flag, dict[str, Array]]


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
class Side:
    """One side of a world: the observation and the action space of each of its agents.

    Arrays have a row for every agent, as wide as the widest space.

    Args:
        obs: The observation space of each agent.
        action: The action space of each agent.

    Examples:
        >>> side = merlax.Side.equal(num_agents=2, obs_size=5, act_size=1)
        >>> side.num_agents, side.obs_size, side.act_size
        (2, 5, 1)
    """

    obs: tuple[Box, ...]
    action: tuple[Box, ...]

    @classmethod
    def equal(cls, num_agents: int, obs_size: int, act_size: int) -> Side:
        """A side whose agents are all alike.

        Args:
            num_agents: How many there are.
            obs_size: Numbers that each sees.
            act_size: Numbers that each does.
        """
        return cls((Box(obs_size),) * num_agents, (Box(act_size),) * num_agents)

    @property
    def num_agents(self) -> int:
        return len(self.obs)

    @property
    def obs_size(self) -> int:
        return max(space.size for space in self.obs)

    @property
    def act_size(self) -> int:
        return max(space.size for space in self.action)


@runtime_checkable
class Env(Protocol):
    """One world: pure, hashable, jit- and vmap-able, without batch axes.

    It has one or more sides. The first is the team that is trained; another is an opponent with observation, action and
    reward of its own. With one side, observation, action and reward are plain values; with several, tuples.

    `reward.team` summed over an episode is a team's fitness; `reward.agent` is what each agent learns from. The two
    never mix inside a world. There is no auto-reset: the last observation of an episode is the true one.

    Examples:
        >>> env = merlax.make("rover-1")
        >>> isinstance(env, merlax.Env)
        True
        >>> obs, state = env.reset(jax.random.key(0))
        >>> obs, state, reward, terminated, truncated, info = env.step(jax.random.key(1), state, jnp.zeros((3, 2)))
        >>> obs.shape, reward.agent.shape, bool(truncated)
        ((3, 76), (3,), False)
    """

    @property
    def sides(self) -> tuple[Side, ...]: ...

    @property
    def horizon(self) -> int:
        """Steps after which every episode has ended."""
        ...

    def reset(self, key: Key) -> tuple[PerSide, State]:
        """Return the first `obs, state`."""
        ...

    def step(self, key: Key, state: State, action: PerSide) -> StepResult:
        """Return `obs, state, reward, terminated, truncated, info`; `action` has what `obs` has, by side."""
        ...


@runtime_checkable
class Scripted(Protocol):
    """A world that knows a simple rule for a side, which does not learn."""

    def script(self, state: State, side: int) -> Action:
        """What the agents of a side do by the rule."""
        ...


class Step(NamedTuple):
    """What one joint step of a world gives, always by side."""

    obs: tuple[Obs, ...]
    state: State
    reward: tuple[Reward, ...]
    terminated: Flag
    truncated: Flag
    info: dict[str, Array]


# Traced once for a world, however many programs play it.
@partial(jax.jit, static_argnums=0)
def reset(env: Env, key: Key) -> tuple[tuple[Obs, ...], State]:
    """A world's start, by side."""
    obs, state = env.reset(key)
    return _by_side(env, obs), state


@partial(jax.jit, static_argnums=0)
def step(env: Env, key: Key, state: State, actions: Sequence[Action]) -> Step:
    """One joint step of a world, by side."""
    action = tuple(actions) if len(env.sides) > 1 else actions[0]
    obs, state, reward, terminated, truncated, info = env.step(key, state, action)
    return Step(_by_side(env, obs), state, _by_side(env, reward), terminated, truncated, info)


def _by_side(env: Env, value: PerSide) -> tuple[PyTree, ...]:
    return value if len(env.sides) > 1 else (value,)
