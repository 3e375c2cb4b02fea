"""Joint steps per second of predator-prey with random actions: merlax beside the libraries that are installed.

    python benchmarks/peers.py                                 # a table
    python benchmarks/peers.py --json                          # the same as JSON
    python benchmarks/peers.py --out results/particles/peers.json

Peers, each measured if it can be imported: jaxmarl (`MPE_simple_tag_v3`), vmas (`simple_tag`), mpe2 (`simple_tag_v3`).
Everybody plays whole episodes of 25 steps, resets included, and makes the observations and rewards of all agents in
every step. JAX programs use one host device per core. All are measured in turns, several times, and the best of each
counts: what else runs on the machine hits all of them alike.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import json
import os
import platform
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

from merlax import bench, devices

HORIZON, NUM_AGENTS = 25, 4
Play = Callable[[], int]  # plays some episodes, and says how many joint steps that were


def on_all_cores(episode: Callable[[Any], Any], worlds: int) -> Play:
    """Episodes of many worlds as one compiled program."""
    play = jax.jit(devices.shard_over(devices.mesh(), jax.vmap(episode)))
    keys = devices.spread(devices.mesh(), jax.random.split(jax.random.key(0), worlds))

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
    import jaxmarl

    env = jaxmarl.make("MPE_simple_tag_v3", action_type="Continuous")
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
    import torch
    import vmas

    torch.set_num_threads(len(os.sched_getaffinity(0)))
    env = vmas.make_env(scenario="simple_tag", num_envs=worlds, device="cpu", continuous_actions=True)

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

    def run(episodes: int = 10) -> int:
        for _ in range(episodes):
            env.reset()
            while env.agents:
                env.step({agent: env.action_space(agent).sample() for agent in env.agents})
        return episodes * HORIZON

    return run


def contestants(batches: list[int]) -> Iterator[tuple[str, str, int, Play]]:
    """Library, what is measured of it, worlds in a batch, and how to play."""
    installed = {name for name in ("jaxmarl", "vmas", "mpe2") if importlib.util.find_spec(name)}
    for worlds in batches:
        yield "merlax", "step", worlds, merlax(worlds)
        if "jaxmarl" in installed:
            yield "jaxmarl", "step_env", worlds, jaxmarl(worlds, auto_reset=False)
            yield "jaxmarl", "step", worlds, jaxmarl(worlds, auto_reset=True)
        if "vmas" in installed:
            yield "vmas", "step", worlds, vmas(worlds)
    if "mpe2" in installed:
        yield "mpe2", "step, 1 core", 1, mpe2()


def measure(batches: list[int], rounds: int) -> dict[str, Any]:
    """Rates of all, and how many times faster merlax is than the best of each peer."""
    all_of_them = list(contestants(batches))
    best = [0.0] * len(all_of_them)
    for number in range(rounds + 1):
        for index, (*_, play) in enumerate(all_of_them):
            start = time.perf_counter()
            steps = play()
            if number:  # the first round compiles
                best[index] = max(best[index], steps / (time.perf_counter() - start))
    rows = [
        {"library": library, "call": call, "worlds": worlds, "joint_steps_per_s": round(rate)}
        for (library, call, worlds, _), rate in zip(all_of_them, best, strict=True)
    ]
    top = {
        name: max(r["joint_steps_per_s"] for r in rows if r["library"] == name) for name in {r["library"] for r in rows}
    }
    return {
        "rows": rows,
        "merlax_over": {name: round(top["merlax"] / rate, 2) for name, rate in sorted(top.items()) if name != "merlax"},
        "cores": len(os.sched_getaffinity(0)),
        "devices": jax.device_count(),
        "machine": platform.processor() or platform.machine(),
        "versions": {name: importlib.metadata.version(name) for name in ("jax", *sorted(set(top) - {"merlax"}))},
        "rounds": rounds,
    }


def table(result: dict[str, Any]) -> str:
    """Plain text; the ratio is merlax's best over this row."""
    top = max(row["joint_steps_per_s"] for row in result["rows"] if row["library"] == "merlax")
    lines = [f"{'library':<9} {'call':<13} {'worlds':>7} {'joint steps/s':>14} {'merlax is':>10}"]
    for row in result["rows"]:
        ratio = f"{top / row['joint_steps_per_s']:.1f} ×"
        name, call, worlds, rate = row["library"], row["call"], row["worlds"], row["joint_steps_per_s"]
        lines.append(f"{name:<9} {call:<13} {worlds:>7} {rate:>14,} {ratio:>10}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worlds", type=int, nargs="+", default=[4096, 10_000], help="worlds in a batch")
    parser.add_argument("--rounds", type=int, default=15, help="measurements of each, of which the best counts")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--out", type=Path, help="write the JSON to this file, too")
    args = parser.parse_args()
    devices.use_all_cores()
    result = measure(args.worlds, args.rounds)
    if args.out:
        args.out.parent.mkdir(parents=True, exist_ok=True)
        args.out.write_text(json.dumps(result, indent=2) + "\n")
    print(json.dumps(result, indent=2) if args.json else table(result))


if __name__ == "__main__":
    main()
