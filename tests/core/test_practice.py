"""How much the gradient learner learns, and when, and on how many devices."""

import dataclasses
import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from merlax.core import devices, practice, replay, rollout, td3
from merlax.core.players import PolicyPlayer
from merlax.core.rollout import Field
from merlax.core.td3 import Td3
from merlax.types import Transition
from tests.probes.episodes import Targets
from tests.support.td3 import ACT, AGENTS, JOINT, OBS, SIDE, assert_close, new_learner, round_of, transitions

pytestmark = pytest.mark.slow  # these learn

SMALL = Td3(batch=4, buffer=64, burn_in=3, updates_per_frame=0.5, order="joint", critic_hidden=(4,))
QUICK = Td3(
    actor_rate=0.01,
    critic_rate=0.01,
    discount=0.0,
    batch=64,
    buffer=1024,
    burn_in=1,
    reward_scale=1.0,
    critic_hidden=(32,),
)
WORLD = Targets()
LEARNER = td3.init(jax.random.key(0), SIDE, (4,), SMALL)

go_on = jax.jit(lambda learner, stored, frames: practice.learn(jax.random.key(0), learner, stored, frames, SMALL))
learn = functools.partial(go_on, LEARNER)


def stored(count):
    """A buffer with this many transitions in it."""
    numbers = lambda *shape: jnp.ones((16, AGENTS, *shape))  # noqa: E731
    batch = Transition(numbers(OBS), numbers(ACT), numbers(), numbers(), numbers(OBS), jnp.zeros((16, AGENTS), bool))
    return replay.store(replay.create(64, SIDE), batch, jnp.arange(16) < count)


def half_of_each(kinds):
    """Buffers in two parts, each with one kind of transition in it, and a minibatch that has an equal part of both."""
    halves = [jax.tree.map(lambda leaf, i=i: jnp.repeat(leaf[i : i + 1], 8, axis=0), kinds) for i in range(2)]
    batch = jax.tree.map(lambda *parts: jnp.concatenate(parts), *halves)
    return replay.store(replay.create(64, SIDE, shards=2), batch, jnp.ones(16, bool)), batch


def test_nothing_is_learnt_before_the_burn_in():
    learner, info = learn(stored(11), jnp.array(20, jnp.int32))
    assert info.updates == 0
    jax.tree.map(np.testing.assert_array_equal, learner.actor, LEARNER.actor)
    jax.tree.map(np.testing.assert_array_equal, learner.critics, LEARNER.critics)
    assert learner.rounds == LEARNER.rounds


def test_learning_begins_with_the_last_transition_of_the_burn_in():
    assert learn(stored(12), jnp.array(20, jnp.int32))[1].updates == 10


@pytest.mark.parametrize(("frames", "rounds"), [(0, 0), (1, 0), (2, 1), (7, 3)])
def test_new_frames_pay_for_whole_rounds_of_updates(frames, rounds):
    learner, info = learn(stored(16), jnp.array(frames, jnp.int32))
    assert info.updates == rounds
    assert learner.rounds - LEARNER.rounds == rounds


def test_parts_of_a_round_add_up_from_generation_to_generation():
    learner, done = LEARNER, []
    for frames in (1, 1, 1, 4, 0, 1):
        learner, info = go_on(learner, stored(16), jnp.array(frames, jnp.int32))
        done.append(int(info.updates))
    assert done == [0, 1, 0, 2, 0, 1]


def test_nothing_adds_up_before_the_burn_in():
    learner, _ = learn(stored(11), jnp.array(1, jnp.int32))
    assert go_on(learner, stored(16), jnp.array(1, jnp.int32))[1].updates == 0


@pytest.mark.parametrize(("order", "critics"), [("joint", 2), ("sequential", 2), ("joint", 1)])
def test_the_best_action_of_a_one_step_world_is_learnt(order, critics):
    config = dataclasses.replace(QUICK, order=order, critics=critics)
    (side,) = WORLD.sides

    @jax.jit
    def train(key):
        key_init, key_play, key_learn = jax.random.split(key, 3)
        learner = td3.init(key_init, side, (16,), config)
        idle = jax.tree.map(jnp.zeros_like, learner.actor)
        play = jax.vmap(lambda key: rollout.play(key, Field(WORLD), PolicyPlayer(idle), 1.0))
        played = play(jax.random.split(key_play, 1024))
        (transitions,) = played.transitions
        assert transitions is not None
        buffer = replay.store(replay.create(1024, side), transitions, played.valid)
        return practice.learn(key_learn, learner, buffer, jnp.array(600, jnp.int32), config)[0].actor(jnp.eye(2))

    actions = train(jax.random.key(1))
    np.testing.assert_allclose(actions[:, 0], WORLD.targets, atol=0.1)


