"""Gradient steps per second of MADDPG on both sides of predator-prey: merlax beside BenchMARL (`peers.py --learning`).

Batches of 128, hidden layers [256, 256], tanh, separate critics; one step updates all agents of both sides once. Only
learning is timed, on buffers that hold real transitions. The two take turns.
"""

from __future__ import annotations

import dataclasses
import importlib
import importlib.metadata
import importlib.util
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from merlax import envs
from merlax.algorithms import Game, presets
from merlax.algorithms.gradient import Gradient, OffPolicy
from merlax.core import td3
from merlax.types import Transition

BATCH, HIDDEN = 128, (256, 256)
FRAMES = 250  # of a generation of merlax: 10 episodes
INSTALL = "pip install benchmarl vmas"
Learn = Callable[[], float]  # gradient steps per second, of one turn


def maddpg(steps: int) -> Gradient:
    """MADDPG with so many steps in a generation."""
    method: Any = presets.preset("fast", "predator-prey", "maddpg")
    learner = dataclasses.replace(
        method.learner, critic="joint", batch=BATCH, critic_hidden=HIDDEN, buffer=20_000, burn_in=1,
        updates_per_frame=(steps + 0.5) / FRAMES,
    )  # fmt: skip
    return Gradient(learner=learner, actor_hidden=HIDDEN, explore_episodes=FRAMES // 25, noise=method.noise)


def game(steps: int) -> Game:
    """MADDPG on both sides."""
    team = maddpg(steps)
    return Game(envs.make("predator-prey"), team, OffPolicy(team.learner, HIDDEN))


def merlax(steps: int) -> Learn:
    """A generation, of which the learning is timed."""
    played = game(steps)
    state, generation = played.init(jax.random.key(0)), 0

    def learn() -> float:
        nonlocal state, generation
        generation += 1
        key = jax.random.fold_in(jax.random.key(1), generation)
        state = jax.block_until_ready(played.begin(key, state))
        _, due = played.rounds(state)
        start = time.perf_counter()
        state = jax.block_until_ready(played.practise(key, state))
        took = time.perf_counter() - start
        state, _ = played.conclude(key, state)
        return due / took

    for _ in range(3):
        learn()  # compiles, and fills the buffers
    return learn


def work() -> float:
    """GFLOP of a step of merlax, as XLA counts them: with a machine's peak rate, the most that any code could reach."""
    total, learner = 0.0, maddpg(1).learner
    for side in envs.make("predator-prey").sides:
        shape = BATCH, side.num_agents
        rows = lambda *size: jnp.zeros((*shape, *size))  # noqa: B023, E731
        batch = Transition(
            rows(side.obs_size), rows(side.act_size), rows(), rows(), rows(side.obs_size), jnp.zeros(shape, bool)
        )
        key = jax.random.key(0)
        state = td3.init(key, side, HIDDEN, learner)
        step = jax.jit(td3.update, static_argnames="config").lower(key, state, batch, config=learner)
        counted: Any = step.compile().cost_analysis()
        total += counted["flops"]
    return total / 1e9


def benchmarl(steps: int) -> Learn:
    """A short experiment, of whose second iteration the learning is timed."""
    torch, made = importlib.import_module("torch"), importlib.import_module("benchmarl.experiment")
    task = importlib.import_module("benchmarl.environments").VmasTask.SIMPLE_TAG
    mlp = importlib.import_module("benchmarl.models.mlp").MlpConfig
    torch.set_num_threads(len(os.sched_getaffinity(0)))

    class Clock(made.Callback):
        """Notes when learning begins and when it ends, in every iteration."""

        def __init__(self) -> None:
            super().__init__()
            self.spans: list[list[float]] = []

        def __reduce__(self) -> tuple[type, tuple[()]]:
            return list, ()  # the experiment pickles its callbacks, and nobody reads that

        def on_batch_collected(self, batch: Any) -> None:
            self.spans.append([time.perf_counter()])

        def on_train_end(self, training_td: Any, group: str) -> None:
            self.spans[-1].append(time.perf_counter())

    config: Any = made.ExperimentConfig.get_from_yaml()
    for name, value in {
        "sampling_device": "cpu", "train_device": "cpu", "buffer_device": "cpu", "max_n_iters": 2,
        "max_n_frames": None, "off_policy_n_envs_per_worker": 10, "off_policy_collected_frames_per_batch": 1000,
        "off_policy_n_optimizer_steps": steps, "off_policy_train_batch_size": BATCH, "off_policy_memory_size": 20_000,
        "evaluation": False, "render": False, "loggers": [], "create_json": False, "checkpoint_interval": 0,
    }.items():  # fmt: skip
        setattr(config, name, value)
    algorithm: Any = importlib.import_module("benchmarl.algorithms").MaddpgConfig.get_from_yaml()
    algorithm.share_param_critic = False
    layers = mlp(num_cells=[*HIDDEN], activation_class=torch.nn.Tanh, layer_class=torch.nn.Linear)

    def learn() -> float:
        clock = Clock()
        with tempfile.TemporaryDirectory() as config.save_folder:
            made.Experiment(
                task=task.get_from_yaml(), algorithm_config=algorithm, model_config=layers,
                critic_model_config=layers, seed=0, config=config, callbacks=[clock],
            ).run()  # fmt: skip
        start, *_, end = clock.spans[-1]
        return steps / (end - start)

    return learn


def missing() -> str:
    """Why BenchMARL cannot be measured, or nothing."""
    lacking = [name for name in ("benchmarl", "vmas") if importlib.util.find_spec(name) is None]
    return f"{' and '.join(lacking)} not installed; install with: {INSTALL}" if lacking else ""


def measure(turns: int, steps: int) -> dict[str, Any]:
    """Rates of both, in turns, and how many times faster merlax is: the best of each, and the median of all turns."""
    contestants: dict[str, Learn] = {"merlax": merlax(steps)}
    reason = missing()
    if not reason:
        contestants["benchmarl"] = benchmarl(steps)
    rates: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(turns):
        for name, learn in contestants.items():
            rates[name].append(learn())
    found: dict[str, Any] = {
        "gradient_steps_per_s": {name: round(max(own), 1) for name, own in rates.items()},
        "median": {name: round(statistics.median(own), 1) for name, own in rates.items()},
        "gflop_per_step": round(work(), 3),
        "batch": BATCH,
        "hidden": HIDDEN,
        "turns": turns,
        "steps": steps,
        "cores": len(os.sched_getaffinity(0)),
        "load_at_end": [round(load, 1) for load in os.getloadavg()],
    }
    if reason:
        return found | {"benchmarl": reason}
    pairs = [ours / theirs for ours, theirs in zip(rates["merlax"], rates["benchmarl"], strict=True)]
    versions = {name: importlib.metadata.version(name) for name in ("jax", "benchmarl", "torchrl", "torch", "vmas")}
    return found | {"merlax_over_benchmarl": round(statistics.median(pairs), 2), "versions": versions}
