"""What a gradient learner alone is paid with."""

import dataclasses

import jax
import jax.numpy as jnp
import pytest
from tests.darts import Darts

from merlax.algorithms import Gradient, GradientConfig
from merlax.core import td3
from merlax.core.td3 import TD3Config
from merlax.types import Reward, UserError

REWARD = Reward(team=jnp.array(0.5), agent=jnp.array([1.0, -2.0]))


@dataclasses.dataclass(frozen=True)
class Bounded(Darts):
    """Says how large its team and agent rewards can be."""

    reward_bounds: tuple[float, float] = (5.0, 4.0)


def pay(env, **options):
    return Gradient(env, GradientConfig(**options)).pay(REWARD).tolist()


def test_agents_are_paid_their_own_reward_whatever_the_team_gets():
    assert pay(Bounded("team"), reward="agent") == [1.0, -2.0]


def test_globally_every_agent_is_paid_the_team_reward_alone():
    assert pay(Bounded("team"), reward="global") == [0.5, 0.5]


def test_the_mixed_reward_adds_the_weighted_team_reward():
    assert pay(Darts("team"), reward="mixed") == [1.0 + 10 * 0.5, -2.0 + 10 * 0.5]
    assert pay(Darts("team"), reward="mixed", team_weight=100.0) == [51.0, 48.0]


def test_the_mixed_reward_normalises_each_by_its_own_bound():
    assert pay(Bounded("team"), reward="mixed") == pytest.approx([1.0 / 4 + 10 * 0.5 / 5, -2.0 / 4 + 10 * 0.5 / 5])


def test_what_is_paid_is_what_the_buffer_keeps():
    algorithm = Gradient(Darts("team"), GradientConfig(reward="mixed", explore_episodes=2, actor_hidden=(4,)))
    state = algorithm.start(jax.random.key(0))
    ((episode, memory),) = jax.jit(algorithm.rollouts)(jax.random.key(1), algorithm.players(state), None)
    valid = memory.valid[:, :, None]
    # Each agent is always paid 1, and the team reward of an episode is spread over its steps.
    mixed = jnp.where(valid, memory.transitions.reward, 0.0).sum(axis=1)
    expected = episode.frames.astype(jnp.float32) + 10 * episode.fitness
    assert mixed.T.tolist() == [pytest.approx(expected.tolist(), rel=1e-5)] * 2


@pytest.mark.parametrize(("options", "says"), [({"reward": "team"}, "reward"), ({"team_weight": -1.0}, "team_weight")])
@pytest.mark.usefixtures("unchecked")
def test_a_bad_setting_is_refused(options, says):
    with pytest.raises(UserError, match=f"{says} is"):
        GradientConfig(**options)


@pytest.mark.parametrize(
    ("batch", "buffer", "order", "agents", "devices"),
    [
        (512, 100_000, "joint", 2, 2),  # 512 rows for each of two
        (256, 100_000, "joint", 3, 1),  # too few rows
        (256, 100_000, "joint", 4, 2),
        (512, 100_000, "sequential", 8, 1),  # a step has one agent's rows
        (1024, 100_000, "sequential", 1, 2),
        (513, 100_000, "joint", 4, 1),  # no equal parts of the batch
        (512, 99_999, "joint", 4, 1),  # nor of the buffers
        (4, 100, "joint", 1, 1),
    ],
)
def test_devices_share_a_gradient_step_if_each_gets_an_equal_part_worth_its_while(
    batch, buffer, order, agents, devices
):
    assert td3.shards(TD3Config(batch=batch, buffer=buffer, order=order), agents) == devices
