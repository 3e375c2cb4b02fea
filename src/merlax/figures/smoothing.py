"""The running mean that curves are drawn with."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float


def running_mean(y: Float[np.ndarray, " n"], window: int) -> Float[np.ndarray, " n"]:
    """The mean of each value and those before it, `window` in all, or as many as there are."""
    total = np.concatenate([[0.0], np.cumsum(y)])
    last = np.arange(1, len(y) + 1)
    first = np.maximum(last - window, 0)
    return (total[last] - total[first]) / (last - first)
