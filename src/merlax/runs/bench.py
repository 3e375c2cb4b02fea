"""What this machine does per second, measured in one run so that the numbers compare.

Every rate is the best of several: what the machine does when nothing else disturbs it. The update's fraction of
the peak is the median over pairs measured one after the other.
"""

from __future__ import annotations

import dataclasses
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from merlax import envs
from merlax.algorithms import presets
from merlax.algorithms.base import Seat
from merlax.algorithms.game import Game, GameState
from merlax.algorithms.merl import Merl
from merlax.algorithms.opponents import FixedOpponent
from merlax.core import devices, practice, rollout
from merlax.core.players import PolicyPlayer, ScriptedPlayer
from merlax.core.rollout import Field
from merlax.core.td3 import Td3
from merlax.envs import base
from merlax.envs.base import Env, Side
from merlax.runs import process
from merlax.runs.reader import OPPONENT

REPEATS = 15
ROUNDS = 40  # updates per measurement
MATMUL = 2048  # side of the large matmul
_compiled = partial(jax.jit, compiler_options=devices.QUICK_COMPILE)  # as training compiles


def measure(world: str, preset: str = "fast") -> dict[str, float]:
    """All measures of one world."""
    devices.prepare()
    game = _game(world, preset)
    cold, warm, memory = _first_generation(world, preset)
    contest = {"random_frames_per_s": random_frames_per_s(world)} if len(game.env.sides) > 1 else {}
    return contest | {
        "rollout_frames_per_s": _rollouts(game, stored=True),
        "rollout_fitness_only_frames_per_s": _rollouts(game, stored=False),
        **_update(game),
        "train_frames_per_s": _training(game),
        "ea_frames_per_s": _evolution(world),
        "compile_s": cold,
        "compile_warm_s": warm,
        "peak_memory_mb": memory,
    }


def _game(world: str, preset: str, **changes: Any) -> Game:
    """MERL with changes to its learner; in a contest against an opponent that does not learn."""
    env, algorithm = envs.make(world), presets.preset(preset, world)
    assert isinstance(algorithm, Merl)
    learner = dataclasses.replace(algorithm.learners[0], **changes)
    return Game(env, dataclasses.replace(algorithm, learners=(learner,)), _opponent(env))


def _opponent(env: Env) -> FixedOpponent | None:
    return FixedOpponent(ScriptedPlayer(OPPONENT)) if len(env.sides) > 1 else None


def update_flops(side: Side, actor: Sequence[int], config: Td3) -> float:
    """Floating-point operations that one round of updates cannot do without: its matmuls."""
    obs, act, critic = side.obs_size, side.act_size, config.critic_hidden
    trunk = sum(i * o for i, o in zip((obs, *actor), actor, strict=False)) + actor[-1] * act
    first = (obs + act) * critic[0]
    value = first + sum(i * o for i, o in zip(critic, (*critic[1:], 1), strict=True))
    # Forward, gradient of the weights, and gradient of the inputs but for the first layer's.
    critics = config.critics * (value + 3 * value - first)  # the target's and its own
    policy = 3 * trunk - obs * actor[0] + value + value - obs * critic[0]
    rows = config.batch * side.num_agents
    return 2.0 * rows * (trunk + critics + policy / config.delay)


def _merl(game: Game) -> Merl:
    assert isinstance(game.algorithm, Merl)
    return game.algorithm


def _rollouts(game: Game, stored: bool) -> float:
    """Joint steps per second of the population's rollouts, with or without their transitions."""
    merl, state = _merl(game), game.init(jax.random.key(0))
    episodes = merl.fitness.episodes + merl.noisy_episodes
    keys = jax.random.split(jax.random.key(1), (merl.population, episodes))
    noise = jnp.zeros(episodes) if stored else None

    @_compiled
    def play(keys: Any, field: Field, population: Any) -> Any:
        return rollout.play_population(keys, field, population, noise, keep=stored)

    args = devices.spread(None, (keys, game.training_field(state), state.team.population))
    return int(play(*args).episode.frames.sum()) / _seconds(play, *args)


def random_frames_per_s(world: str, worlds: int = 4096) -> float:
    """Joint steps per second of a world with an opponent, both sides acting at random."""
    return worlds * envs.make(world).horizon / _seconds(random_episodes(world, worlds))


def random_episodes(world: str, worlds: int) -> Callable[[], Any]:
    """Whole episodes, resets included; the observations and rewards of both sides are made in every step."""
    env = envs.make(world)

    def episode(key: Any) -> Any:
        key_reset, key_act, key_step = jax.random.split(key, 3)
        obs, state = base.reset(env, key_reset)
        sizes = [(side.num_agents, side.act_size) for side in env.sides]
        ends = list(accumulate(agents * numbers for agents, numbers in sizes))
        drawn = jax.random.uniform(key_act, (env.horizon, ends[-1]), minval=-1.0)
        parts = zip(jnp.split(drawn, ends[:-1], axis=1), sizes, strict=True)
        actions = tuple(part.reshape(env.horizon, *size) for part, size in parts)

        def step(carry: Any, action: Any) -> Any:
            state, paid, _ = carry
            after = base.step(env, key_step, state, action)
            paid += sum(reward.team + reward.agent.sum() for reward in after.reward)
            return (after.state, paid, after.obs), None

        return jax.lax.scan(step, (state, jnp.zeros(()), obs), actions)[0]

    play = jax.jit(devices.shard_over(devices.count(), jax.vmap(episode)))
    keys = devices.spread(None, jax.random.split(jax.random.key(0), worlds))
    return lambda: play(keys)


