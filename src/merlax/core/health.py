"""Whether the weights of a state are numbers still."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool

# Not the population: a team of it may break, and is ranked last.
_PARTS = ("learner.", "search.mean", "search.opt_state", "champion.")


def parts(state: Any) -> dict[str, Bool[Array, ""]]:
    """For each part of a state, such as `learner.actor`: whether all its weights are finite."""
    found: dict[str, list[Array]] = {}
    for path, leaf in jax.tree_util.tree_flatten_with_path(state)[0]:
        name = ".".join(jax.tree_util.keystr(path, simple=True, separator=".").split(".")[:2])
        if name.startswith(_PARTS):
            found.setdefault(name, []).append(jnp.isfinite(leaf).all())
    return {name: jnp.stack(leaves).all() for name, leaves in found.items()}


def flags(state: Any) -> Bool[Array, " part"]:
    """The same, as one array."""
    return jnp.stack(list(parts(state).values()))
