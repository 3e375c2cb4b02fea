"""What a gradient learner alone is paid with, what it keeps, and how many devices share its steps."""

import dataclasses

import jax
import jax.numpy as jnp
import pytest

from merlax.algorithms import Game, Gradient, Seat
from merlax.algorithms.gradient import OffPolicy
from merlax.core import replay, td3
from merlax.core.rollout import Field
from merlax.core.td3 import Td3
from merlax.types import Transition, UserError
from tests.probes.darts import Darts
from tests.support.trees import copy, same

pytestmark = pytest.mark.slow  # whole generations are compiled


@dataclasses.dataclass(frozen=True)
class Bounded(Darts):
    """Says how large its team and agent rewards can be."""

    reward_bounds: tuple[float, float] = (5.0, 4.0)


STEP = Transition(
    obs=jnp.zeros((1, 2, 2)),
    action=jnp.zeros((1, 2, 1)),
    agent_reward=jnp.array([[1.0, -2.0]]),
    team_reward=jnp.array([[0.5, 0.5]]),
    next_obs=jnp.zeros((1, 2, 2)),
    terminated=jnp.zeros((1, 2), bool),
)


def pay(env, **options):
    return td3.pay(STEP, Gradient(Td3(**options)).learner, Seat(env).reward_bounds)[0].tolist()


def test_agents_are_paid_their_own_reward_whatever_the_team_gets():
    assert pay(Bounded("team"), reward="agent") == [1.0, -2.0]


def test_globally_every_agent_is_paid_the_team_reward_alone():
    assert pay(Bounded("team"), reward="global") == [0.5, 0.5]


def test_the_mixed_reward_adds_the_weighted_team_reward():
    assert pay(Darts("team"), reward="mixed") == [1.0 + 10 * 0.5, -2.0 + 10 * 0.5]
    assert pay(Darts("team"), reward="mixed", team_weight=100.0) == [51.0, 48.0]


def test_the_mixed_reward_normalises_each_by_its_own_bound():
    assert pay(Bounded("team"), reward="mixed") == pytest.approx([1.0 / 4 + 10 * 0.5 / 5, -2.0 / 4 + 10 * 0.5 / 5])


SMALL = Td3(batch=8, buffer=64, burn_in=1, order="joint", updates_per_frame=0.2, critic_hidden=(4,), actor_rate=0.01)


@pytest.fixture(scope="module")
def generation():
    game = Game(Darts("team"), Gradient(SMALL, actor_hidden=(4,), explore_episodes=6))
    before = game.init(jax.random.key(0))
    after, told = game.step(jax.random.key(1), copy(before))
    return before.team, after.team, told


def test_the_buffer_keeps_both_rewards_as_the_world_paid_them(generation):
    _, after, told = generation
    stored = int(after.buffer.size.sum())
    assert stored == int(told.frames)
    kept = replay.unpack(after.buffer.rows[0, :stored], after.buffer.obs_size, after.buffer.act_size)
    assert (kept.agent_reward == 1.0).all()  # in this world, always
    assert (kept.team_reward[:, 0] == kept.team_reward[:, 1]).all()
    # The team's rewards of an episode add up to its fitness.
    assert float(kept.team_reward[:, 0].sum()) == pytest.approx(6 * float(told.team.info.explore_score), rel=1e-4)


def test_a_generation_reports_its_episodes_and_its_updates(generation):
    *_, told = generation
    assert float(told.team.info.agent_reward) == pytest.approx(1.0)
    assert int(told.team.info.learning.updates) == int(0.2 * int(told.frames)) > 0


def test_the_champion_is_the_actor_that_has_learnt(generation):
    before, after, _ = generation
    algorithm = Gradient(SMALL, actor_hidden=(4,))
    assert same(algorithm.champion(after), after.learner.actor)
    assert not same(after.learner.actor, before.learner.actor)


def test_a_learner_that_only_follows_refuses_to_train_a_team():
    game = Game(Darts("team"), OffPolicy(SMALL, actor_hidden=(4,)))
    with pytest.raises(UserError, match="train a team with Gradient instead"):
        game.frames_per_generation()


@pytest.mark.parametrize("noise", [0.0, 0.4])
def test_its_episodes_are_as_noisy_as_it_says(noise):
    algorithm = Gradient(SMALL, actor_hidden=(4,), explore_episodes=6, noise=noise)
    seat = Seat(Darts("team"))
    state = algorithm.start(jax.random.key(0), seat)
    play = jax.jit(lambda key, players: algorithm.play(key, players, Field(seat.env)))
    (played,) = play(jax.random.key(1), algorithm.players(state))
    transitions = played.transitions[0]
    assert transitions is not None
    away = transitions.action - algorithm.champion(state)(transitions.obs)
    assert float(jnp.abs(away).mean()) == pytest.approx(0.8 * noise, abs=0.1 if noise else 1e-6)


@pytest.mark.parametrize(("options", "says"), [({"reward": "team"}, "reward"), ({"team_weight": -1.0}, "team_weight")])
@pytest.mark.usefixtures("unchecked")
def test_a_bad_setting_of_the_learner_is_refused(options, says):
    with pytest.raises(UserError, match=f"{says} is"):
        Gradient(Td3(**options))


@pytest.mark.parametrize(
    ("options", "says"), [({"explore_episodes": 0}, "explore_episodes"), ({"noise": -0.1}, "noise")]
)
def test_a_bad_setting_is_refused(options, says):
    with pytest.raises(UserError, match=f"{says} is"):
        Gradient(**options)


@pytest.mark.parametrize(("batch", "shards"), [(32, 2), (16, 1)])
def test_its_steps_are_shared_as_suits_its_learner_and_the_number_of_agents(batch, shards):
    algorithm = Gradient(Td3(batch=batch, order="joint"))
    assert algorithm.num_shards(Seat(Darts("team", num_agents=2))) == shards
