"""A loop gives the same whether it is unrolled or not, and does not grow with its length."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from merlax import envs
from merlax.envs import base, loops, particles, rover


def test_every_index_comes_once_in_turn():
    for times in (0, 3, loops.UNROLLED + 5):
        digits = loops.repeat(times, lambda index, found: found.at[index].set(index), jnp.full(times + 1, -1))
        assert digits.tolist() == [*range(times), -1]


def test_many_targets_are_sensed_as_few_are(monkeypatch):
    offset = jax.random.normal(jax.random.key(0), (3, 10, 2))
    visible = jnp.arange(30).reshape(3, 10) % 3 > 0
    few = rover.sense(offset, visible, 8)
    monkeypatch.setattr(loops, "UNROLLED", 2)
    np.testing.assert_array_equal(rover.sense(offset, visible, 8), few)


def test_many_bodies_push_as_few_do(monkeypatch):
    where, other = jax.random.normal(jax.random.key(0), (2, 10, 2))
    few = particles.contact(where, other, jnp.full(10, 0.5))
    monkeypatch.setattr(loops, "UNROLLED", 2)
    np.testing.assert_allclose(particles.contact(where, other, jnp.full(10, 0.5)), few, rtol=1e-5)


@pytest.mark.parametrize(("world", "field"), [("rover-3", "num_poi"), ("predator-prey", "num_landmarks")])
def test_a_world_with_a_thousand_things_is_no_longer_program_than_one_with_fifty(world, field):
    def lines(number: int) -> int:
        env = envs.make(world, **{field: number})

        def one_step(key):
            key_reset, key_step = jax.random.split(key)
            _, state = base.reset(env, key_reset)
            still = tuple(jnp.zeros((side.num_agents, side.act_size)) for side in env.sides)
            return base.step(env, key_step, state, still)

        return len(str(jax.make_jaxpr(one_step)(jax.random.key(0))).splitlines())

    assert lines(1000) < 1.1 * lines(50)
