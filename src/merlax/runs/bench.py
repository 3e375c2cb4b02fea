"""What this machine does per second, measured in one run so that the numbers compare.

Every rate is the best of several: what the machine does when nothing else disturbs it. The update's fraction of
the peak is the median over pairs measured one after the other.
"""

from __future__ import annotations

import dataclasses
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from merlax.core import devices, rollout, td3
from merlax import envs
from merlax.algorithms import presets
from merlax.algorithms.opponents import Scripted
from merlax.algorithms.ea import Ea
from merlax.algorithms.merl import Merl, MerlConfig
from merlax.envs.base import Contest, Env

REPEATS = 15
ROUNDS = 40  # updates per measurement
MATMUL = 2048  # side of the large matmul
_compiled = partial(jax.jit, compiler_options=devices.QUICK_COMPILE)  # as training compiles


def measure(world: str, preset: str = "fast") -> dict[str, float]:
    """All measures of one world (DESIGN §4)."""
    algorithm = Merl(envs.make(world), presets.preset(preset, world))
    cold, warm, memory = _first_generation(world, preset)
    contest = {"random_frames_per_s": random_frames_per_s(world)} if isinstance(algorithm.env, Contest) else {}
    return contest | {
        "rollout_frames_per_s": _rollouts(algorithm, stored=True),
        "rollout_fitness_only_frames_per_s": _rollouts(algorithm, stored=False),
        **_update(algorithm),
        "train_frames_per_s": _training(algorithm),
        "ea_frames_per_s": _evolution(world),
        "compile_s": cold,
        "compile_warm_s": warm,
        "peak_memory_mb": memory,
    }


def update_flops(env: Env, config: MerlConfig) -> float:
    """Floating-point operations that one round of updates cannot do without: its matmuls."""
    obs, act, actor, critic = env.obs_size, env.act_size, config.actor_hidden, config.critic_hidden
    trunk = sum(i * o for i, o in zip((obs, *actor), actor, strict=False)) + actor[-1] * act
    first = (obs + act) * critic[0]
    value = first + sum(i * o for i, o in zip(critic, (*critic[1:], 1), strict=True))
    # Forward, gradient of the weights, and gradient of the inputs but for the first layer's.
    critics = config.td3.critics * (value + 3 * value - first)  # the target's and its own
    policy = 3 * trunk - obs * actor[0] + value + value - obs * critic[0]
    rows = config.td3.batch * env.num_agents
    return 2.0 * rows * (trunk + critics + policy / config.td3.delay)


def _rollouts(algorithm: Merl, stored: bool) -> float:
    """Joint steps per second of the population's rollouts, with or without their transitions."""
    env, c = algorithm.env, algorithm.config
    population = algorithm.init(jax.random.key(0)).population
    episodes = c.evolution.fitness_episodes + c.noisy_episodes
    keys = jax.random.split(jax.random.key(1), (c.evolution.population, episodes))
    noise = jnp.zeros(episodes) if stored else None

    @_compiled
    def play(keys: Any, population: Any) -> Any:
        return rollout.play_population(keys, env, population, noise, _scripted(env), keep=stored)

    args = devices.spread(devices.mesh(), (keys, population))
    return int(play(*args)[0].frames.sum()) / _seconds(play, *args)


def random_frames_per_s(world: str, worlds: int = 4096) -> float:
    """Joint steps per second of a world with an opponent, both sides acting at random."""
    return worlds * envs.make(world).horizon / _seconds(random_episodes(world, worlds))


def random_episodes(world: str, worlds: int) -> Callable[[], Any]:
    """Whole episodes, resets included; the observations and rewards of both sides are made in every step."""
    env = envs.make(world)

    def episode(key: Any) -> Any:
        key_reset, key_act, key_step = jax.random.split(key, 3)
        obs, state = env.reset(key_reset)
        shape = (env.horizon, env.num_agents + env.opponent.num_agents, env.act_size)
        actions = jax.random.uniform(key_act, shape, minval=-1.0, maxval=1.0)

        def step(carry: Any, action: Any) -> Any:
            state, paid, *_ = carry
            team, opponent = action[: env.num_agents], action[env.num_agents :]
            obs, state, reward, *_ = env.step(key_step, state, team, opponent)
            paid += reward.team + reward.agent.sum() + env.opponent_reward(state).sum()
            return (state, paid, obs, env.opponent_obs(state)), None

        return jax.lax.scan(step, (state, jnp.zeros(()), obs, env.opponent_obs(state)), actions)[0]

    play = jax.jit(devices.shard_over(devices.mesh(), jax.vmap(episode)))
    keys = devices.spread(devices.mesh(), jax.random.split(jax.random.key(0), worlds))
    return lambda: play(keys)