def _update(game: Game) -> dict[str, float]:
    """The learner's rates, beside that of one large float32 matmul. The two take turns, so that noise hits both."""
    merl, seat, state = _merl(game), Seat(game.env), _filled(game).team
    config, agents = merl.learners[0], seat.side.num_agents
    sequential = config.order == "sequential"
    rounds = max(1, ROUNDS // agents) if sequential else ROUNDS
    frames = jnp.ceil(rounds / config.updates_per_frame).astype(jnp.int32)
    learn = _compiled(lambda key, learner, buffer, frames: practice.learn(key, learner, buffer, frames, config))
    key, frames = devices.spread(merl.num_shards(seat), (jax.random.key(0), frames))
    args = key, state.learners[0], state.buffer, frames
    per_round = update_flops(seat.side, merl.actor_hidden, config)
    flops = per_round * int(learn(*args)[1].updates)
    matmul, matrix = jax.jit(lambda x: x @ x), jnp.ones((MATMUL, MATMUL))
    matmul(matrix)
    peaks, rates = [], []
    for _ in range(REPEATS):
        peaks.append(2e-9 * MATMUL**3 / _time(matmul, matrix))
        rates.append(1e-9 * flops / _time(learn, *args))
    per_second = 1e9 * max(rates) / per_round
    return {
        "update_samples_per_s": per_second * config.batch * agents,
        "gradient_steps_per_s": per_second * (agents if sequential else 1),
        "update_gflops": max(rates),
        "matmul_peak_gflops": max(peaks),
        "update_fraction_of_peak": statistics.median(r / p for r, p in zip(rates, peaks, strict=True)),
    }


def _training(game: Game) -> float:
    """Frames per second of whole generations, once the buffers are full enough to learn."""
    if _merl(game).learners[0].order == "sequential":
        return _training_estimate(game)
    state, times, frames = _filled(game), [], 0
    for generation in range(6):
        start = time.perf_counter()
        state, done = game.step(jax.random.key(generation), state)
        frames = int(done.frames)
        times.append(time.perf_counter() - start)
    return frames / min(times[1:])


def _evolution(world: str) -> float:
    """Frames per second of EA alone with a population of 100, the champion's test of every generation included."""
    env, algorithm = envs.make(world), presets.preset("fast", world, "ea")
    game = Game(env, dataclasses.replace(algorithm, population=100), _opponent(env))  # type: ignore[call-arg]
    state, rates = game.init(jax.random.key(0)), []
    for generation in range(REPEATS):
        start = time.perf_counter()
        state, done = game.step(jax.random.key(generation), state)
        _test(game, state)
        rates.append(int(done.frames) / (time.perf_counter() - start))
    return max(rates)


def _test(game: Game, state: GameState) -> None:
    """The champion's test, as in every generation of a run."""
    played = rollout.play_test(jax.random.key(0), game.field(state), PolicyPlayer(game.champion(state)), 10)
    played.fitness.block_until_ready()


def _training_estimate(game: Game) -> float:
    """The same from its two parts: a generation of the `paper` preset takes minutes."""
    frames = game.frames_per_generation()
    updates = frames * _merl(game).learners[0].updates_per_frame * game.env.sides[0].num_agents
    seconds = frames / _rollouts(game, stored=True) + updates / _update(game)["gradient_steps_per_s"]
    return frames / seconds


def _filled(game: Game) -> GameState:
    """A state whose buffers are full, of numbers like those of real transitions."""
    state = game.init(jax.random.key(0))
    buffer = state.team.buffer
    place, shape = buffer.rows.sharding, buffer.rows.shape
    rows = jax.jit(lambda key: jax.random.uniform(key, shape), out_shardings=place)(jax.random.key(1))
    size = devices.divide(shape[0], jnp.full_like(buffer.size, shape[1]))
    return eqx.tree_at(lambda s: (s.team.buffer.rows, s.team.buffer.size), state, (rows, size))


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
    devices.prepare()
    # The same programs, without a single update: a generation of the `paper` preset learns for minutes.
    game, state, times = _game(world, preset, updates_per_frame=0.0), None, []
    for generation in range(2):
        start = time.perf_counter()
        if state is None:
            state = game.init(jax.random.key(0))
        state, _ = game.step(jax.random.key(generation), state)
        _test(game, state)
        times.append(time.perf_counter() - start)
    state = None  # or there would be two buffers
    state = _filled(game)
    memory = process.peak_memory_mb() or 0
    print(json.dumps({"compile_s": times[0] - times[1], "peak_memory_mb": memory}))


if __name__ == "__main__":
    _report_first_generation(*sys.argv[1:])
