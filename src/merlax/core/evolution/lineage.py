"""Who came from whom: what is written down of it, so that a champion's family can be told from the rows alone."""

from __future__ import annotations

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Int

from merlax.core.evolution.selection import Selected


class Lineage(eqx.Module):
    """Where each team of the NEXT generation comes from, by its place in the population.

    A parent is a place in this generation, or -1 - k for the team that migrates into the k-th of the migrants' slots.
    Both parents of a team that was not crossed are the same.
    """

    first_parents: Int[Array, " pop"]
    second_parents: Int[Array, " pop"]
    mutated: Int[Array, " pop"]  # 1 where mutation changed something


def lineage(
    selected: Selected,
    first: Int[Array, " offspring"],
    second: Int[Array, " offspring"],
    mutated: Int[Array, " offspring"],
    migrants: int,
) -> Lineage:
    """The family of one generation: elites, offspring of these parents, and migrants."""
    joined = -1 - jnp.arange(migrants)
    unchanged = jnp.zeros_like(selected.elites)
    return Lineage(
        first_parents=jnp.concatenate([selected.elites, first, joined]),
        second_parents=jnp.concatenate([selected.elites, second, joined]),
        mutated=jnp.concatenate([unchanged, mutated, jnp.zeros(migrants, mutated.dtype)]),
    )
