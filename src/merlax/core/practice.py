"""The rounds of updates that new frames pay for, from replay buffers, on one device or several.

One round is shared by several devices: each takes a part of the minibatch from its own part of the buffers, and their
gradients are averaged.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from merlax.core import devices, replay, td3
from merlax.core.td3 import Learner, Practice, Td3
from merlax.types import Key

# Rows of a minibatch, at least, for every device that takes part: with fewer, sharing costs more than it saves.
ROWS, JOINT_ROWS = 32, 512


class LearningInfo(eqx.Module):
    """What a learner did in one generation."""

    critic_loss: Float[Array, ""]
    actor_loss: Float[Array, ""]
    updates: Int[Array, ""]


def num_shards(configs: Sequence[Td3], num_agents: int) -> int:
    """How many devices share a gradient step: as many as get an equal part that is worth its while to all learners."""
    rows = lambda c: c.batch * (num_agents if c.order == "joint" else 1)  # noqa: E731
    most = min(devices.count(), *(rows(c) // (JOINT_ROWS if c.sees_all else ROWS) for c in configs))
    fits = lambda n: all(c.batch % n == c.buffer % n == 0 for c in configs)  # noqa: E731
    return max((n for n in range(1, most + 1) if fits(n)), default=1)


def learn(
    key: Key,
    learner: Learner,
    buffers: replay.Buffer,
    frames: Int[Array, ""],
    config: Td3,
    bounds: tuple[float, float] = (1.0, 1.0),
) -> tuple[Learner, LearningInfo]:
    """Every round of updates that `frames` new joint steps pay for: `owe`, `work_off`, `report`.

    `bounds` are the largest sizes of the team's and of an agent's reward, for those who mix them.
    """
    learner = work_off(key, owe(learner, buffers, frames, config), buffers, config, bounds)
    return learner, report(learner)


def owe(
    learner: Learner,
    buffers: replay.Buffer,
    frames: Int[Array, ""],
    config: Td3,
    share: Float[Array, ""] | float = 1.0,
) -> Learner:
    """Note the rounds of updates that `frames` new joint steps pay for, or a share of them: none before enough is
    stored. Parts of a round add up from generation to generation."""
    enough = config.burn_in * config.batch // buffers.size.shape[0]
    paid = learner.practice.rest + frames.astype(jnp.float32) * config.updates_per_frame * share
    paid = jnp.where(buffers.size.min() >= enough, paid, 0.0)
    rounds = jnp.floor(paid)
    return eqx.tree_at(lambda each: each.practice, learner, Practice.of(rounds.astype(jnp.int32), paid - rounds))


def work_off(
    key: Key,
    learner: Learner,
    buffers: replay.Buffer,
    config: Td3,
    bounds: tuple[float, float] = (1.0, 1.0),
    most: Int[Array, ""] | None = None,
) -> Learner:
    """The rounds that are due, or at most so many of them, on as many devices as there are buffers.

    With the same key, several pieces make what one would.
    """
    shards = buffers.size.shape[0]
    left = learner.practice.due - learner.practice.done
    rounds = left if most is None else jnp.minimum(left, most)

    def on_each_device(own: replay.Buffer, key: Key, learner: Learner, rounds: Int[Array, ""]) -> Learner:
        buffer = jax.tree.map(lambda leaf: leaf[0], own)
        return _rounds(devices.own_key(key), learner, buffer, rounds, config, bounds, shards)

    return devices.together(shards, on_each_device)(buffers, key, learner, rounds)


def report(learner: Learner) -> LearningInfo:
    """What the learner did in the generation that ends."""
    done = learner.practice.done
    critic_loss, actor_loss = (total / jnp.maximum(done, 1).astype(jnp.float32) for total in learner.practice.losses)
    return LearningInfo(critic_loss, actor_loss, done)


def _rounds(
    key: Key,
    learner: Learner,
    buffer: replay.Buffer,
    rounds: Int[Array, ""],
    config: Td3,
    bounds: tuple[float, float],
    shards: int,
) -> Learner:
    """One device's part in the next rounds."""

    def one_round(i: Array, learner: Learner) -> Learner:
        practice = learner.practice
        key_sample, key_update = jax.random.split(jax.random.fold_in(key, i))
        sample = replay.sample_joint if config.sees_all else replay.sample
        batch = sample(key_sample, buffer, config.batch // shards)
        learner, losses = td3.update(key_update, learner, batch, config, bounds, devices.average)
        totals = jax.tree.map(jnp.add, practice.losses, losses)
        done = dataclasses.replace(practice, done=practice.done + 1, losses=totals)
        return eqx.tree_at(lambda each: each.practice, learner, done)

    done = learner.practice.done
    return jax.lax.fori_loop(done, done + rounds, one_round, learner)
