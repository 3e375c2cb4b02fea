"""Does it pay to let XLA optimise more? A generation's two halves, compiled at several levels; they take turns.

python benchmarks/compile_level.py --out results/benchmarks/compile_level.json    # MERL on rover-3
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import jax
from reporting import parser, report

from merlax import envs
from merlax.algorithms import presets
from merlax.algorithms.base import Seat
from merlax.algorithms.game import Game
from merlax.core import devices

LEVELS = (3, 2, 1)


def seconds(function: Callable[..., Any], *args: Any) -> float:
    """Of one call."""
    start = time.perf_counter()
    jax.block_until_ready(function(*args))
    return time.perf_counter() - start


def compare(rounds: int, function: Callable[..., Any], *args: Any) -> dict[str, Any]:
    """Seconds to compile it, and its time over that at the first level: the median over the rounds."""
    compiled, first = {}, {}
    for level in LEVELS:
        compiled[level] = jax.jit(function, compiler_options={"xla_backend_optimization_level": level})
        first[level] = seconds(compiled[level], *args)
    times = [{level: seconds(compiled[level], *args) for level in LEVELS} for _ in range(rounds)]
    ratio = {level: statistics.median(each[level] / each[LEVELS[0]] for each in times) for level in LEVELS}
    return {"first_call_s": first, "time_ratio": ratio}


def main() -> None:
    """Measure and print."""
    arguments = parser(__doc__)
    arguments.add_argument("--world", default="rover-3")
    arguments.add_argument("--rounds", type=int, default=25)
    options = arguments.parse_args()
    devices.prepare()
    jax.config.update("jax_enable_compilation_cache", False)
    env, algorithm = envs.make(options.world), presets.preset("fast", options.world)
    game, seat = Game(env, algorithm), Seat(env)
    state, _ = game.step(jax.random.key(2), game.init(jax.random.key(0)))  # past the burn-in
    shards = algorithm.num_shards(seat)
    players, field = devices.spread(None, (algorithm.players(state.team), game.field(state)))
    key_play, key_learn = devices.spread(None, jax.random.key(1)), devices.spread(shards, jax.random.key(3))
    rollouts = devices.spread(shards, jax.jit(algorithm.play)(key_play, players, field))

    def learn(key: Any, state: Any, rollouts: Any) -> Any:
        return algorithm.learn(key, state, rollouts, seat)

    found = {
        "play": compare(options.rounds, algorithm.play, key_play, players, field),
        "learn": compare(options.rounds, learn, key_learn, state.team, rollouts),
    }
    report(found, options.out)


if __name__ == "__main__":
    main()
