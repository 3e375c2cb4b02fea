"""CPU time of one round of updates: joint critics that are networks of their own beside such that share a layer.

    taskset -c 1 python benchmarks/joint_critics.py rover-7 --algorithm maddpg

The two take turns in one process; the median of each counts, and that of the ratios of neighbours. CPU time hardly
depends on what else runs on the machine.
"""

from __future__ import annotations

import dataclasses
import os
import statistics
import time
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from reporting import parser, report

from merlax import envs
from merlax.algorithms import presets
from merlax.algorithms.base import Seat
from merlax.core import devices, practice

KINDS = ("joint", "shared")


def rounds_of(world: str, algorithm: str, kind: str, rounds: int) -> Callable[[], Any]:
    """So many rounds of a new learner, on a buffer full of random numbers."""
    method: Any = presets.preset("fast", world, algorithm)
    config = dataclasses.replace(method.learner, critic=kind, buffer=20_000)
    seat = Seat(envs.make(world))
    state = dataclasses.replace(method, learner=config).start(jax.random.key(0), seat)
    rows = jax.random.uniform(jax.random.key(1), state.buffer.rows.shape)
    full = jnp.full_like(state.buffer.size, rows.shape[1])
    buffer = eqx.tree_at(lambda each: (each.rows, each.size), state.buffer, (rows, full))
    frames = jnp.ceil(rounds / config.updates_per_frame).astype(jnp.int32)
    learn = jax.jit(
        lambda key, learner, buffer: practice.learn(key, learner, buffer, frames, config, seat.reward_bounds),
        compiler_options=devices.QUICK_COMPILE,
    )
    made = learn(jax.random.key(0), state.learner, buffer)  # compiles
    assert int(made[1].updates) >= rounds
    return lambda: jax.block_until_ready(learn(jax.random.key(0), state.learner, buffer))


def measure(world: str, algorithm: str, rounds: int, turns: int) -> dict[str, Any]:
    """Milliseconds of CPU time per round, and how many times faster sharing is."""
    learn = {kind: rounds_of(world, algorithm, kind, rounds) for kind in KINDS}
    took: dict[str, list[float]] = {kind: [] for kind in KINDS}
    for _ in range(turns):
        for kind in KINDS:
            start = time.process_time()
            learn[kind]()
            took[kind].append(1000 * (time.process_time() - start) / rounds)
    return {
        "world": world,
        "algorithm": algorithm,
        "cpu_ms_per_round": {kind: round(statistics.median(own), 1) for kind, own in took.items()},
        "times_faster": round(statistics.median(a / b for a, b in zip(*took.values(), strict=True)), 2),
        "turns": turns,
        "load_at_end": [round(load, 1) for load in os.getloadavg()],
    }


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("world", nargs="?", default="rover-7")
    arguments.add_argument("--algorithm", default="maddpg", choices=("maddpg", "matd3"))
    arguments.add_argument("--rounds", type=int, default=4, help="rounds of a measurement")
    arguments.add_argument("--turns", type=int, default=6, help="measurements of each")
    options = arguments.parse_args()
    devices.prepare()
    report(measure(options.world, options.algorithm, options.rounds, options.turns), options.out)


if __name__ == "__main__":
    main()
