"""Rollouts of PettingZoo worlds by worker processes, against one plain loop in this process: frames per second.

python benchmarks/pettingzoo_rollouts.py --out results/benchmarks/pettingzoo_rollouts.json

Both play the same episodes of the same team with the same policy in NumPy; the two take turns, so that noise hits both.
The workers' time has everything in it that training waits for: weights out, transitions back, arrays for JAX. How busy
the machine was is told, too: where other programs compute, the ratio says nothing.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from typing import Any

import jax
from reporting import parser, report

import merlax
from merlax import TeamPolicy
from merlax.core import outside, rollout
from merlax.core.played import Field
from merlax.core.players import PolicyPlayer
from merlax.envs.adapters import workers
from merlax.envs.outside import Outside
from merlax_worker import episode
from merlax_worker.episode import Job

WORLDS = {"pettingzoo:mpe2/simple_spread_v3": 200, "pettingzoo:sisl/multiwalker_v9": 40}  # and how many episodes
REPEATS = 5


def measure(name: str, episodes: int, processes: int) -> dict[str, Any]:
    """One world, both ways."""
    env = merlax.make(name, team="sum", workers=processes)
    assert isinstance(env, Outside)
    team = TeamPolicy(jax.random.key(0), env.sides[0], (100, 100))
    keys = jax.random.split(jax.random.key(1), episodes)
    sent, world = outside.sent(PolicyPlayer(team)), env.world()
    jobs = [Job(tuple(words), (0,), (0.4,)) for words in jax.device_get(jax.random.key_data(keys)).tolist()]

    def loop() -> int:
        return sum(result.steps for result in episode.play(world, [sent], jobs, (True,)))

    def by_workers() -> int:
        played = rollout.play_team(jax.random.clone(keys), Field(env), PolicyPlayer(team), 0.4)
        return int(jax.block_until_ready(played).episode.frames.sum())

    assert loop() == by_workers(), "both play the same episodes"
    pairs = [(_rate(loop), _rate(by_workers)) for _ in range(REPEATS)]
    alone, beside = (_cpu(play) for play in (loop, by_workers))
    ratios = [fast / plain for plain, fast in pairs]
    return {
        "loop_frames_per_s": round(statistics.median(plain for plain, _ in pairs)),
        "workers_frames_per_s": round(statistics.median(fast for _, fast in pairs)),
        "ratio": round(statistics.median(ratios), 2),
        "processor_time_of_this_process_beside_workers": round(beside / alone, 3),  # of the loop's; 0: workers do all
        "ratios": [round(ratio, 2) for ratio in sorted(ratios)],
    }


def _rate(play: Callable[[], int]) -> float:
    start = time.monotonic()
    frames = play()
    return frames / (time.monotonic() - start)


def _cpu(play: Callable[[], int]) -> float:
    """Seconds of processor time that this process itself takes, however busy the machine is."""
    start = time.process_time()
    play()
    return time.process_time() - start


def main() -> None:
    made = parser(__doc__)
    made.add_argument("--workers", type=int, default=2)
    made.add_argument("--world", action="append", choices=list(WORLDS), help="only these")
    options = made.parse_args()
    found: dict[str, Any] = {"workers": options.workers, "load_before": round(os.getloadavg()[0], 2)}
    for name in options.world or WORLDS:
        try:
            found[name] = measure(name, WORLDS[name], options.workers)
        except merlax.UserError as error:
            found[name] = str(error)
        workers.stop()
    report(found, options.out)


if __name__ == "__main__":
    main()
