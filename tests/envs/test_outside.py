"""A world outside JAX, as far as JAX sees it."""

import jax
import jax.numpy as jnp
import pytest

import merlax
from merlax.envs import base, outside
from merlax.types import UserError

pytest.importorskip("pettingzoo")


def test_a_shadow_has_the_shapes_of_the_world():
    env = merlax.make("pettingzoo:tests.probes.signals:make", team="sum")
    shadow = outside.traceable(env)
    (obs,), state = base.reset(shadow, jax.random.key(0))
    (side,) = env.sides
    after = base.step(shadow, jax.random.key(1), state, (jnp.zeros((2, side.act_size)),))
    assert obs.shape == after.obs[0].shape == (2, side.obs_size)
    (present,) = base.present(shadow, after.state)
    assert present is not None
    assert present.shape == (2,)
    assert shadow.horizon == env.horizon


def test_a_world_in_jax_casts_none():
    env = merlax.make("rover-1")
    assert outside.traceable(env) is env


def test_nothing_of_it_can_be_compiled():
    env = merlax.make("pettingzoo:tests.probes.signals:make", team="sum")
    game = merlax.Game(env, merlax.Ea(population=6))
    with pytest.raises(UserError, match="is played outside JAX, where nobody sees its state"):
        jax.eval_shape(lambda key: game.step(key, game.init(jax.random.clone(key))), jax.random.key(0))
