"""More gradient steps for those learners whose migrants are selected: how far evolution trusts each of them."""

from __future__ import annotations

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

MEMORY = 20  # generations, about, that a rate looks back over
LEAST = 0.1  # of an equal share, for everybody: whoever never learnt could never be selected again


def nothing_known(learners: int) -> Float[Array, " learner"]:
    """Everybody's rate before the first selection: they are equal."""
    return jnp.full(learners, 0.5)


def follow(rates: Float[Array, " learner"], selected: Bool[Array, " learner"]) -> Float[Array, " learner"]:
    """How often each learner's migrant has been selected of late, once it is known what became of the newest ones."""
    return rates + (selected.astype(rates.dtype) - rates) / MEMORY


def shares(rates: Float[Array, " learner"]) -> Float[Array, " learner"]:
    """What each learner's rounds of updates are multiplied by: in proportion to the rates, and 1 on average."""
    some = rates + 1e-6  # where nobody is selected for long, all are equal
    return LEAST + (1.0 - LEAST) * some / jnp.mean(some)
