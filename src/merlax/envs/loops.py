"""Loops inside a world's step: unrolled while they are short, so that XLA makes one kernel of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import jax

T = TypeVar("T")

UNROLLED = 32  # passes; a program grows with each, and takes minutes to compile with hundreds


def repeat(times: int, one_pass: Callable[[Any, T], T], start: T) -> T:
    """What is left of `start` after `one_pass(index, value)` with every index below `times`, in turn."""
    if times > UNROLLED:
        return jax.lax.fori_loop(0, times, one_pass, start)
    for index in range(times):
        start = one_pass(index, start)
    return start
