"""EA: what is its own beside the contract."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from merlax.algorithms import Ea, Game, Merl, Seat
from merlax.core.evolution.fitness import Fitness
from merlax.core.evolution.selection import TournamentSelection
from tests.probes.darts import Darts
from tests.probes.episodes import Countdown
from tests.support.trees import copy, member, same
from tests.support.weights import weights

EA = Ea(population=6, fitness=Fitness(episodes=2), selection=TournamentSelection(elites=2), actor_hidden=(4,))


def test_ea_keeps_no_slot_for_a_migrant():
    merl = Merl(**{field.name: getattr(EA, field.name) for field in dataclasses.fields(EA)})
    seat = Seat(Darts("team"))
    state = weights(lambda key: EA.start(key, seat))

    def evolved(algorithm):
        args = jax.random.key(0), state.population, state.record, jnp.zeros(EA.population)
        return jax.eval_shape(lambda: algorithm.evolve(*args))

    assert evolved(EA).selected.winners.shape == (6 - 2,)
    assert evolved(EA).population.heads.bias.shape == state.population.heads.bias.shape
    assert evolved(merl).selected.winners.shape == (6 - 2 - 1,)


@pytest.fixture(scope="module")
def generation():
    game = Game(Darts("team"), EA)
    before = game.init(jax.random.key(0))
    after, told = game.step(jax.random.key(1), copy(before))
    return before.team, after.team, told


@pytest.mark.slow
def test_the_champion_is_the_fittest_team_of_the_generation(generation):
    before, after, told = generation
    fitness = np.asarray(told.team.info.fitness)
    assert (fitness == fitness.max()).sum() == 1
    assert same(after.champion, member(before.population, int(fitness.argmax())))


def test_best_and_mean_are_of_the_fitness_of_all_teams(generation):
    *_, told = generation
    info = told.team.info
    assert info.fitness.shape == (6,)
    assert float(info.best_fitness) == float(info.fitness.max())
    assert float(info.mean_fitness) == pytest.approx(float(info.fitness.mean()), rel=1e-5)
    assert int(info.broken_teams) == 0


@pytest.mark.slow
def test_a_generation_is_each_teams_episodes_up_to_their_ends():
    game = Game(Countdown(horizon=6, last=4), EA)
    _, told = game.step(jax.random.key(1), game.init(jax.random.key(0)))
    assert game.frames_per_generation() == 6 * 2 * 6
    assert int(told.frames) == 6 * 2 * 4
    assert told.team.info.fitness.tolist() == [1.0 + 2.0 + 3.0 + 4.0] * 6
