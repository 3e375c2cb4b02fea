"""MERL with several learners: each has a slot, a score, a reward and a discount of its own."""

import dataclasses

import jax
import jax.numpy as jnp
import pytest

from merlax.algorithms import Game, Merl, Seat
from merlax.core import records
from merlax.core.evolution import selection
from merlax.core.evolution.fitness import Fitness
from merlax.core.td3 import Td3
from merlax.envs.base import Side
from merlax.types import Reward, UserError
from tests.support.own import Appoint
from tests.support.trees import copy, member, same

pytestmark = pytest.mark.slow  # two learners are compiled

TD3 = Td3(
    actor_rate=0.01, critic_rate=0.02, target_weight=0.1, discount=0.0, batch=32, buffer=512, reward_scale=1.0,
    order="joint", updates_per_frame=4.0, burn_in=1, critic_hidden=(16,),
)  # fmt: skip
AIM = 0.5


@dataclasses.dataclass(frozen=True)
class TwoAims:
    """An action is a place. The agent is paid for being near AIM, the team for being near -AIM; nothing ever ends."""

    horizon: int = 1

    @property
    def sides(self):
        return (Side.equal(1, obs_size=1, act_size=1),)

    def reset(self, key):
        del key
        return jnp.ones((1, 1)), jnp.zeros(())

    def step(self, key, state, action):
        del key
        place = action[0, 0]
        reward = Reward(team=1.0 - (place + AIM) ** 2, agent=1.0 - (action[:, 0] - AIM) ** 2)
        return jnp.ones((1, 1)), state, reward, jnp.zeros((), bool), jnp.ones((), bool), {}


def merl(*learners: Td3) -> Merl:
    """Two learners beside four teams, of which the last but one goes on as elite, and team 1 wins all tournaments."""
    return Merl(
        population=6,
        fitness=Fitness(episodes=2),
        selection=Appoint(elite=4, winner=1),
        learners=learners,
        explore_episodes=8,
        actor_hidden=(8,),
    )


TWO = Game(TwoAims(), merl(TD3, dataclasses.replace(TD3, reward="global")))


@pytest.fixture(scope="module")
def generation():
    start = TWO.init(jax.random.key(0))
    after, told = TWO.step(jax.random.key(1), copy(start))
    return start.team, after.team, told


def test_the_last_slots_hold_the_learners_teams_in_their_order(generation):
    for state in generation[:2]:
        first, second = state.learners
        assert same(member(state.population, -2), first.actor)
        assert same(member(state.population, -1), second.actor)
        assert not same(first.actor, second.actor)


def test_each_learner_has_the_score_of_its_own_slot(generation):
    *_, told = generation
    first, second = told.team.info.learners
    fitness = told.team.info.evolution.fitness
    assert fitness.shape == (6,)
    assert float(first.learner_score) == float(fitness[-2])
    assert float(second.learner_score) == float(fitness[-1])
    assert float(fitness[-2]) != float(fitness[-1])


def test_each_migrant_has_its_own_fate(generation):
    *_, told = generation
    fates = [selection.FATES[int(learner.migrant_fate)] for learner in told.team.info.learners]
    assert fates == ["elite", "discarded"]


def test_the_second_learners_columns_have_its_number(generation):
    *_, told = generation
    columns = {column.name: column.value for column in records.columns(told.team.info)}
    own = ["learner_score", "migrant_fate", "explore_score", "agent_reward", "critic_loss", "actor_loss", "updates"]
    assert [name for name in columns if name.endswith("_2")] == [f"{name}_2" for name in own]
    assert (columns["migrant_fate"], columns["migrant_fate_2"]) == ("elite", "discarded")
    assert columns["explore_score"] != columns["explore_score_2"]


def test_all_rollouts_go_to_one_buffer(generation):
    _, after, told = generation
    episodes = 6 * (2 + 1) + 2 * 8
    assert int(told.frames) == int(after.buffer.size.sum()) == episodes == TWO.frames_per_generation()


@pytest.mark.parametrize("batch", [32, 64])  # the larger one is worth a device for each learner
def test_each_learner_is_paid_its_own_reward(batch):
    first = dataclasses.replace(TD3, batch=batch)
    game = Game(TwoAims(), merl(first, dataclasses.replace(first, reward="global")))
    assert game.algorithm.num_shards(Seat(TwoAims())) == batch // 32
    state = game.init(jax.random.key(0))
    for seed in range(8):
        state, _ = game.step(jax.random.key(seed), state)
    places = [float(learner.actor(jnp.ones((1, 1)))[0, 0]) for learner in state.team.learners]
    assert places == pytest.approx([AIM, -AIM], abs=0.15)


@pytest.mark.slow
def test_each_learner_has_its_own_discount():
    """At its best a step pays 1, and nothing ends, so that the value of it all is 1 / (1 - discount)."""
    game = Game(TwoAims(), merl(TD3, dataclasses.replace(TD3, discount=0.75)))
    state = game.init(jax.random.key(0))
    for seed in range(8):
        state, _ = game.step(jax.random.key(seed), state)
    aimed = jnp.ones((1, 1, 1)), jnp.full((1, 1, 1), AIM)
    values = [float(learner.critics[0](*aimed)[0, 0]) for learner in state.team.learners]
    assert values == pytest.approx([1.0, 4.0], rel=0.2)


def test_learners_with_unequal_buffers_are_refused():
    with pytest.raises(UserError, match="give all of them the same `buffer`"):
        merl(TD3, dataclasses.replace(TD3, buffer=1024))


@pytest.mark.usefixtures("unchecked")
def test_no_learner_at_all_is_refused():
    with pytest.raises(UserError, match="learners is"):
        merl()


def test_devices_share_the_gradient_steps_only_if_it_is_worth_it_to_all_learners():
    seat = Seat(TwoAims())
    large, small = (dataclasses.replace(TD3, batch=batch, buffer=2048) for batch in (64, 32))
    assert merl(large, large).num_shards(seat) == 2
    assert merl(large, small).num_shards(seat) == merl(small, large).num_shards(seat) == 1
