"""Worlds by name: merlax's own, those a user registers, other libraries' by prefix, any other as `module:World`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from merlax import config
from merlax.envs import adapters
from merlax.envs.base import Env
from merlax.types import UserError, suggest

_WORLDS: dict[str, Callable[..., Env]] = {}


def register(name: str, constructor: Callable[..., Env]) -> None:
    """Give a world a name, so that `make(name)` and the command line find it.

    Args:
        name: What users will write.
        constructor: A world's class, or a function that returns one; its keyword arguments are the world's options.

    Examples:
        >>> merlax.register("three-rovers", lambda **options: merlax.Rover(num_agents=3, **options))
        >>> merlax.make("three-rovers", num_poi=2).num_poi
        2
    """
    if name in _WORLDS or ":" in name:
        raise UserError(f"The world name '{name}' is taken already, or has a colon; register yours under another one.")
    _WORLDS[name] = constructor


def ids() -> list[str]:
    """The names of all registered worlds.

    Examples:
        >>> merlax.ids()[:3]
        ['keep-away', 'physical-deception', 'predator-prey']
    """
    return sorted(_WORLDS)


def is_known(name: str | None) -> bool:
    """Whether merlax makes the world of this name without code of the user's: what files may name."""
    return name is not None and (name in _WORLDS or adapters.is_shipped(name))


def make(name: str, **options: Any) -> Env:
    """The world of this name: a registered one, another library's, or `module:World`, which is imported.

    Args:
        name: Such as "rover-3", "jaxmarl:MPE_simple_spread_v3" or "my_module:MyWorld".
        options: Fields of the world that are to differ: `make("rover-3", speed="pinned")`.

    Examples:
        >>> env = merlax.make("rover-3", speed="pinned")
        >>> env.num_agents, env.coupling, env.horizon
        (6, 3, 50)
    """
    if adapters.prefix_of(name):
        return _construct(name, lambda **given: adapters.make(name, given), options)
    if ":" in name:
        return _imported(name, options)
    if name not in _WORLDS:
        raise UserError(f"There is no world '{name}'{suggest(name, ids())}; `merlax envs` lists them all.")
    return _construct(name, _WORLDS[name], options)


def _imported(name: str, options: dict[str, Any]) -> Env:
    try:
        found = config.import_object(name)
    except UserError as error:
        near = suggest(name.partition(":")[0], adapters.PREFIXES)
        raise UserError(f"{str(error).removesuffix('.')}{near}.") from error
    env = _construct(name, found, options) if callable(found) else found
    if hasattr(env, "possible_agents") and not isinstance(env, Env):
        raise UserError(f"'{name}' is a world of PettingZoo's; name it pettingzoo:{name}.")
    if not isinstance(env, Env):
        raise UserError(f"'{name}' is no world; name a class with `sides`, `reset` and `step`, or an object of one.")
    if env is found and options:
        raise UserError(f"'{name}' is a world already made, so it takes no options; name its class instead.")
    return env


def _construct(name: str, constructor: Callable[..., Any], options: dict[str, Any]) -> Any:
    try:
        return constructor(**options)
    except TypeError as error:
        raise UserError(f"The world '{name}' does not take these options: {error}.") from error
