"""MERL whose learner's team is tuned by an evolution strategy beside the population."""

import dataclasses

import jax
import numpy as np
import pytest

from merlax.algorithms import Game, Merl
from merlax.core.evolution.fitness import Fitness
from merlax.core.evolution.selection import TournamentSelection
from merlax.core.evolution.tuning import Tuning
from merlax.core.networks import tuned, untuned
from merlax.core.td3 import Td3
from tests.probes.rendezvous import Rendezvous
from tests.support.trees import copy, member, same

pytestmark = pytest.mark.slow  # whole generations are compiled

MERL = Merl(
    population=6,
    fitness=Fitness(episodes=2),
    selection=TournamentSelection(elites=2),
    learners=(Td3(batch=16, buffer=2000, order="joint", updates_per_frame=0.2, burn_in=2, critic_hidden=(16,)),),
    tuning=Tuning(pairs=7, after=1),
    explore_episodes=5,
    actor_hidden=(16,),
)
GAME = Game(Rendezvous(), MERL)
ALONE = 6 * (2 + 1) + 5  # episodes without the pairs'


@pytest.fixture(scope="module")
def three_generations():
    state = GAME.init(jax.random.key(0))
    states, told = [state.team], []
    for generation in range(3):
        state, record = GAME.step(jax.random.key(generation), copy(state))
        states.append(state.team)
        told.append(record)
    return states, told


def test_the_tuned_team_migrates_beside_the_learners_own(three_generations):
    for state in three_generations[0]:
        actor = state.learners[0].actor
        assert same(member(state.population, -1), untuned(actor))
        assert same(member(state.population, -2), tuned(actor, state.tuning.gain))


def test_gains_move_once_the_pairs_have_played(three_generations):
    moved = [bool(np.any(state.tuning.gain != 0.0)) for state in three_generations[0]]
    assert moved[:2] == [False, False]
    assert moved[3]


def test_every_episode_of_the_pairs_is_counted_but_not_stored(three_generations):
    states, told = three_generations
    horizon = Rendezvous().horizon
    assert [int(record.frames) for record in told] == [n * horizon for n in (ALONE, ALONE + 14, ALONE + 14)]
    assert GAME.frames_per_generation() == (ALONE + 14) * horizon
    assert int(states[2].buffer.size.sum()) == 2 * ALONE * horizon


def test_the_tuned_teams_score_and_fate_are_written_down(three_generations):
    info = three_generations[1][-1].team.info
    assert float(info.tuning.tuned_score) == float(info.evolution.fitness[-2])
    assert float(info.tuning.tuned_gain) >= 0.0


def test_a_game_with_tuning_can_be_part_of_somebody_elses_program():
    game = Game(Rendezvous(), dataclasses.replace(MERL, tuning=Tuning(pairs=2)))
    state = jax.jit(jax.vmap(game.init))(jax.random.split(jax.random.key(0), 2))
    _, told = jax.jit(jax.vmap(game.step))(jax.random.split(jax.random.key(1), 2), state)
    assert told.frames.tolist() == [(ALONE + 4) * Rendezvous().horizon] * 2
