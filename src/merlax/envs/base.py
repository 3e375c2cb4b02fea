"""The contract of a world, and how everybody else calls one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple, Protocol, TypeAlias, runtime_checkable

import jax
from jaxtyping import Array, Bool, PyTree

from merlax.envs.spaces import Action, Box, Discrete, Obs, Side
from merlax.types import Key, Reward

# One value where a world has one side, else a tuple with one for each side, the team's first.
PerSide: TypeAlias = PyTree
Flag: TypeAlias = Bool[Array, ""]
State: TypeAlias = PyTree  # whatever a world keeps
StepResult: TypeAlias = tuple[PerSide, State, PerSide, Flag, Flag, dict[str, Array]]

__all__ = ["Action", "Box", "Discrete", "Env", "Obs", "Side", "by_side", "present", "reset", "step"]


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
class Restricted(Protocol):
    """A world that says which choices are legal, for its sides with `masked=True`."""

    def legal(self, state: State) -> PerSide:
        """By side, a flag for every choice: [agent, choice], or a tuple with one entry per agent where they differ."""
        ...


@runtime_checkable
class Abandoned(Protocol):
    """A world whose agents may leave before its end, on its sides with `leaving=True`."""

    def present(self, state: State) -> PerSide:
        """By side, a flag for every agent. Whoever has left does not come back."""
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
    return _rows(env, obs, state), state


@partial(jax.jit, static_argnums=0)
def step(env: Env, key: Key, state: State, actions: Sequence[Action]) -> Step:
    """One joint step of a world, by side."""
    own = tuple(side.actions(rows) for side, rows in zip(env.sides, actions, strict=True))
    action = own if len(env.sides) > 1 else own[0]
    obs, state, reward, terminated, truncated, info = env.step(key, state, action)
    return Step(_rows(env, obs, state), state, by_side(env, reward), terminated, truncated, info)


def present(env: Env, state: State) -> tuple[Bool[Array, " _agent"] | None, ...]:
    """Who is still there, by side; nothing for a side that nobody leaves."""
    if not any(side.leaving for side in env.sides):
        return (None,) * len(env.sides)
    told = by_side(env, env.present(state))  # type: ignore[attr-defined]
    return tuple(flags if side.leaving else None for side, flags in zip(env.sides, told, strict=True))


def _rows(env: Env, obs: PerSide, state: State) -> tuple[Obs, ...]:
    """What a world shows, as rows, by side."""
    masked = any(side.masked for side in env.sides)
    legal = by_side(env, env.legal(state)) if masked else (None,) * len(env.sides)  # type: ignore[attr-defined]
    return tuple(side.rows(*each) for side, *each in zip(env.sides, by_side(env, obs), legal, strict=True))


def by_side(env: Env, value: PerSide) -> tuple[PyTree, ...]:
    """A value of a world as a tuple with one entry for each side."""
    return value if len(env.sides) > 1 else (value,)
