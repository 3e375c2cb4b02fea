"""How much the gradient learner learns, and when; and the settings it refuses."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from merlax.core import replay, rollout, td3
from merlax.core.players import PolicyPlayer
from merlax.core.rollout import Field
from merlax.core.td3 import Td3
from merlax.envs.base import Side
from merlax.types import Transition, UserError
from tests.probes.episodes import Targets

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


SIDE = Side.equal(2, obs_size=3, act_size=1)
LEARNER = td3.init(jax.random.key(0), SIDE, (4,), SMALL)

go_on = jax.jit(lambda learner, stored, frames: td3.learn(jax.random.key(0), learner, stored, frames, SMALL))
learn = functools.partial(go_on, LEARNER)


def stored(count):
    """A buffer with this many transitions in it."""
    numbers = lambda *shape: jnp.ones((16, 2, *shape))  # noqa: E731
    batch = Transition(numbers(3), numbers(1), numbers(), numbers(), numbers(3), jnp.zeros((16, 2), bool))
    return replay.store(replay.create(64, SIDE), batch, jnp.arange(16) < count)


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
        return td3.learn(key_learn, learner, buffer, jnp.array(600, jnp.int32), config)[0].actor(jnp.eye(2))

    actions = train(jax.random.key(1))
    np.testing.assert_allclose(actions[:, 0], WORLD.targets, atol=0.1)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"actor_rate": 0.0}, "actor_rate is 0.0"),
        ({"critic_rate": -1.0}, "critic_rate is -1.0"),
        ({"critic_rate": float("nan")}, "critic_rate is nan"),
        ({"target_weight": 1.5}, "target_weight is 1.5"),
        ({"discount": -0.1}, "discount is -0.1"),
        ({"batch": 0}, "batch is 0"),
        ({"buffer": 0}, "buffer is 0"),
        ({"batch": 512, "buffer": 100}, "batch is 512 but a buffer keeps only 100"),
        ({"smoothing": -1.0}, "smoothing is -1.0"),
        ({"smoothing_clip": -0.5}, "smoothing_clip is -0.5"),
        ({"delay": 0}, "delay is 0"),
        ({"critics": 3}, "critics is 3"),
        ({"critic": "shared"}, "critic is 'shared'"),
        ({"critic_hidden": ()}, "critic_hidden is "),
        ({"reward": "team"}, "reward is 'team'"),
        ({"team_weight": -1.0}, "team_weight is -1.0"),
        ({"reward_scale": float("inf")}, "reward_scale is inf"),
        ({"order": "random"}, "order is 'random'"),
        ({"updates_per_frame": -1.0}, "updates_per_frame is -1.0"),
        ({"burn_in": 0}, "burn_in is 0"),
        ({"burn_in": 500}, "learning would never begin"),
        ({"action_penalty": -1.0}, "action_penalty is -1.0"),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_a_bad_setting_is_refused_in_one_sentence(options, says):
    with pytest.raises(UserError, match=says) as error:
        Td3(**options)
    assert str(error.value).endswith(".")
