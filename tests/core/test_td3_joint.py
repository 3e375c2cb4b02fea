"""Gradient steps that several devices share, and critics of joint actions."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from merlax.algorithms import Gradient, presets
from merlax.core import devices, replay, td3
from merlax.core.td3 import Td3
from merlax.types import UserError
from tests.support.td3 import ACT, AGENTS, JOINT, SEQUENTIAL, SIDE, new_learner, round_of, transitions

pytestmark = pytest.mark.slow  # joint critics are compiled

CENTRAL = dataclasses.replace(JOINT, critic="joint")
SHARED = dataclasses.replace(JOINT, critic="shared")


def assert_close(a, b):
    jax.tree.map(lambda x, y: np.testing.assert_allclose(x, y, atol=2e-5), a, b)


@pytest.mark.parametrize("config", [JOINT, SEQUENTIAL, CENTRAL, SHARED])
def test_two_halves_of_a_minibatch_give_the_step_of_the_whole(config):
    learner, batch = new_learner(1, config), transitions()
    halves = jax.tree.map(lambda leaf: leaf.reshape(2, -1, *leaf.shape[1:]), batch)
    one_half = lambda half: td3.update(jax.random.key(0), learner, half, config, average=devices.average)  # noqa: E731
    shared, losses = jax.jit(jax.vmap(one_half, axis_name=devices.AXIS))(halves)
    expected, expected_losses = round_of(learner, batch, config)
    for device in range(2):
        assert_close(jax.tree.map(lambda leaf, i=device: leaf[i], shared), expected)
        assert_close(jax.tree.map(lambda leaf, i=device: leaf[i], losses), expected_losses)


def test_two_devices_with_buffers_of_their_own_take_one_common_step():
    """All that a device has stored is one transition, many times, so its part of the minibatch is known."""
    config = dataclasses.replace(JOINT, updates_per_frame=1.0)
    learner, all_kinds = new_learner(1, config), transitions()
    halves = [jax.tree.map(lambda leaf, i=i: jnp.repeat(leaf[i : i + 1], 8, axis=0), all_kinds) for i in range(2)]
    batch = jax.tree.map(lambda *parts: jnp.concatenate(parts), *halves)
    buffers = replay.store(replay.create(64, SIDE, shards=2), batch, jnp.ones(16, bool))
    learn = jax.jit(lambda buffers, frames: td3.learn(jax.random.key(0), learner, buffers, frames, config))
    shared, info = learn(devices.divide(2, buffers), jnp.array(1, jnp.int32))
    assert int(info.updates) == 1
    alone = round_of(learner, batch, config)[0]
    assert_close(shared, eqx.tree_at(lambda each: each.practice, alone, shared.practice))


@pytest.mark.parametrize("kind", ["joint", "shared"])
@pytest.mark.parametrize("agent", range(AGENTS))
def test_an_agents_critic_moves_the_trunk_and_its_own_head_alone(agent, kind):
    config = dataclasses.replace(CENTRAL, critic=kind, critic_rate=1e-12)
    learner = new_learner(1, config)
    speaks = jnp.arange(AGENTS) == agent
    last = lambda each: each.critics[0].others[-1].weight  # noqa: E731
    learner = eqx.tree_at(last, learner, jnp.where(speaks[:, None, None], last(learner), 0.0))
    gradient = round_of(learner, transitions(), config)[0].actor_moments[0].mu
    heads = np.abs(gradient.heads.weight).reshape(8, AGENTS, ACT).max(axis=(0, 2))
    assert (heads > 1e-4).tolist() == speaks.tolist()
    assert heads[1 - agent] < 1e-9
    assert np.abs(gradient.trunk[0].weight).max() > 1e-4


def test_a_joint_critic_learns_from_what_all_agents_did_at_the_same_instant():
    learner, batch = new_learner(1, CENTRAL), transitions()
    other = dataclasses.replace(batch, action=batch.action.at[:, 1].set(-batch.action[:, 1]))
    values = [learner.critics[0](each.obs, each.action)[:, 0] for each in (batch, other)]
    assert (np.abs(values[0] - values[1]) > 1e-4).all()
    losses = [float(round_of(learner, each, CENTRAL)[1][0]) for each in (batch, other)]
    assert losses[0] != losses[1]


def test_joint_critics_in_sequence_are_refused():
    with pytest.raises(UserError, match=r"joint critics learn together: set order 'joint'\."):
        dataclasses.replace(SEQUENTIAL, critic="joint")


@pytest.mark.parametrize("name", ["ddpg", "maddpg"])
def test_ddpg_has_one_critic_without_delay_or_smoothing(name):
    algorithm = presets.preset("fast", None, name)
    assert isinstance(algorithm, Gradient)
    config = algorithm.learner
    assert (config.critics, config.delay, config.smoothing) == (1, 1, 0.0)
    learner = jax.eval_shape(lambda key: td3.init(key, SIDE, (8,), config), jax.random.key(0))
    assert len(learner.critics) == len(learner.target_critics) == 1


def test_without_delay_the_actor_moves_in_every_round():
    config = dataclasses.replace(JOINT, critics=1, delay=1)
    learner = new_learner(1, config)
    for _ in range(2):
        after, _ = round_of(learner, transitions(), config)
        assert (after.actor.heads.weight != learner.actor.heads.weight).any()
        learner = after


# How many devices share a gradient step.


@pytest.mark.parametrize(
    ("batch", "buffer", "order", "agents", "shards"),
    [
        (32, 100_000, "joint", 2, 2),  # 32 rows for each of two
        (16, 100_000, "joint", 3, 1),  # too few rows
        (16, 100_000, "joint", 4, 2),
        (32, 100_000, "sequential", 8, 1),  # a step has one agent's rows
        (64, 100_000, "sequential", 1, 2),
        (513, 100_000, "joint", 4, 1),  # no equal parts of the batch
        (512, 99_999, "joint", 4, 1),  # nor of the buffers
        (4, 100, "joint", 1, 1),
    ],
)
def test_devices_share_a_gradient_step_if_each_gets_an_equal_part_worth_its_while(batch, buffer, order, agents, shards):
    assert td3.num_shards([Td3(batch=batch, buffer=buffer, order=order)], agents) == shards


def test_devices_share_the_steps_of_joint_critics_only_if_these_are_large():
    assert [td3.num_shards([Td3(batch=batch, critic="joint", order="joint")], 4) for batch in (128, 256)] == [1, 2]


def test_several_learners_share_their_steps_as_suits_all_of_them():
    large, small = Td3(batch=64), Td3(batch=32)
    assert td3.num_shards([large, large], 1) == 2
    assert td3.num_shards([large, small], 1) == 1


def test_inline_no_devices_share_a_step():
    with devices.inline():
        assert td3.num_shards([Td3(batch=1024)], 1) == 1


def test_inline_the_parts_of_a_step_give_what_two_devices_give():
    config = dataclasses.replace(JOINT, updates_per_frame=1.0)
    learner = new_learner(1, config)
    buffers = replay.store(replay.create(64, SIDE, shards=2), transitions(), jnp.ones(16, bool))
    learn = lambda frames: td3.learn(jax.random.key(0), learner, buffers, frames, config)  # noqa: E731
    expected = jax.jit(learn)(jnp.array(3, jnp.int32))
    with devices.inline():
        assert_close(jax.jit(lambda frames: learn(frames))(jnp.array(3, jnp.int32)), expected)