def test_two_devices_with_buffers_of_their_own_take_one_common_step():
    """All that a device has stored is one transition, many times, so its part of the minibatch is known."""
    config = dataclasses.replace(JOINT, updates_per_frame=1.0)
    learner, (buffers, batch) = new_learner(1, config), half_of_each(transitions())
    learn = jax.jit(lambda buffers, frames: practice.learn(jax.random.key(0), learner, buffers, frames, config))
    shared, info = learn(devices.divide(2, buffers), jnp.array(1, jnp.int32))
    assert int(info.updates) == 1
    alone = round_of(learner, batch, config)[0]
    assert_close(shared, eqx.tree_at(lambda each: each.practice, alone, shared.practice))


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
    assert practice.num_shards([Td3(batch=batch, buffer=buffer, order=order)], agents) == shards


def test_devices_share_the_steps_of_joint_critics_only_if_these_are_large():
    assert [practice.num_shards([Td3(batch=batch, critic="joint", order="joint")], 4) for batch in (128, 256)] == [1, 2]


def test_several_learners_share_their_steps_as_suits_all_of_them():
    large, small = Td3(batch=64), Td3(batch=32)
    assert practice.num_shards([large, large], 1) == 2
    assert practice.num_shards([large, small], 1) == 1


def test_inline_no_devices_share_a_step():
    with devices.inline():
        assert practice.num_shards([Td3(batch=1024)], 1) == 1


def test_inline_the_parts_of_a_step_give_what_two_devices_give():
    config = dataclasses.replace(JOINT, updates_per_frame=1.0)
    learner = new_learner(1, config)
    buffers = replay.store(replay.create(64, SIDE, shards=2), transitions(), jnp.ones(16, bool))
    learn = lambda frames: practice.learn(jax.random.key(0), learner, buffers, frames, config)  # noqa: E731
    expected = jax.jit(learn)(jnp.array(3, jnp.int32))
    with devices.inline():
        assert_close(jax.jit(lambda frames: learn(frames))(jnp.array(3, jnp.int32)), expected)


# A learner for each device.

PAIR = (
    dataclasses.replace(JOINT, updates_per_frame=1.0),
    dataclasses.replace(JOINT, updates_per_frame=1.0, reward="global", discount=0.9),
)


def rounds_apart(learners, buffers, frames, configs=PAIR, piece=None):
    """All rounds that so many frames pay for, perhaps in pieces."""
    keys = jax.random.split(jax.random.key(0))
    learners = tuple(practice.owe(*each) for each in zip(learners, (buffers,) * 2, (frames,) * 2, configs, strict=True))
    if piece is None:
        return practice.work_off_apart(keys, learners, buffers, configs)
    most, same = jnp.int32(piece), lambda: jax.random.clone(keys)
    go_on = lambda learners: practice.work_off_apart(same(), learners, buffers, configs, most=most)  # noqa: E731
    return jax.lax.while_loop(lambda each: each[0].practice.done < each[0].practice.due, go_on, learners)


apart = jax.jit(rounds_apart, static_argnames=("configs", "piece"))


def varied():
    """Buffers in two parts, full of different transitions."""
    return devices.divide(2, replay.store(replay.create(64, SIDE, shards=2), transitions(), jnp.ones(16, bool)))


def test_each_device_takes_a_learner_which_learns_from_the_buffers_of_both():
    learners = tuple(new_learner(1, config) for config in PAIR)
    buffers, batch = half_of_each(transitions())
    after = apart(learners, devices.divide(2, buffers), jnp.array(1, jnp.int32))
    for before, config, learner in zip(learners, PAIR, after, strict=True):
        assert int(learner.practice.done) == 1
        alone = round_of(before, batch, config)[0]
        assert_close(learner, eqx.tree_at(lambda each: each.practice, alone, learner.practice))


def test_pieces_make_what_one_call_makes_of_learners_apart():
    learners, frames = tuple(new_learner(0, config) for config in PAIR), jnp.array(practice.SWAPPED + 5, jnp.int32)
    whole, in_pieces = (apart(learners, varied(), frames, piece=piece) for piece in (None, 6))
    assert int(whole[0].practice.done) == practice.SWAPPED + 5
    assert_close(in_pieces, whole)


def test_learners_apart_see_different_minibatches():
    same = (PAIR[0], PAIR[0])
    first, second = apart((new_learner(), new_learner()), varied(), jnp.array(2, jnp.int32), configs=same)
    assert not np.allclose(first.critics[0].layers[0].weight, second.critics[0].layers[0].weight)


def test_inline_learners_apart_give_what_two_devices_give():
    learners, buffers = tuple(new_learner(0, config) for config in PAIR), varied()
    expected = apart(learners, buffers, jnp.array(3, jnp.int32))
    with devices.inline():
        inline = jax.jit(lambda frames: rounds_apart(learners, buffers, frames))
        assert_close(inline(jnp.array(3, jnp.int32)), expected)


@pytest.mark.parametrize(
    ("configs", "shards", "expected"),
    [
        (PAIR, 2, True),
        (PAIR, 1, False),
        (PAIR, 4, False),
        (PAIR[:1], 1, False),
        ((PAIR[0], dataclasses.replace(PAIR[1], updates_per_frame=2.0)), 2, False),
        ((PAIR[0], dataclasses.replace(PAIR[1], critic_hidden=(16,))), 2, False),
    ],
)
def test_learners_have_devices_of_their_own_if_all_take_as_long(configs, shards, expected):
    assert practice.one_each(configs, shards) is expected
