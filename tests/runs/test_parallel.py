"""merlax's worlds pass PettingZoo's own tests."""

from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import merlax
from merlax.envs import base
from merlax.types import UserError
from tests.probes.leavers import Leavers

pytest.importorskip("pettingzoo")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # PettingZoo's tests import old games of its own
WORLDS = ["two-rovers", "predator-prey"]
KINDS = sorted({type(merlax.make(name)): name for name in merlax.ids()}.values())  # a world of every class
EVERY = ["two-rovers", *(pytest.param(name, marks=pytest.mark.slow) for name in KINDS if name != "two-rovers")]


@pytest.mark.parametrize("name", EVERY)
def test_every_world_keeps_pettingzoos_contract(name, capsys):
    from pettingzoo.test import parallel_api_test, parallel_seed_test

    parallel_api_test(merlax.to_pettingzoo(name), num_cycles=60)
    parallel_seed_test(lambda: merlax.to_pettingzoo(name), num_cycles=10)


@pytest.mark.slow
@pytest.mark.parametrize("name", WORLDS)
def test_a_picture_passes_pettingzoos_render_test(name):
    from pettingzoo.test import render_test
    from pettingzoo.utils import parallel_to_aec

    def make(render_mode: str) -> Any:
        return parallel_to_aec(merlax.to_pettingzoo(name, render_mode))

    render_test(cast(Any, make))


def test_numbers_are_those_of_the_world():
    env, world = merlax.make("two-rovers"), merlax.to_pettingzoo("two-rovers")
    obs, _ = world.reset(seed=5)
    key, key_reset = jax.random.split(jax.random.key(5))
    own, state = env.reset(key_reset)
    np.testing.assert_array_equal(np.stack(list(obs.values())), own)
    actions = {agent: world.action_space(agent).sample() for agent in world.agents}
    seen, rewards, *_, infos = world.step(actions)
    _, key_step = jax.random.split(key)
    after = base.step(env, key_step, state, (jnp.asarray(np.stack(list(actions.values()))),))
    np.testing.assert_allclose(np.stack(list(seen.values())), after.obs[0], atol=1e-6)
    np.testing.assert_allclose(list(rewards.values()), after.reward[0].agent, atol=1e-6)
    assert infos["agent_0"]["team_reward"] == pytest.approx(float(after.reward[0].team))


def test_whoever_leaves_is_terminated_and_gone():
    from pettingzoo.test import parallel_api_test

    parallel_api_test(merlax.to_pettingzoo(Leavers()), num_cycles=30)


def test_what_cannot_be_done_is_refused():
    with pytest.raises(UserError, match="choose 'rgb_array'"):
        merlax.to_pettingzoo("two-rovers", render_mode="ansi")
    with pytest.raises(UserError, match="is PettingZoo's already"):
        merlax.to_pettingzoo("pettingzoo:mpe2/simple_spread_v3")
