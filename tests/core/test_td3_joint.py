"""Parts of a gradient step that add up to the whole, and critics of joint actions."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from merlax.algorithms import Gradient, presets
from merlax.core import devices, td3
from merlax.types import UserError
from tests.support.td3 import ACT, AGENTS, JOINT, SEQUENTIAL, SIDE, assert_close, new_learner, round_of, transitions

pytestmark = pytest.mark.slow  # joint critics are compiled

CENTRAL = dataclasses.replace(JOINT, critic="joint")
SHARED = dataclasses.replace(JOINT, critic="shared")


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
