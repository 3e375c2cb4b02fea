"""Pytrees, such as states and teams: compared and copied."""

from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

T = TypeVar("T")


def copy(tree: T) -> T:
    """Numbers that no later step uses up."""
    return jax.tree.map(jnp.copy, tree)


def same(a: Any, b: Any) -> bool:
    """Whether all numbers are equal to the bit."""
    pairs = zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True)
    return all(np.array_equal(x, y, equal_nan=True) for x, y in pairs)


def member(population: T, index: int) -> T:
    """One team of a population."""
    return jax.tree.map(lambda leaf: leaf[index], population)
