"""Algorithms: assemblies of rollouts, buffers, learners and operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from merlax.algorithms.base import Algorithm
from merlax.algorithms.ea import Ea, EaConfig
from merlax.algorithms.es import Es, EsConfig
from merlax.algorithms.gradient import Gradient, GradientConfig
from merlax.algorithms.merl import Merl, MerlConfig
from merlax.envs.base import Env
from merlax.types import UserError, suggest

# What tells the gradient methods apart is their configuration (presets).
_ALGORITHMS: dict[str, Callable[[Env, Any], Algorithm]] = {
    "merl": Merl,
    "ea": Ea,
    "es": Es,
    "td3": Gradient,
    "ddpg": Gradient,
    "matd3": Gradient,
    "maddpg": Gradient,
}


def names() -> list[str]:
    """The names of all algorithms."""
    return list(_ALGORITHMS)


def make(name: str, env: Env, config: Any) -> Algorithm:
    """The algorithm `name` on a world."""
    check(name)
    return _ALGORITHMS[name](env, config)


def check(name: str) -> None:
    """Refuse a name that no algorithm has."""
    if name not in _ALGORITHMS:
        raise UserError(f"There is no algorithm '{name}'{suggest(name, names())}; choose from {', '.join(names())}.")


__all__ = [
    "Algorithm",
    "Ea",
    "EaConfig",
    "Es",
    "EsConfig",
    "Gradient",
    "GradientConfig",
    "Merl",
    "MerlConfig",
    "check",
    "make",
    "names",
]
