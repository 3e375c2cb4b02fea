"""MERL as a whole: what a generation leaves behind, and that both halves together learn."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from merlax.algorithms import Game, Merl
from merlax.core import devices, rollout
from merlax.core.evolution import allocation, selection
from merlax.core.evolution.fitness import Fitness
from merlax.core.evolution.operators import GaussianMutation
from merlax.core.evolution.selection import DISCARDED, FATES, TournamentSelection
from merlax.core.players import PolicyPlayer
from merlax.core.rollout import Field
from merlax.core.td3 import Td3
from merlax.types import UserError
from tests.probes.rendezvous import Rendezvous
from tests.support.own import Appoint, Fill
from tests.support.trees import copy, member, same

pytestmark = pytest.mark.slow  # whole generations are compiled

TD3 = Td3(
    actor_rate=3e-3, critic_rate=3e-3, target_weight=0.02, discount=0.5, batch=32, buffer=2000, reward_scale=1.0,
    order="joint", updates_per_frame=1.0, burn_in=2, action_penalty=0.001, critic_hidden=(16,),
)  # fmt: skip
MERL = Merl(
    population=6,
    fitness=Fitness(episodes=2),
    selection=TournamentSelection(elites=2),
    learners=(TD3,),
    explore_episodes=5,
    actor_hidden=(16,),
)
GAME = Game(Rendezvous(), MERL)


@pytest.fixture(scope="module")
def two_generations():
    for seed in range(100):  # until one team is the fittest: a tie would prove nothing
        state = GAME.init(jax.random.key(seed))
        first, told = GAME.step(jax.random.key(1), copy(state))
        fitness = told.team.info.evolution.fitness
        if (fitness == fitness.max()).sum() == 1:
            second, _ = GAME.step(jax.random.key(2), copy(first))
            return state.team, first.team, second.team, told
    raise AssertionError("no team was the fittest")


def test_the_last_slot_holds_the_learners_newest_team(two_generations):
    start, first, second, _ = two_generations
    for state in (start, first, second):
        assert same(member(state.population, -1), state.learners[0].actor)
    assert not same(first.learners[0].actor, second.learners[0].actor)


def test_the_champion_is_the_fittest_and_stays_as_first_elite(two_generations):
    state, first, _, told = two_generations
    fitness = np.asarray(told.team.info.evolution.fitness)
    assert (fitness == fitness.max()).sum() == 1
    assert same(first.champion, member(state.population, int(fitness.argmax())))
    assert same(member(first.population, 0), first.champion)


def test_every_joint_step_is_counted_and_stored(two_generations):
    _, first, _, told = two_generations
    episodes = 6 * (2 + 1) + 5
    assert int(told.frames) == episodes * Rendezvous().horizon == GAME.frames_per_generation()
    assert int(first.buffer.size.sum()) == int(told.frames)


def test_the_learners_score_is_its_noiseless_fitness(two_generations):
    *_, told = two_generations
    (learner,) = told.team.info.learners
    assert float(learner.learner_score) == float(told.team.info.evolution.fitness[-1])
    assert int(learner.migrant_fate) in range(len(selection.FATES))


@pytest.mark.slow
def test_on_the_same_instances_equal_teams_get_equal_fitness():
    def rewards(same_instances):
        """What the agents of equal teams are paid [pop, episode]."""
        merl = dataclasses.replace(MERL, fitness=Fitness(episodes=2, same_instances=same_instances))
        teams, learners, tuning = merl.players(GAME.init(jax.random.key(0)).team)
        clones = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf[:1], leaf.shape), teams)
        play = jax.jit(lambda key, players: merl.play(key, players, Field(Rendezvous())))
        played, _ = play(*devices.spread(None, (jax.random.key(1), (clones, learners, tuning))))
        return np.asarray(played.episode.agent_reward[0])

    together, apart = rewards(same_instances=True), rewards(same_instances=False)
    assert len(np.unique(together[:, 0])) == 1
    assert len(np.unique(together[:, -1])) > 1  # the noisy episode is each team's own
    assert len(np.unique(apart[:, 0])) > 1


@pytest.mark.slow
def test_operators_of_ones_own_take_the_place_of_the_papers():
    """The migrant goes on as the only elite, all offspring are filled with one number, and a new migrant joins."""
    game = Game(Rendezvous(), dataclasses.replace(MERL, selection=Appoint(elite=5, winner=0), mutation=Fill(0.25)))
    before = game.init(jax.random.key(0))
    after, told = game.step(jax.random.key(1), copy(before))
    (learner,) = told.team.info.learners
    assert selection.FATES[int(learner.migrant_fate)] == "elite"
    assert same(after.team.champion, before.team.learners[0].actor)
    assert same(member(after.team.population, 0), before.team.learners[0].actor)
    for leaf in jax.tree.leaves(after.team.population):
        assert (np.asarray(leaf)[1:5] == 0.25).all()
    assert same(member(after.team.population, 5), after.team.learners[0].actor)


@pytest.mark.slow
@pytest.mark.parametrize("order", ["joint", "sequential"])
def test_merl_learns_to_meet(order):
    """Nobody is told where to meet: agents learn to reach marks, evolution picks the same mark for all."""
    env = Rendezvous()
    merl = dataclasses.replace(
        MERL,
        population=12,
        selection=TournamentSelection(elites=3),
        mutation=GaussianMutation(strength=0.2),
        fitness=Fitness(episodes=4, memory=10, same_instances=True),
        learners=(dataclasses.replace(TD3, order=order),),
    )
    game = Game(env, merl)
    state = game.init(jax.random.key(0))
    for generation in range(40):
        state, _ = game.step(jax.random.key(generation), state)
    champion = PolicyPlayer(game.champion(state))
    assert float(rollout.play_test(jax.random.key(99), Field(env), champion, 50).fitness.mean()) > 0.9


def test_one_learner_alone_has_nothing_to_divide():
    with pytest.raises(UserError, match="only one learner; give several"):
        dataclasses.replace(MERL, allocate="selection")


def test_gradient_steps_go_to_the_learner_whose_migrants_are_selected():
    merl = dataclasses.replace(MERL, learners=(TD3, TD3), allocate="selection")
    game = Game(Rendezvous(), merl)
    state = game.init(jax.random.key(0))
    trusted = eqx.tree_at(lambda s: s.team.rates, state, jnp.array([0.9, 0.1]))
    after, told = game.step(jax.random.key(1), trusted)
    first, second = (int(info.learning.updates) for info in told.team.info.learners)
    shares = allocation.shares(jnp.array([0.9, 0.1]))
    assert first / second == pytest.approx(float(shares[0] / shares[1]), rel=0.05)
    selected = jnp.stack([info.migrant_fate for info in told.team.info.learners]) != FATES.index(DISCARDED)
    assert jnp.allclose(after.team.rates, allocation.follow(jnp.array([0.9, 0.1]), selected))
