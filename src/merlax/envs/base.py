"""The contract of a world, and the registry of the worlds that have a name."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

from jaxtyping import Array, Bool, Float

from merlax.types import Key, Reward, UserError, suggest

StepResult = tuple[Float[Array, "agent obs"], Any, Reward, Bool[Array, ""], Bool[Array, ""], dict[str, Array]]


class World(Protocol):
    """What every world has: its sizes, and a start."""

    @property
    def num_agents(self) -> int: ...

    @property
    def obs_size(self) -> int: ...

    @property
    def act_size(self) -> int: ...

    @property
    def horizon(self) -> int: ...

    def reset(self, key: Key) -> tuple[Float[Array, "agent obs"], Any]: ...


@runtime_checkable
class Env(World, Protocol):
    """One cooperative world: pure, hashable, jit- and vmap-able, without batch axes.

    `reward.team` summed over an episode is the team's fitness; `reward.agent` is what each agent
    learns from. The two never mix inside a world. There is no auto-reset: the last observation of an
    episode is the true one.
    """

    def step(self, key: Key, state: Any, action: Float[Array, "agent act"]) -> StepResult:
        """Return `obs, state, reward, terminated, truncated, info`."""
        ...


@dataclasses.dataclass(frozen=True)
class Side:
    """The sizes of one side of a contest."""

    num_agents: int
    obs_size: int
    act_size: int


@runtime_checkable
class Contest(World, Protocol):
    """A world with an opponent: a second side with its own observation, action and reward.

    Sizes, `reset` and what `step` returns are the team's, as in `Env`.
    """

    @property
    def opponent(self) -> Side: ...

    def step(
        self,
        key: Key,
        state: Any,
        action: Float[Array, "agent act"],
        opponent_action: Float[Array, "opponent act"],
    ) -> StepResult:
        """Return the team's `obs, state, reward, terminated, truncated, info`."""
        ...

    def opponent_obs(self, state: Any) -> Float[Array, "agent obs"]: ...

    def opponent_reward(self, state: Any) -> Float[Array, " agent"]:
        """What the step that led to this state paid the opponent."""
        ...

    def scripted_opponent(self, state: Any) -> Float[Array, "agent act"]:
        """The action of an opponent that plays by a simple rule, and does not learn."""
        ...


_WORLDS: dict[str, Callable[..., Env | Contest]] = {}


def register(name: str, constructor: Callable[..., Env | Contest]) -> None:
    """Give a world a name, so that `make(name)` and the command line find it."""
    if name in _WORLDS:
        raise UserError(f"The world name '{name}' is taken already; register yours under another one.")
    _WORLDS[name] = constructor


def ids() -> list[str]:
    """The names of all registered worlds."""
    return sorted(_WORLDS)


def make(name: str, **options: Any) -> Any:
    """The registered world `name`, an `Env` or a `Contest`.

    Options override its fields: `make("rover-3", speed="pinned")`.
    """
    if name not in _WORLDS:
        raise UserError(f"There is no world '{name}'{suggest(name, ids())}; `merlax envs` lists them all.")
    try:
        return _WORLDS[name](**options)
    except TypeError as error:
        raise UserError(f"The world '{name}' does not take these options: {error}.") from error
