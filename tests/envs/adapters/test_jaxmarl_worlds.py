"""JaxMARL's worlds as worlds of merlax's: the same numbers, whole episodes, true ends."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import merlax
from merlax import envs
from merlax.envs import base
from merlax.envs.adapters import foreign
from merlax.envs.base import Discrete
from merlax.envs.check import shape_findings
from merlax.types import UserError

jaxmarl = pytest.importorskip("jaxmarl")
pytestmark = pytest.mark.filterwarnings("ignore")  # what JaxMARL uses warns


@pytest.fixture(autouse=True)
def lenient():
    """JaxMARL relies on JAX's default promotion, and uses keys twice."""
    with foreign.lenient():
        yield


def spread(**options):
    return envs.make("jaxmarl:MPE_simple_spread_v3", team="sum", **options)


def test_a_step_has_jaxmarls_numbers_and_the_team_what_was_chosen():
    env, own = spread(), jaxmarl.make("MPE_simple_spread_v3")
    key = jax.random.key(0)
    (obs,), state = base.reset(env, key)
    theirs, inner = own.reset(key)
    np.testing.assert_array_equal(obs, jnp.stack([theirs[agent] for agent in own.agents]))
    chosen = jnp.array([1, 2, 3])
    after = base.step(env, key, state, [jax.nn.one_hot(chosen, 5)])
    seen, _, rewards, *_ = own.step_env(key, inner, dict(zip(own.agents, chosen, strict=True)))
    np.testing.assert_allclose(after.obs[0], jnp.stack([seen[agent] for agent in own.agents]), rtol=1e-6)
    paid = np.array([rewards[agent] for agent in own.agents])
    np.testing.assert_allclose(after.reward[0].agent, paid, rtol=1e-6)
    np.testing.assert_allclose(after.reward[0].team, paid.sum(), rtol=1e-5)


def test_the_limit_of_steps_truncates_and_never_terminates():
    env = spread(max_steps=3)
    assert env.horizon == 3
    _, state = base.reset(env, jax.random.key(0))
    flags = []
    for step in range(3):
        after = base.step(env, jax.random.key(step), state, [jnp.zeros((3, 5))])
        state = after.state
        flags.append((bool(after.terminated), bool(after.truncated)))
    assert flags == [(False, False), (False, False), (False, True)]


def test_the_same_id_and_options_are_the_same_world():
    assert spread(num_agents=2) == spread(num_agents=2)
    assert hash(spread(num_agents=2)) == hash(spread(num_agents=2))
    assert spread() != spread(num_agents=2)
    assert spread(num_agents=2).sides[0].num_agents == 2
    assert envs.make("jaxmarl:MPE_simple_push_v3", team="sum") != spread()


def test_continuous_actions_are_stretched_to_jaxmarls_bounds():
    env, own = spread(action_type="Continuous"), jaxmarl.make("MPE_simple_spread_v3", action_type="Continuous")
    key = jax.random.key(0)
    assert env.sides[0].plain
    _, state = base.reset(env, key)
    after = base.step(env, key, state, [jnp.full((3, 5), -0.5)])
    seen, *_ = own.step_env(key, own.reset(key)[1], {agent: jnp.full(5, 0.25) for agent in own.agents})
    np.testing.assert_allclose(after.obs[0][0], seen["agent_0"], rtol=1e-6)


@pytest.mark.slow
def test_units_that_die_leave_and_illegal_choices_are_masked():
    env = envs.make("jaxmarl:HeuristicEnemySMAX", team="max", scenario="3m")
    (side,) = env.sides
    assert (side.num_agents, side.action[0], side.masked, side.leaving) == (3, Discrete(8), True, True)
    assert shape_findings(env) == []
    (obs,), state = base.reset(env, jax.random.key(0))
    assert not obs[:, -3:].any()  # nobody is near enough to be shot at
    dead = jnp.array([False, True, False])
    inner = state.inner.state
    health = jnp.where(jnp.arange(6) == 1, 0.0, inner.unit_health)
    inner = state.inner.replace(state=inner.replace(unit_alive=health > 0, unit_health=health))
    state = type(state)(inner, state.here, state.time)
    after = base.step(env, jax.random.key(1), state, [jax.nn.one_hot(jnp.array([4, 4, 4]), 8)])
    np.testing.assert_array_equal(base.present(env, after.state)[0], ~dead)  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_sparse_team_reward_and_a_dense_agent_reward_are_kept_apart():
    env = envs.make("jaxmarl:overcooked_v2", team="mean", agent="shaped_reward", max_steps=20)
    assert shape_findings(env) == []
    _, state = base.reset(env, jax.random.key(0))
    after = base.step(env, jax.random.key(1), state, [jax.nn.one_hot(jnp.array([0, 1]), 6)])
    assert (float(after.reward[0].team), after.reward[0].agent.shape) == (0.0, (2,))


def test_agents_that_differ_are_trained_as_one_team():
    (side,) = envs.make("jaxmarl:MPE_simple_speaker_listener_v4", team="mean").sides
    assert not side.alike
    assert [space.size for space in side.action] == [3, 5]


def test_a_world_without_a_team_reward_is_refused_before_anything_is_made(tmp_path):
    with pytest.raises(UserError, match="what pays the team is your choice"):
        merlax.train("jaxmarl:MPE_simple_spread_v3", frames=1000, out=tmp_path / "run", quiet=True)
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("unchecked")
def test_an_id_that_is_nearly_right_gets_a_suggestion_and_options_are_checked():
    with pytest.raises(UserError, match="did you mean 'jaxmarl:MPE_simple_spread_v3'"):
        envs.make("jaxmarl:MPE_simple_spred_v3")
    with pytest.raises(UserError, match=r"does not take these options.*colour"):
        spread(colour=3)
    with pytest.raises(UserError, match=r"JaxMARL cannot make 'MPE_simple_spread_v3' with {'local_ratio': 7.0}"):
        _ = spread(local_ratio=7.0).sides


@pytest.mark.slow
def test_a_run_is_trained_and_opened_again_by_its_name_alone(tmp_path):
    from tests.support.settings import TINY

    run = merlax.train(spread(max_steps=5), frames=1740, settings=TINY, out=tmp_path / "run", quiet=True)
    assert run.title == "jaxmarl:MPE_simple_spread_v3 (team sum, agent reward, action_type Discrete)"
    again = merlax.load(tmp_path / "run")
    assert again.env == spread(max_steps=5)
    assert merlax.evaluate(again, 5) == merlax.evaluate(run, 5)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["MPE_simple_spread_v3", "jaxnav"])
def test_worlds_that_jaxmarl_draws_are_filmed_and_others_are_not(name, capsys):
    env: Any = envs.make(f"jaxmarl:{name}", team="sum")
    _, state = base.reset(env, jax.random.key(0))
    frames = env.film(jax.tree.map(lambda leaf: np.stack([leaf, leaf]), state))
    assert frames.shape == (2, 500, 500, 3)
    assert frames.std() > 1.0
    assert not capsys.readouterr().out
    other: Any = envs.make("jaxmarl:switch_riddle", team="sum")
    assert other.film(state) is None
