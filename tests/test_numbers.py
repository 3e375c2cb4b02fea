"""Numbers that are not finite stay where they arose."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from merlax.core import evolution, replay
from merlax.core import health as finite
from merlax.types import Transition


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("part", ["obs", "reward", "next_obs", "action"])
def test_a_transition_that_is_not_finite_is_not_remembered(part, bad):
    parts = {"obs": jnp.ones((3, 2, 2)), "action": jnp.ones((3, 2, 1)), "reward": jnp.ones((3, 2))}
    parts |= {"next_obs": jnp.ones((3, 2, 2)), "terminated": jnp.zeros((3, 2), bool)}
    parts[part] = parts[part].at[1, 0].set(bad)
    buffer = replay.remember(replay.create(5, 2, 2, 1), Transition(**parts), jnp.ones(3, bool))
    assert buffer.size.sum() == 2
    assert jnp.isfinite(buffer.rows).all()


def test_a_team_that_broke_once_is_judged_anew():
    record = evolution.Record(jnp.array([1.0, jnp.nan]), jnp.array([3, 3]))
    assert jnp.isnan(evolution.judge(record)).tolist() == [False, True]
    record = evolution.remember(record, jnp.array([2.0, 4.0]), memory=10)
    assert record.mean.tolist() == [1.25, 4.0]
    assert record.age.tolist() == [4, 1]


def test_a_weight_that_is_not_finite_is_found_where_it_is():
    state = {
        "learner": {"actor": jnp.ones(2), "critics": jnp.array([1.0, jnp.inf])},
        "population": jnp.array([jnp.nan]),
    }
    assert {name: bool(fine) for name, fine in finite.parts(state).items()} == {
        "learner.actor": True,
        "learner.critics": False,
    }
    assert jax.jit(finite.flags)(state).tolist() == [True, False]
