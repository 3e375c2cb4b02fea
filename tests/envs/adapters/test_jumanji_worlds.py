"""Jumanji's worlds of several agents as worlds of merlax's."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from merlax import envs
from merlax.envs import adapters, base
from merlax.envs.adapters import foreign
from merlax.envs.base import Discrete
from merlax.envs.check import shape_findings
from merlax.types import UserError

jumanji = pytest.importorskip("jumanji")
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.slow]  # what Jumanji uses warns; it traces for seconds


@pytest.fixture(autouse=True)
def lenient():
    """Jumanji relies on JAX's default promotion."""
    with foreign.lenient():
        yield


def rescue(**options):
    return envs.make("jumanji:SearchAndRescue-v0", team="sum", **options)


def test_a_step_has_jumanjis_numbers():
    env, own = rescue(num_searchers=3, num_targets=5), jumanji.make("SearchAndRescue-v0")
    (side,) = env.sides
    assert (side.num_agents, side.act_size, env.horizon, side.plain) == (3, 2, own.time_limit, True)
    assert shape_findings(env) == []
    assert env == rescue(num_searchers=3, num_targets=5)
    env = rescue()
    key = jax.random.key(0)
    (obs,), state = base.reset(env, key)
    inner, first = own.reset(key)
    views = first.observation.searcher_views
    np.testing.assert_allclose(obs[:, : views[0].size], views.reshape(views.shape[0], -1), rtol=1e-6)
    action = jnp.full((2, 2), 0.5)
    after = base.step(env, key, state, [action])
    _, step = own.step(inner, action)
    np.testing.assert_allclose(after.reward[0].agent, step.reward, rtol=1e-6)
    np.testing.assert_allclose(after.reward[0].team, step.reward.sum(), rtol=1e-6)


def test_the_limit_of_time_truncates():
    env = rescue(time_limit=1)
    _, state = base.reset(env, jax.random.key(0))
    after = base.step(env, jax.random.key(1), state, [jnp.zeros((2, 2))])
    assert (bool(after.terminated), bool(after.truncated)) == (False, True)


def test_choices_come_with_their_masks():
    env = envs.make("jumanji:LevelBasedForaging-v0", team="sum")
    (side,) = env.sides
    assert (side.action[0], side.masked) == (Discrete(6), True)
    assert shape_findings(env) == []


def test_worlds_of_one_agent_are_not_offered():
    assert "jumanji:SearchAndRescue-v0" in [f"jumanji:{each}" for each in adapters.ids("jumanji")]
    with pytest.raises(UserError, match="There is no world 'jumanji:Snake-v1'"):
        envs.make("jumanji:Snake-v1")


def test_it_is_filmed_by_jumanjis_own_viewer():
    env: Any = rescue(num_searchers=3)
    _, state = base.reset(env, jax.random.key(0))
    states = jax.tree.map(lambda leaf: jnp.stack([leaf, leaf]), state)
    frames = env.film(states)
    assert frames.shape == (2, 500, 500, 3)
    assert frames.std() > 1.0
