"""The measures count what they say they count; how fast this machine is, no test can know."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from merlax.algorithms.opponents import FixedOpponent
from merlax.core.td3 import Td3
from merlax.envs.base import Side
from merlax.runs import bench


def test_an_update_needs_the_operations_of_its_matmuls():
    """One agent, one unit everywhere, worked out by hand."""
    side = Side.equal(1, obs_size=1, act_size=1)
    config = Td3(batch=1, critics=1, delay=1, critic_hidden=(1,))
    actor = 1 + 1  # multiplications of observation → hidden → action
    critic = 2 + 1  # of (observation, action) → hidden → value
    target = actor + critic
    learn_critic = critic + critic + (critic - 2)  # forward, weights, inputs but the first layer's
    learn_actor = 3 * actor - 1 + critic + (critic - 1)  # through the critic to the action, not to the observation
    assert bench.update_flops(side, (1,), config) == 2 * (target + learn_critic + learn_actor)


def test_operations_grow_with_agents_and_batch_and_the_actors_share_with_its_delay():
    def flops(agents=3, batch=64, delay=2):
        return bench.update_flops(Side.equal(agents, 10, 2), (8, 8), Td3(batch=batch, delay=delay, critic_hidden=(8,)))

    assert flops(agents=6) == 2 * flops()
    assert flops(batch=128) == 2 * flops()
    assert flops(delay=1) - flops(delay=2) == pytest.approx(flops(delay=2) - flops(delay=10**9), rel=1e-6)


def test_random_episodes_play_both_sides_to_the_end():
    state, paid, obs = bench.random_episodes("keep-away", worlds=4)()
    assert paid.shape == (4,)
    assert len(set(np.asarray(paid).tolist())) == 4  # each its own instance
    assert [side.shape[0] for side in obs] == [4, 4]
    assert (state.time == 25).all()


def test_a_contest_is_measured_against_an_opponent_that_does_not_learn():
    assert isinstance(bench._game("predator-prey", "fast").opponent, FixedOpponent)
    assert bench._game("rover-3", "fast").opponent is None


def test_the_best_time_leaves_out_the_first_call(monkeypatch):
    monkeypatch.setattr(bench, "REPEATS", 3)
    calls = []

    def slow_at_first(x):
        calls.append(x)
        return jax.block_until_ready(jnp.ones(1))

    assert bench._seconds(slow_at_first, 1) >= 0
    assert len(calls) == 1 + 3
