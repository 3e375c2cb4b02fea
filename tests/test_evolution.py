"""Selection, crossover, mutation and migration."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from merlax.core import evolution
from merlax.core.evolution import DISCARDED, ELITE, SELECTED, EvolutionConfig, Selection
from merlax.types import UserError

CONFIG = EvolutionConfig()
TRIALS = 2000
UNMUTATED = dataclasses.replace(CONFIG, mutation_probability=0.0)
PLAIN = dataclasses.replace(CONFIG, mutation_fraction=1.0, super_probability=0.0, reset_probability=0.0)


@functools.cache
def selector(elites, tournament):
    """Many selections for one fitness."""

    def select(seed, fitness):
        return evolution.select(jax.random.key(seed), fitness, elites=elites, tournament=tournament)

    return jax.jit(jax.vmap(select, in_axes=(0, None)))


def select(fitness, elites=4, tournament=3):
    return jax.tree.map(np.asarray, selector(elites, tournament)(np.arange(TRIALS), jnp.array(fitness, jnp.float32)))


@functools.cache
def evolver(config):
    return jax.jit(lambda seed, *args: evolution.evolve(jax.random.key(seed), *args, config))


def evolve(population, elites, winners, duplicate, seed=0, config=UNMUTATED):
    selection = Selection(jnp.array(elites), jnp.array(winners), jnp.array(duplicate))
    return jax.tree.map(np.asarray, evolver(config)(seed, population, selection))


def numbered(population=10):
    """Team i is made of the number i alone, in two leaves."""
    number = jnp.arange(float(population))
    return {"a": jnp.tile(number[:, None, None], (1, 4, 3)), "b": jnp.tile(number[:, None], (1, 5))}


def flat(population):
    return np.concatenate([leaf.reshape(leaf.shape[0], -1) for leaf in jax.tree.leaves(population)], axis=1)


def test_elites_are_the_fittest_from_the_best_on():
    selection = select([3, 9, 1, 7, 5, 0, 2, 8, 6, 4])
    assert selection.elites[0].tolist() == [1, 7, 3, 8]


@functools.cache
def ranker():
    return jax.jit(jax.vmap(lambda seed, fitness: evolution.rank(jax.random.key(seed), fitness), in_axes=(0, None)))


def rank(fitness):
    """Many rankings of one fitness."""
    return np.asarray(ranker()(np.arange(TRIALS), jnp.array(fitness, jnp.float32)))


def test_a_fitness_that_is_no_number_ranks_last():
    order = rank([np.nan, -1e30, 2.0, np.nan, 1.0])
    assert (order[:, :3] == [2, 4, 1]).all()
    assert set(np.unique(order[:, 3:])) == {0, 3}


def test_chance_decides_between_teams_of_equal_fitness():
    order = rank([1.0, 0.0, 1.0, 0.0, 1.0])
    assert (np.sort(order[:, :3], axis=1) == [0, 2, 4]).all()
    for place in range(3):
        assert np.bincount(order[:, place], minlength=5)[[0, 2, 4]] / TRIALS == pytest.approx(1 / 3, abs=0.03)


def test_the_last_slot_loses_no_more_ties_than_the_others():
    selection = select(np.zeros(10))
    assert (selection.elites == 9).any(axis=1).mean() == pytest.approx(0.4, abs=0.03)


def test_a_tournament_of_everyone_is_won_by_the_best():
    assert (select([3, 9, 1, 7, 5, 0, 2, 8, 6, 4], tournament=10).winners == 1).all()


def test_a_tournament_of_distinct_candidates_never_falls_to_the_two_worst():
    winners = select(-np.arange(10.0)).winners
    assert sorted(np.unique(winners)) == list(range(8))


def test_the_best_of_ten_wins_three_tenths_of_the_tournaments_of_three():
    assert (select(-np.arange(10.0)).winners == 0).mean() == pytest.approx(0.3, abs=0.015)


def test_there_is_one_tournament_for_each_slot_but_the_elites_and_the_migrants():
    assert select(np.arange(10.0)).winners.shape == (TRIALS, 5)


def test_of_equal_winners_the_first_stays_and_the_others_are_duplicates():
    selection = select(-np.arange(10.0))
    for winners, duplicate in zip(selection.winners.tolist(), selection.duplicate.tolist(), strict=True):
        assert duplicate == [winner in winners[:i] for i, winner in enumerate(winners)]
    assert selection.duplicate.any()


def test_pure_chance_selects_the_share_of_the_paper():
    selection = select(-np.arange(10.0))
    kept = [len({*elites, *winners}) / 10 for elites, winners in zip(selection.elites, selection.winners, strict=True)]
    assert np.mean(kept) == pytest.approx(0.474, abs=0.005)
    assert evolution.expected_selection_rate(trials=TRIALS) == pytest.approx(0.474, abs=0.005)


@pytest.mark.parametrize(("team", "fate"), [(2, ELITE), (5, SELECTED), (9, DISCARDED)])
def test_a_team_is_elite_selected_or_discarded(team, fate):
    selection = Selection(jnp.array([2, 3]), jnp.array([2, 5]), jnp.array([False, False]))
    assert int(evolution.fate(selection, team)) == fate
    assert evolution.FATES[fate] == {ELITE: "elite", SELECTED: "selected", DISCARDED: "discarded"}[fate]


def test_crossover_takes_the_first_parents_beginning_and_the_seconds_end():
    first, second = (jax.tree.map(lambda leaf, i=i: leaf[i], numbered()) for i in (1, 2))
    cross = jax.jit(jax.vmap(lambda seed: evolution.crossover(jax.random.key(seed), first, second)))
    children = flat(cross(np.arange(400)))
    cuts = (children == 1).sum(axis=1)
    assert (children == np.where(np.arange(17) < cuts[:, None], 1, 2)).all()
    assert sorted(np.unique(cuts)) == list(range(1, 17))


def test_elites_survive_unchanged_in_the_first_slots():
    always = dataclasses.replace(CONFIG, mutation_probability=1.0)
    teams = flat(evolve(numbered(), [7, 2, 5, 0], [1, 3, 4, 6, 8], [False] * 5, config=always))
    assert (teams[:4] == np.array([[7], [2], [5], [0]])).all()
    assert (teams[4:9] != np.array([[1], [3], [4], [6], [8]])).any(axis=1).all()


def test_without_mutation_the_selected_teams_follow_unchanged():
    teams = flat(evolve(numbered(), [7, 2, 5, 0], [1, 3, 4, 6, 8], [False] * 5))
    assert (teams[4:9] == np.array([[1], [3], [4], [6], [8]])).all()


def test_duplicates_make_room_for_children_of_an_elite_and_a_selected_team():
    mothers, fathers = set(), set()
    for seed in range(40):
        teams = flat(evolve(numbered(), [7, 2, 5, 0], [1, 1, 3, 1, 3], [False, True, False, True, True], seed))
        assert (teams[[4, 6]] == np.array([[1], [3]])).all()
        mothers |= set(teams[[5, 7, 8], 0])
        fathers |= set(teams[[5, 7, 8], -1])
    assert (mothers, fathers) == ({7, 2, 5, 0}, {1, 3})


def test_a_team_that_won_often_is_no_likelier_parent_than_one_that_won_once():
    selection = Selection(jnp.array([7, 2]), jnp.array([1, 1, 1, 1, 3]), jnp.array([False, True, True, True, False]))
    draw = jax.jit(jax.vmap(lambda seed: evolution.parents(jax.random.key(seed), selection)))
    elite, selected = map(np.asarray, draw(np.arange(TRIALS)))
    assert (elite == 7).mean() == pytest.approx(0.5, abs=0.03)
    assert (selected == 3).mean() == pytest.approx(0.5, abs=0.03)


def test_the_last_slot_is_the_migrants_and_holds_an_exact_copy():
    migrant = {"a": jnp.full((4, 3), 0.1), "b": jnp.full(5, 0.2)}
    population = evolution.migrate(numbered(), migrant)
    jax.tree.map(lambda teams, team: np.testing.assert_array_equal(teams[-1], team), population, migrant)
    np.testing.assert_array_equal(flat(population)[:-1], flat(numbered()))


def test_offspring_are_mutated_independently():
    always = dataclasses.replace(PLAIN, mutation_probability=1.0)
    same = {"a": jnp.zeros((10, 6))}
    teams = evolve(same, [0, 1, 2, 3], [4, 5, 6, 7, 8], [False] * 5, config=always)["a"]
    assert len(np.unique(teams[4:9])) == 30


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"elites": 0}, "elites is 0"),
        ({"population": 5}, "population is 5 with 4 elites"),
        ({"tournament": 0}, "tournament is 0"),
        ({"tournament": 11}, "tournament is 11; choose at most 10"),
        ({"mutation_probability": 1.5}, "mutation_probability is 1.5"),
        ({"mutation_fraction": -0.1}, "mutation_fraction is -0.1"),
        ({"super_probability": 0.6, "reset_probability": 0.6}, "add up to more than 1"),
        ({"mutation_strength": float("nan")}, "mutation_strength is nan"),
        ({"super_factor": float("inf")}, "super_factor is inf"),
    ],
)
def test_a_bad_setting_is_refused_in_one_sentence(options, says):
    with pytest.raises(UserError, match=says) as error:
        EvolutionConfig(**options)
    assert str(error.value).endswith(".")
