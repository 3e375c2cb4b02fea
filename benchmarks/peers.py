"""Joint steps per second of predator-prey with random actions: merlax beside the libraries that are installed.

    python benchmarks/peers.py --out results/benchmarks/peers.json
    python benchmarks/peers.py --learning  # gradient steps per second of MADDPG, beside BenchMARL: peers_learning.py

Peers, each measured if it can be imported: jaxmarl (`MPE_simple_tag_v3`), vmas (`simple_tag`), mpe2 (`simple_tag_v3`).
Everybody plays whole episodes of 25 steps, resets included, and makes the observations and rewards of all agents in
every step. JAX programs use one host device per core. All are measured in turns, several times, and the best of each
counts. The rate per CPU second divides by the time that the process really had on its cores, so that it hardly depends
on what else runs on the machine.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import os
import platform
import time
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import peers_learning
from reporting import parser, report

from merlax.core import devices
from merlax.runs import bench

HORIZON, NUM_AGENTS = 25, 4
WINDOW = 0.3  # seconds of a measurement, the same for all: short calls would find quiet moments on a busy machine
Play = Callable[[], int]  # plays some episodes, and says how many joint steps that were


def on_all_cores(episode: Callable[[Any], Any], worlds: int) -> Play:
    """Episodes of many worlds as one compiled program."""
    play = jax.jit(devices.shard_over(devices.count(), jax.vmap(episode)))
    keys = devices.spread(None, jax.random.split(jax.random.key(0), worlds))

    def run() -> int:
        jax.block_until_ready(play(keys))
        return worlds * HORIZON

    return run


def merlax(worlds: int) -> Play:
    play = bench.random_episodes("predator-prey", worlds)

    def run() -> int:
        jax.block_until_ready(play())
        return worlds * HORIZON

    return run


def jaxmarl(worlds: int, auto_reset: bool) -> Play:
    """`step` resets a world that is done, so makes a new one in every step; `step_env` leaves that to the caller."""
    env = importlib.import_module("jaxmarl").make("MPE_simple_tag_v3", action_type="Continuous")
    one_step = env.step if auto_reset else env.step_env

    def episode(key: Any) -> Any:
        key_reset, key_act, key_steps = jax.random.split(key, 3)
        obs, state = env.reset(key_reset)
        actions = jax.random.uniform(key_act, (HORIZON, NUM_AGENTS, 5))

        def step(carry: Any, xs: Any) -> Any:
            (state, paid, _), (key, action) = carry, xs
            obs, state, reward, *_ = one_step(key, state, dict(zip(env.agents, action, strict=True)))
            return (state, paid + sum(reward.values()), obs), None

        return jax.lax.scan(step, (state, jnp.zeros(()), obs), (jax.random.split(key_steps, HORIZON), actions))[0]

    return on_all_cores(episode, worlds)


def vmas(worlds: int) -> Play:
    torch = importlib.import_module("torch")
    torch.set_num_threads(len(os.sched_getaffinity(0)))
    env = importlib.import_module("vmas").make_env(
        scenario="simple_tag", num_envs=worlds, device="cpu", continuous_actions=True
    )

    def run() -> int:
        env.reset()
        for _ in range(HORIZON):
            env.step([2.0 * torch.rand(worlds, 2) - 1.0 for _ in env.agents])
        return worlds * HORIZON

    return run


def mpe2() -> Play:
    """One world in one process: mpe2 has no batches. Its best on a machine is this times the cores."""
    from mpe2 import simple_tag_v3

    env = simple_tag_v3.parallel_env(continuous_actions=True)

    def run(episodes: int = 2) -> int:
        for _ in range(episodes):
            env.reset()
            while env.agents:
                env.step({agent: env.action_space(agent).sample() for agent in env.agents})
        return episodes * HORIZON

    return run


def contestants(batches: list[int], peers: list[str]) -> Iterator[tuple[str, str, int, Play]]:
    """Library, what is measured of it, worlds in a batch, and how to play."""
    installed = {name for name in peers if importlib.util.find_spec(name)}
    for worlds in batches:
        yield "merlax", "step", worlds, merlax(worlds)
        if "jaxmarl" in installed:
            yield "jaxmarl", "step_env", worlds, jaxmarl(worlds, auto_reset=False)
            yield "jaxmarl", "step", worlds, jaxmarl(worlds, auto_reset=True)
    if "vmas" in installed:
        yield "vmas", "step", batches[0], vmas(batches[0])
    if "mpe2" in installed:
        yield "mpe2", "step, 1 core", 1, mpe2()


def measure(batches: list[int], rounds: int, peers: list[str]) -> dict[str, Any]:
    """Rates of all, and how many times faster merlax is than the best of each peer."""
    all_of_them = list(contestants(batches, peers))
    rates: list[list[tuple[float, float]]] = [[] for _ in all_of_them]
    for *_, play in all_of_them:
        play()  # compiles
    for _ in range(rounds):
        for seen, (*_, play) in zip(rates, all_of_them, strict=True):
            seen.append(measure_once(play))
    rows = [
        {
            "library": library,
            "call": call,
            "worlds": worlds,
            "joint_steps_per_s": round(max(rate for rate, _ in seen)),
            "joint_steps_per_cpu_s": round(max(rate for _, rate in seen)),
        }
        for (library, call, worlds, _), seen in zip(all_of_them, rates, strict=True)
    ]
    found = sorted({row["library"] for row in rows} - {"merlax"})
    return {
        "rows": rows,
        "merlax_over": {peer: ratios(rows, peer) for peer in found},
        "cores": len(os.sched_getaffinity(0)),
        "devices": jax.device_count(),
        "machine": platform.processor() or platform.machine(),
        "versions": {name: importlib.metadata.version(name) for name in ("jax", *found)},
        "rounds": rounds,
        "load_at_end": [round(load, 1) for load in os.getloadavg()],
    }


def measure_once(play: Play) -> tuple[float, float]:
    """Joint steps per second, and per second of one core that this process really had."""
    steps, start, used = 0, time.perf_counter(), time.process_time()
    while time.perf_counter() - start < WINDOW:
        steps += play()
    return steps / (time.perf_counter() - start), steps / (time.process_time() - used)


def ratios(rows: list[dict[str, Any]], peer: str) -> dict[str, float]:
    """The best of merlax over the best of this peer, by both measures."""

    def best(library: str, column: str) -> float:
        return max(row[column] for row in rows if row["library"] == library)

    columns = "joint_steps_per_s", "joint_steps_per_cpu_s"
    return {column: round(best("merlax", column) / best(peer, column), 2) for column in columns}


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--worlds", type=int, nargs="+", default=[4096, 10_000], help="worlds in a batch")
    arguments.add_argument("--peers", nargs="*", default=["jaxmarl", "vmas", "mpe2"], help="whom, if installed")
    arguments.add_argument("--rounds", type=int, default=12, help="measurements of each, of which the best counts")
    arguments.add_argument("--learning", action="store_true", help="measure gradient steps instead, beside BenchMARL")
    arguments.add_argument("--steps", type=int, default=60, help="gradient steps of a measurement, with --learning")
    options = arguments.parse_args()
    devices.prepare()
    if options.learning:
        return report(peers_learning.measure(options.rounds, options.steps), options.out)
    report(measure(options.worlds, options.rounds, options.peers), options.out)


if __name__ == "__main__":
    main()
