"""What worlds of other libraries share: fields that say what pays, and how their parts become a world of merlax's."""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from merlax.envs.base import Side
from merlax.types import UserError, suggest

SUMS: dict[str, Callable[[Array], Array]] = {"sum": jnp.sum, "mean": jnp.mean, "max": jnp.max, "min": jnp.min}
OWN = "reward"
_FUNCTIONS: dict[str, Callable[..., Any]] = {}  # those that the user has given, by their names


class ForeignState(eqx.Module):
    """Another library's state, with what merlax must know of it."""

    inner: Any
    here: Bool[Array, " agent"]  # who has not left
    time: Int[Array, ""]


@dataclasses.dataclass(frozen=True)
class Foreign:
    """A world of another library. Its own options are fields, too."""

    name: ClassVar[str]  # such as "jaxmarl:MPE_simple_spread_v3"
    options: ClassVar[Mapping[str, Any]] = {}  # the library's own, with their defaults

    team: str = ""
    """What pays the team: sum, mean, max or min of the agents' rewards, or a key of the world's info."""
    agent: str = OWN
    """What pays an agent: its own reward, or a key of the world's info."""
    steps: int = 0
    """Steps of an episode; 0: as many as the world itself allows."""

    @property
    def horizon(self) -> int:
        """Steps after which every episode has ended."""
        limit = self.steps or self._own_limit()
        if not limit:
            raise UserError(f"{self.name} has no limit of its own; choose one with --env.steps, such as 100.")
        return int(limit)

    def _own_limit(self) -> int:
        raise NotImplementedError

    def changed(self) -> dict[str, Any]:
        """The library's own options that differ from their defaults."""
        given = {name: getattr(self, name) for name in self.options}
        return {name: value for name, value in given.items() if value != self.options[name]}

    def team_reward(self, rewards: Float[Array, " agent"], info: Mapping[str, Any]) -> Float[Array, ""]:
        """What the user has chosen."""
        if self.team in _FUNCTIONS:
            return jnp.asarray(_FUNCTIONS[self.team](rewards, info)).astype(jnp.float32).reshape(())
        if self.team in SUMS:
            return SUMS[self.team](rewards)
        return self._of_info(self.team, info, "team").sum()

    def agent_reward(self, rewards: Float[Array, " agent"], info: Mapping[str, Any]) -> Float[Array, " agent"]:
        """Each agent's own, or what the user has chosen."""
        return (
            rewards if self.agent == OWN else jnp.broadcast_to(self._of_info(self.agent, info, "agent"), rewards.shape)
        )

    def _of_info(self, key: str, info: Mapping[str, Any], field: str) -> Array:
        if key not in info:
            raise UserError(self.unpaid(key, list(info), field))
        parts = jax.tree.leaves(info[key]) if isinstance(info[key], dict) else [info[key]]
        return jnp.stack([jnp.asarray(part).astype(jnp.float32) for part in parts]).squeeze()

    def unpaid(self, key: str, info: Sequence[str], field: str) -> str:
        """What to choose instead of a key that the world's info does not have."""
        if not key:
            known = f", or a key of its info ({', '.join(info)})" if info else ""
            return (
                f"{self.name} pays its agents, and what pays the team is your choice: give it with --env.team, or "
                f'merlax.make("{self.name}", team=…), as sum, mean, max, min{known}; in Python also as a function.'
            )
        if ":" in key:
            return f"{self.name} is paid by the function '{key}'; give it again, in Python, as {field}=…."
        known = [*SUMS, *info] if field == "team" else [OWN, *info]
        return f"{self.name} has no '{key}' in its info{suggest(key, known)}; choose {field} from {', '.join(known)}."


def function(name: str) -> Callable[..., Any] | None:
    """The reward function that a field names, if the user has given it."""
    return _FUNCTIONS.get(name)


def named(option: Any) -> Any:
    """An option as a field holds it: a function by its name, under which it is kept."""
    if not inspect.isfunction(option):
        return option
    if option.__name__ == "<lambda>":
        raise UserError("A reward that is a function is written down by its name; define it with def, not lambda.")
    name = f"{option.__module__}:{option.__qualname__}"
    if _FUNCTIONS.setdefault(name, option) is not option:  # defined anew, as in a notebook
        _FUNCTIONS[name] = option
        jax.clear_caches()
    return name


def arranged(side: Side, vectors: Sequence[Array]) -> Any:
    """One vector per agent, as a world of merlax's shows or takes them."""
    return jnp.stack(vectors) if side.alike else tuple(vectors)


def rescaled(action: Array, low: Any, high: Any) -> Array:
    """An action in [-1, 1] as one between two bounds, where these are finite."""
    low, high = (jnp.broadcast_to(jnp.asarray(bound, jnp.float32), action.shape) for bound in (low, high))
    within = low + (action + 1.0) / 2.0 * (high - low)
    return jnp.where(jnp.isfinite(low) & jnp.isfinite(high), within, action)


def simple_options(constructors: Sequence[Callable[..., Any]]) -> dict[str, Any]:
    """Those parameters of some constructors that the command line can set: numbers, flags and words."""
    parameters = [p for each in reversed(constructors) for p in inspect.signature(each).parameters.values()]
    return {p.name: p.default for p in parameters if isinstance(p.default, bool | int | float | str)}


def subclass(base: type, name: str, options: Mapping[str, Any]) -> type:
    """The class of the worlds of one name: its options are fields, but for those that merlax has already."""
    free = {each: value for each, value in options.items() if not hasattr(base, each)}
    fields = [(each, type(value), dataclasses.field(default=value)) for each, value in free.items()]
    namespace = {"name": name, "options": free, "__module__": base.__module__}
    return dataclasses.make_dataclass(base.__name__, fields, bases=(base,), frozen=True, namespace=namespace)


@contextlib.contextmanager
def lenient() -> Iterator[None]:
    """Other libraries rely on JAX's default promotion, whatever the caller has set."""
    with jax.numpy_rank_promotion("allow"), jax.numpy_dtype_promotion("standard"), jax.debug_key_reuse(False):
        yield