def _update(algorithm: Merl) -> dict[str, float]:
    """The learner's rates, beside that of one large float32 matmul. The two take turns, so that noise hits both."""
    env, config = algorithm.env, algorithm.config
    state = _filled(algorithm)
    sequential = config.td3.order == "sequential"
    rounds = max(1, ROUNDS // env.num_agents) if sequential else ROUNDS
    frames = jnp.ceil(rounds / config.td3.updates_per_frame).astype(jnp.int32)
    learn = _compiled(lambda key, learner, buffer, frames: td3.learn(key, learner, buffer, frames, config.td3))
    key, frames = devices.spread(algorithm.mesh, (jax.random.key(0), frames))
    args = key, state.learner, state.buffer, frames
    flops = update_flops(env, config) * int(learn(*args)[1]["updates"])
    matmul, matrix = jax.jit(lambda x: x @ x), jnp.ones((MATMUL, MATMUL))
    matmul(matrix)
    peaks, rates = [], []
    for _ in range(REPEATS):
        peaks.append(2e-9 * MATMUL**3 / _time(matmul, matrix))
        rates.append(1e-9 * flops / _time(learn, *args))
    per_second = 1e9 * max(rates) / update_flops(env, config)
    return {
        "update_samples_per_s": per_second * config.td3.batch * env.num_agents,
        "gradient_steps_per_s": per_second * (env.num_agents if sequential else 1),
        "update_gflops": max(rates),
        "matmul_peak_gflops": max(peaks),
        "update_fraction_of_peak": statistics.median(r / p for r, p in zip(rates, peaks, strict=True)),
    }


def _training(algorithm: Merl) -> float:
    """Frames per second of whole generations, once the buffers are full enough to learn."""
    if algorithm.config.td3.order == "sequential":
        return _training_estimate(algorithm)
    state, times, frames = _filled(algorithm), [], 0
    for generation in range(6):
        start = time.perf_counter()
        state, metrics = algorithm.step(jax.random.key(generation), state, _scripted(algorithm.env))
        frames = int(metrics["frames"])
        times.append(time.perf_counter() - start)
    return frames / min(times[1:])


def _evolution(world: str) -> float:
    """Frames per second of EA alone with a population of 100, the champion's test of every generation included."""
    env, config = envs.make(world), presets.preset("fast", world, "ea")
    algorithm = Ea(env, dataclasses.replace(config, evolution=dataclasses.replace(config.evolution, population=100)))
    state, rates, opponent = algorithm.init(jax.random.key(0)), [], _scripted(env)
    for generation in range(REPEATS):
        start = time.perf_counter()
        state, metrics = algorithm.step(jax.random.key(generation), state, opponent)
        rollout.play_test(jax.random.key(0), env, algorithm.champion(state), 10, opponent).fitness.block_until_ready()
        rates.append(int(metrics["frames"]) / (time.perf_counter() - start))
    return max(rates)


def _scripted(env: Any) -> Scripted | None:
    """The opponent to measure with, in a contest."""
    return Scripted() if isinstance(env, Contest) else None


def _training_estimate(algorithm: Merl) -> float:
    """The same from its two parts: a generation of the `paper` preset takes minutes."""
    frames = algorithm.frames_per_generation
    updates = frames * algorithm.config.td3.updates_per_frame * algorithm.env.num_agents
    seconds = frames / _rollouts(algorithm, stored=True) + updates / _update(algorithm)["gradient_steps_per_s"]
    return frames / seconds


def _filled(algorithm: Merl) -> Any:
    """A state whose buffers are full, of numbers like those of real transitions."""
    state = algorithm.init(jax.random.key(0))
    place, shape = state.buffer.rows.sharding, state.buffer.rows.shape
    rows = jax.jit(lambda key: jax.random.uniform(key, shape), out_shardings=place)(jax.random.key(1))
    size = devices.divide(algorithm.mesh, jnp.full_like(state.buffer.size, shape[1]))
    return eqx.tree_at(lambda s: (s.buffer.rows, s.buffer.size), state, (rows, size))


def _seconds(function: Callable[..., Any], *args: Any) -> float:
    """Best time of a compiled call."""
    jax.block_until_ready(function(*args))
    return min(_time(function, *args) for _ in range(REPEATS))


def _time(function: Callable[..., Any], *args: Any) -> float:
    start = time.perf_counter()
    jax.block_until_ready(function(*args))
    return time.perf_counter() - start


def _first_generation(world: str, preset: str) -> tuple[float, float, float]:
    """Compile time with an empty and with a warm cache, and peak memory, each in a process of its own."""
    results = []
    with tempfile.TemporaryDirectory() as cache:
        for _ in range(2):
            environment = os.environ | {
                "JAX_COMPILATION_CACHE_DIR": cache,
                "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0.2",
            }
            command = [sys.executable, "-m", "merlax.runs.bench", world, preset]
            output = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
            results.append(json.loads(output.splitlines()[-1]))
    return results[0]["compile_s"], results[1]["compile_s"], results[0]["peak_memory_mb"]


def _report_first_generation(world: str, preset: str) -> None:
    """Print how much longer the first generation takes than the next, and the peak memory of full buffers."""
    config = presets.preset(preset, world)
    # The same programs, without a single update: a generation of the `paper` preset learns for minutes.
    idle = dataclasses.replace(config, td3=dataclasses.replace(config.td3, updates_per_frame=0.0))
    algorithm, state, times = Merl(envs.make(world), idle), None, []
    for generation in range(2):
        start = time.perf_counter()
        if state is None:
            state = algorithm.init(jax.random.key(0))
        opponent = _scripted(algorithm.env)
        state, _ = algorithm.step(jax.random.key(generation), state, opponent)
        tested = rollout.play_test(jax.random.key(0), algorithm.env, algorithm.champion(state), 10, opponent)
        tested.fitness.block_until_ready()
        times.append(time.perf_counter() - start)
    state = None  # or there would be two buffers
    state = _filled(algorithm)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"compile_s": times[0] - times[1], "peak_memory_mb": memory}))


if __name__ == "__main__":
    _report_first_generation(*sys.argv[1:])
