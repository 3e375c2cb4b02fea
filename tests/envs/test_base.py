"""The contract of a world: its sides, and its start and steps by side."""

import dataclasses
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from merlax.envs import Env, base, ids, make
from tests.probes.choices import Choices
from tests.probes.episodes import Countdown
from tests.probes.leavers import Leavers
from tests.probes.tag import BEST, Tag
from tests.probes.unlike import Unlike

KEY = 3


def test_a_world_with_one_side_starts_and_steps_as_a_tuple_of_one():
    env = Countdown()
    plain, _ = env.reset(jax.random.key(KEY))
    (obs,), state = base.reset(env, jax.random.key(KEY))
    np.testing.assert_array_equal(obs, plain)
    action = jnp.full((2, 2), 0.25)
    plain, _, reward, *_ = env.step(jax.random.key(KEY), state, action)
    after = base.step(env, jax.random.key(KEY), state, [action])
    np.testing.assert_allclose(after.obs, [plain], rtol=1e-6)
    np.testing.assert_array_equal(after.reward[0].agent, reward.agent)
    assert (len(after.reward), int(after.state.time)) == (1, 1)


def test_a_contest_pays_and_shows_every_side_its_own():
    env = Tag()
    obs, state = base.reset(env, jax.random.key(KEY))
    assert [side.shape for side in obs] == [(2, 1), (1, 2)]
    after = base.step(env, jax.random.key(KEY), state, [jnp.array([[0.0], [1.0]]), jnp.array([[BEST]])])
    assert [side.shape for side in after.obs] == [(2, 1), (1, 2)]
    team, opponent = after.reward
    np.testing.assert_allclose(team.agent, [-0.5, -0.5])
    np.testing.assert_allclose(opponent.agent, [0.0])


def test_ends_and_info_come_as_the_world_gives_them():
    env = Countdown(last=2, horizon=1)
    _, state = base.reset(env, jax.random.key(KEY))
    first = base.step(env, jax.random.key(1), state, [jnp.zeros((2, 2))])
    second = base.step(env, jax.random.key(2), first.state, [jnp.zeros((2, 2))])
    assert (bool(first.terminated), bool(first.truncated)) == (False, True)
    assert (bool(second.terminated), bool(second.truncated)) == (True, True)

    def info():
        env, key = make("rover-3"), jax.random.key(KEY)
        return base.step(env, key, env.reset(key)[1], [jnp.zeros((6, 2))]).info

    assert jax.eval_shape(info)["observed"].shape == (4,)


@dataclasses.dataclass(frozen=True)
class Counted(Tag):
    """Counts how often JAX traces its step."""

    traced: ClassVar[list[int]] = []

    def step(self, key, state, action):
        self.traced.append(1)
        return super().step(key, state, action)


def test_a_world_is_traced_once_however_many_programs_play_it():
    def score(key, state, scale):
        return scale * base.step(Counted(), key, state, (jnp.zeros((2, 1)), jnp.zeros((1, 1)))).reward[0].team

    _, state = base.reset(Counted(), jax.random.key(KEY))
    once, twice = (
        jax.jit(lambda key, scale=scale: score(key, state, scale))(jax.random.key(KEY)) for scale in (1.0, 2.0)
    )
    assert 2.0 * once == twice
    assert len(Counted.traced) == 1


def test_agents_that_differ_are_shown_rows_and_take_what_is_theirs():
    env = Unlike()
    (obs,), state = base.reset(env, jax.random.key(KEY))
    np.testing.assert_allclose(obs[0], [state.target[0], 0, 0, 1, 0, 0])
    np.testing.assert_array_equal(obs[2, 3:], [0, 0, 1])
    target = jnp.concatenate([state.target, jnp.zeros(3)])
    aimed = jnp.stack([target[:3], target[1:4], jax.nn.one_hot(state.lamp, 3)])
    after = base.step(env, jax.random.key(KEY), state, [aimed])
    np.testing.assert_allclose(after.reward[0].agent, 1.0, atol=1e-6)


def test_what_is_legal_follows_what_is_seen():
    (obs,), state = base.reset(Choices(), jax.random.key(KEY))
    assert obs.shape == (2, 8)
    np.testing.assert_array_equal(obs[:, 7] > 0.5, state.open)


def test_who_is_present_is_told_by_side_where_somebody_may_leave():
    env = Leavers()
    _, state = base.reset(env, jax.random.key(KEY))
    (there,) = base.present(env, state)
    assert there is not None
    assert there.all()
    assert base.present(Tag(), state) == (None, None)


@pytest.mark.parametrize("name", [*ids(), "tests.probes.episodes:Countdown", "tests.probes.tag:Tag"])
def test_what_a_world_returns_has_the_shapes_of_its_sides(name):
    env = make(name)
    assert isinstance(env, Env)
    assert hash(env) == hash(make(name))
    key = jax.random.key(KEY)
    obs, state = jax.eval_shape(lambda: base.reset(env, key))
    actions = [jnp.zeros((side.num_agents, side.act_size)) for side in env.sides]
    after = jax.eval_shape(lambda state: base.step(env, key, state, actions), state)
    for side, first, later, reward in zip(env.sides, obs, after.obs, after.reward, strict=True):
        assert first.shape == later.shape == (side.num_agents, side.obs_size)
        assert (reward.team.shape, reward.agent.shape) == ((), (side.num_agents,))
    assert after.terminated.dtype == after.truncated.dtype == bool
    assert jax.tree.structure(after.state) == jax.tree.structure(state)
