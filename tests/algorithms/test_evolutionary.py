"""What the algorithms that evolve share: how a generation follows from the one before, by operators that are values."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from merlax.algorithms import Ea, Merl, Seat
from merlax.algorithms.evolutionary import random_teams
from merlax.core.evolution.fitness import nothing_known
from merlax.core.evolution.selection import TournamentSelection
from merlax.core.td3 import Td3
from merlax.types import UserError
from tests.probes.darts import Darts
from tests.support.own import Appoint, Fill, Keep, Mean
from tests.support.trees import member, same

SEAT = Seat(Darts("team"))
EA = Ea(population=6, selection=TournamentSelection(elites=2), actor_hidden=(4,))
FITNESS = jnp.array([0.1, 0.5, 0.3, 0.9, 0.2, 0.4])


@pytest.fixture(scope="module")
def teams():
    return random_teams(jax.random.key(0), SEAT.side, (4,), 6)


def evolved(teams, **changes):
    """What follows from these teams if they have this fitness."""
    algorithm = dataclasses.replace(EA, **changes)
    evolve = jax.jit(lambda key, teams: algorithm.evolve(key, teams, nothing_known(6), FITNESS))
    return evolve(jax.random.key(1), teams)


def test_random_teams_are_all_different(teams):
    first_weights = np.asarray(teams.trunk[0].weight)
    assert first_weights.shape == (6, 2, 4)
    assert len(np.unique(first_weights.round(6))) == first_weights.size


def test_the_fittest_is_the_champion_and_the_elites_stay_as_they_are(teams):
    after = evolved(teams)
    assert same(after.champion, member(teams, 3))
    assert int(after.champion_team) == 3
    assert same(member(after.population, 0), member(teams, 3))
    assert same(member(after.population, 1), member(teams, 1))
    np.testing.assert_allclose(after.record.mean, [0.9, 0.5, 0, 0, 0, 0])


def test_a_migrant_that_is_no_elite_may_be_the_champion_and_is_written_down_as_such(teams):
    merl = Merl(population=6, selection=Appoint(elite=4, winner=1), actor_hidden=(4,))
    evolve = jax.jit(lambda newest: merl.evolve(jax.random.key(1), teams, nothing_known(6), newest))
    after = evolve(jnp.array([0.9, 0.0, 0.0, 0.0, 0.1, 0.5]))
    assert int(after.champion_team) == 5
    assert same(after.champion, member(teams, 5))


def test_a_mutation_of_ones_own_makes_all_offspring_and_no_elite(teams):
    after = evolved(teams, mutation=Fill(7.0))
    assert same(member(after.population, 0), member(teams, 3))
    assert same(member(after.population, 1), member(teams, 1))
    for leaf in jax.tree.leaves(after.population):
        assert (np.asarray(leaf)[2:] == 7.0).all()


def test_a_selection_of_ones_own_decides_who_goes_on(teams):
    after = evolved(teams, selection=Appoint(elite=4, winner=2), mutation=Keep())
    assert same(after.champion, member(teams, 4))
    assert same(member(after.population, 0), member(teams, 4))
    assert same(member(after.population, 1), member(teams, 2))


def test_a_crossover_of_ones_own_makes_the_children_of_two_parents(teams):
    after = evolved(teams, selection=Appoint(elite=4, winner=2), crossover=Mean(), mutation=Keep())
    half = Mean()(None, member(teams, 4), member(teams, 2))
    assert same(member(after.population, 1), member(teams, 2))  # the winner itself, before its duplicates
    for slot in range(2, 6):
        assert same(member(after.population, slot), half)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("part", ["selection", "crossover", "mutation"])
def test_a_thing_that_is_no_operator_is_refused(part):
    with pytest.raises(UserError, match=f"{part} is 3; give an object"):
        dataclasses.replace(EA, **{part: 3})


@pytest.mark.parametrize(
    ("algorithm", "says"),
    [
        (lambda: Ea(population=4), "population is 4 with 4 elites; it needs at least 5: the elites, one offspring."),
        (lambda: Merl(population=5), "it needs at least 6: the elites, one offspring and the migrant."),
        (
            lambda: Merl(population=6, learners=(Td3(), Td3())),
            "it needs at least 7: the elites, one offspring and 2 migrants.",
        ),
        (lambda: Ea(population=9, selection=TournamentSelection(tournament=11)), "tournament is 11; choose at most 9"),
        (lambda: Ea(population=0), "population is 0; make it a whole number of at least 1"),
    ],
)
def test_a_population_without_room_is_refused(algorithm, says):
    with pytest.raises(UserError) as refused:
        algorithm()
    assert says in str(refused.value)


def test_a_population_with_just_enough_room_is_taken():
    assert Ea(population=5).num_migrants == 0
    assert Merl(population=6).num_migrants == 1
    assert Merl(population=7, learners=(Td3(), Td3())).num_migrants == 2
