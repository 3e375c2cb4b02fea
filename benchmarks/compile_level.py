"""Does it pay to let XLA optimise more? A generation's two halves, compiled at several levels; they take turns.

python benchmarks/compile_level.py    # MERL on rover-3; prints JSON
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable
from typing import Any

import jax

from merlax import envs
from merlax.algorithms import presets
from merlax.algorithms.merl import Merl
from merlax.core import devices

LEVELS = (3, 2, 1)
ROUNDS = 25


def seconds(function: Callable[..., Any], *args: Any) -> float:
    """Of one call."""
    start = time.perf_counter()
    jax.block_until_ready(function(*args))
    return time.perf_counter() - start


def compare(function: Callable[..., Any], *args: Any) -> dict[str, Any]:
    """Seconds to compile it, and its time over that at the first level: the median over the rounds."""
    compiled, first = {}, {}
    for level in LEVELS:
        compiled[level] = jax.jit(function, compiler_options={"xla_backend_optimization_level": level})
        first[level] = seconds(compiled[level], *args)
    rounds = [{level: seconds(compiled[level], *args) for level in LEVELS} for _ in range(ROUNDS)]
    ratio = {level: statistics.median(times[level] / times[LEVELS[0]] for times in rounds) for level in LEVELS}
    return {"first_call_s": first, "time_ratio": ratio}


def main() -> None:
    """Measure and print."""
    jax.config.update("jax_enable_compilation_cache", False)
    devices.use_all_cores()
    algorithm = Merl(envs.make("rover-3"), presets.preset("fast", "rover-3"))
    state = algorithm.init(jax.random.key(0))
    key = devices.spread(devices.mesh(), jax.random.key(1))
    experience = algorithm.explore(jax.random.key(2), state)
    state, _ = algorithm.improve(jax.random.key(3), state, experience)  # past the burn-in
    players = devices.spread(devices.mesh(), algorithm.players(state))
    found = {
        "rollouts": compare(lambda key, players: algorithm.rollouts(key, players, None), key, players),
        "learn": compare(algorithm.learn, key, state, experience),
    }
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
