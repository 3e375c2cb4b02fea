"""The rounds of updates that new frames pay for, from replay buffers, on one device or several.

One round is shared by several devices: each takes a part of the minibatch from its own part of the buffers, and their
gradients are averaged. Or, where there is a learner for each of them, each takes a learner.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from merlax.core import devices, replay, td3
from merlax.core.td3 import Learner, Losses, Practice, Td3
from merlax.types import Key, Keys

# Rows of a minibatch, at least, for every device that takes part: with fewer, sharing costs more than it saves.
ROWS, JOINT_ROWS = 32, 512
# What decides how long a round takes, and how many there are.
_COST = (
    "batch", "updates_per_frame", "burn_in", "delay", "order",
    "critics", "critic", "critic_hidden", "critic_normalised",
)  # fmt: skip
SWAPPED = 16  # rounds whose minibatches are exchanged at once: these still fit a cache


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


def one_each(configs: Sequence[Td3], shards: int) -> bool:
    """Whether there is a learner for each device, and their rounds are as many and take as long."""
    return len(configs) == shards > 1 and len({tuple(getattr(c, name) for name in _COST) for c in configs}) == 1


def work_off_apart(
    keys: Keys,
    learners: Sequence[Learner],
    buffers: replay.Buffer,
    configs: Sequence[Td3],
    bounds: tuple[float, float] = (1.0, 1.0),
    most: Int[Array, ""] | None = None,
) -> tuple[Learner, ...]:
    """`work_off` for learners with as many rounds, each on a device of its own, which then average nothing.

    A minibatch has an equal part from every device's buffers all the same; those of several rounds are exchanged at
    once.
    """
    left = learners[0].practice.due - learners[0].practice.done
    rounds = left if most is None else jnp.minimum(left, most)

    def on_each_device(own: replay.Buffer, keys: Keys, learners: Sequence[Learner], rounds: Array) -> Learner:
        buffer, place = jax.tree.map(lambda leaf: leaf[0], own), devices.own_place()
        keys_draw, keys_update = jax.vmap(jax.random.split, out_axes=1)(keys)
        learner, key_update = jax.tree.map(lambda *each: jnp.stack(each)[place], *learners), keys_update[place]
        begun = learner.practice.done
        practise = partial(_rounds_alone, impl=jax.random.key_impl(keys), buffer=buffer, bounds=bounds)
        by_config = [partial(practise, config=config) for config in configs]

        def some_rounds(piece: Array, learner: Learner) -> Learner:
            numbers = begun + piece * SWAPPED + jnp.arange(SWAPPED)
            rows = _minibatches(keys_draw, buffer, numbers, configs[0])
            # As plain numbers: inline, a choice between learners would count keys as reused.
            plain = jax.random.key_data(jax.vmap(lambda i: jax.random.fold_in(key_update, i))(numbers))
            left = jnp.minimum(SWAPPED, rounds - piece * SWAPPED)
            return jax.lax.switch(place, by_config, learner, left, plain, rows)

        pieces = (rounds + SWAPPED - 1) // SWAPPED
        return devices.gather(jax.lax.fori_loop(0, pieces, some_rounds, learner))

    all_of_them = devices.together(len(configs), on_each_device)(buffers, keys, tuple(learners), rounds)
    return tuple(jax.tree.map(lambda leaf, i=i: leaf[i], all_of_them) for i in range(len(configs)))


def _minibatches(
    keys: Keys, buffer: replay.Buffer, numbers: Int[Array, " round"], config: Td3
) -> Float[Array, "round batch agent row"]:
    """What this device's learner learns from in these rounds: of each minibatch, every device draws an equal part."""
    draw = replay.draw_joint if config.sees_all else replay.draw
    part = config.batch // keys.shape[0]
    of_round = lambda key, i: draw(devices.own_key(jax.random.fold_in(key, i)), buffer, part)  # noqa: E731
    of_learner = lambda key: jax.vmap(lambda i: of_round(key, i))(numbers)  # noqa: E731
    return devices.swap(jax.vmap(of_learner)(keys), axis=2)


def _rounds_alone(
    learner: Learner,
    rounds: Int[Array, ""],
    plain_keys: Array,
    rows: Float[Array, "round batch agent row"],
    *,
    impl: Any,
    buffer: replay.Buffer,
    config: Td3,
    bounds: tuple[float, float],
) -> Learner:
    """The next rounds of one device's own learner, from these minibatches."""

    def one_round(i: Array, learner: Learner) -> Learner:
        key = jax.random.wrap_key_data(plain_keys[i], impl=impl)
        return _booked(learner, *td3.update(key, learner, replay.transitions(rows[i], buffer), config, bounds))

    return jax.lax.fori_loop(0, rounds, one_round, learner)


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
        key_sample, key_update = jax.random.split(jax.random.fold_in(key, i))
        sample = replay.sample_joint if config.sees_all else replay.sample
        batch = sample(key_sample, buffer, config.batch // shards)
        return _booked(learner, *td3.update(key_update, learner, batch, config, bounds, devices.average))

    done = learner.practice.done
    return jax.lax.fori_loop(done, done + rounds, one_round, learner)


def _booked(before: Learner, learner: Learner, losses: Losses) -> Learner:
    """The learner after a round, which is noted."""
    totals = jax.tree.map(jnp.add, before.practice.losses, losses)
    done = dataclasses.replace(before.practice, done=before.practice.done + 1, losses=totals)
    return eqx.tree_at(lambda each: each.practice, learner, done)
