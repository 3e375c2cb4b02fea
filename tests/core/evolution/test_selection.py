"""Who goes on: ranks, elites, tournaments."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from merlax.core.evolution import selection
from merlax.core.evolution.selection import DISCARDED, ELITE, FATES, SELECTED, Selected, TournamentSelection
from merlax.types import UserError

TRIALS = 2000


@functools.cache
def selector(elites, tournament, size):
    """Many selections for one fitness."""
    choose = TournamentSelection(elites, tournament)
    one = lambda seed, fitness: choose(jax.random.key(seed), fitness, size)  # noqa: E731
    return jax.jit(jax.vmap(one, in_axes=(0, None)))


def select(fitness, elites=4, tournament=3, size=9) -> Selected:
    choose = selector(elites, tournament, size)
    return jax.tree.map(np.asarray, choose(np.arange(TRIALS), jnp.array(fitness, jnp.float32)))


@functools.cache
def ranker():
    return jax.jit(jax.vmap(lambda seed, fitness: selection.rank(jax.random.key(seed), fitness), in_axes=(0, None)))


def rank(fitness):
    """Many rankings of one fitness."""
    return np.asarray(ranker()(np.arange(TRIALS), jnp.array(fitness, jnp.float32)))


def test_elites_are_the_fittest_from_the_best_on():
    selected = select([3, 9, 1, 7, 5, 0, 2, 8, 6, 4])
    assert selected.elites[0].tolist() == [1, 7, 3, 8]


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
    selected = select(np.zeros(10))
    assert (selected.elites == 9).any(axis=1).mean() == pytest.approx(0.4, abs=0.03)


def test_a_tournament_of_everyone_is_won_by_the_best():
    assert (select([3, 9, 1, 7, 5, 0, 2, 8, 6, 4], tournament=10).winners == 1).all()


def test_a_tournament_of_distinct_candidates_never_falls_to_the_two_worst():
    winners = select(-np.arange(10.0)).winners
    assert sorted(np.unique(winners)) == list(range(8))


def test_the_best_of_ten_wins_three_tenths_of_the_tournaments_of_three():
    assert (select(-np.arange(10.0)).winners == 0).mean() == pytest.approx(0.3, abs=0.015)


@pytest.mark.parametrize(("size", "tournaments"), [(10, 6), (9, 5), (8, 4)])
def test_there_is_one_tournament_for_each_slot_but_the_elites_and_the_migrants(size, tournaments):
    assert select(np.arange(10.0), size=size).winners.shape == (TRIALS, tournaments)


def test_of_equal_winners_the_first_stays_and_the_others_are_duplicates():
    selected = select(-np.arange(10.0))
    for winners, duplicate in zip(selected.winners.tolist(), selected.duplicate.tolist(), strict=True):
        assert duplicate == [winner in winners[:i] for i, winner in enumerate(winners)]
    assert selected.duplicate.any()


def test_pure_chance_selects_the_share_of_the_paper():
    selected = select(-np.arange(10.0))
    chosen = zip(selected.elites.tolist(), selected.winners.tolist(), strict=True)
    kept = [len({*elites, *winners}) / 10 for elites, winners in chosen]
    assert np.mean(kept) == pytest.approx(0.474, abs=0.005)
    assert selection.expected_selection_rate() == pytest.approx(0.4739, abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(10, 4, 3), (6, 4, 1), (12, 2, 12), (20, 1, 2)])
def test_the_rate_that_is_worked_out_is_the_one_that_is_simulated(sizes):
    simulated = selection.simulated_selection_rate(*sizes, trials=5000)
    assert selection.expected_selection_rate(*sizes) == pytest.approx(simulated, abs=0.005)


def test_a_simulation_is_made_in_parts_that_somebody_may_watch():
    seen = []
    watch = lambda parts: (seen.append(part) or part for part in parts)  # noqa: E731
    at_once = selection._NUMBERS_AT_ONCE // 20**2
    selection.simulated_selection_rate(20, trials=2 * at_once + 1, watch=watch)
    assert seen == [0, 1, 2]


def test_of_a_large_population_some_tournaments_are_held_at_a_time(monkeypatch):
    fitness = -jnp.arange(40.0)
    choose = lambda: TournamentSelection()(jax.random.key(3), fitness, 39)  # noqa: E731
    at_once = choose()
    monkeypatch.setattr(selection, "_NUMBERS_AT_ONCE", 300)
    np.testing.assert_array_equal(choose().winners, at_once.winners)


@pytest.mark.parametrize("population", [5, 300])
def test_candidates_are_distinct_and_all_equally_likely(population, monkeypatch):
    monkeypatch.setattr(selection, "_SHUFFLED", 4 if population == 300 else 256)
    keys = jax.random.split(jax.random.key(1), 4_000)
    drawn = np.asarray(jax.vmap(lambda key: selection.distinct(key, population, 3))(keys))
    assert all(len(set(row)) == 3 for row in drawn.tolist())
    assert drawn.min() == 0
    assert drawn.max() == population - 1
    counts = np.bincount(drawn.ravel() * 5 // population, minlength=5)
    np.testing.assert_allclose(counts, 4_000 * 3 / 5, rtol=0.05)
    for place in range(3):  # and so is every one of them
        assert abs(drawn[:, place].mean() / (population - 1) - 0.5) < 0.02


@pytest.mark.parametrize("population", [4, 5])
def test_drawing_one_by_one_gives_every_set_as_often_as_shuffling(population, monkeypatch):
    monkeypatch.setattr(selection, "_SHUFFLED", 3)
    keys = jax.random.split(jax.random.key(2), 20_000)
    drawn = np.asarray(jax.vmap(lambda key: selection.distinct(key, population, 3))(keys))
    ordered, counts = np.unique(drawn, axis=0, return_counts=True)
    assert len(ordered) == population * (population - 1) * (population - 2)
    assert counts.max() / counts.min() < 1.6


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"population": 10**9}, "population is 1000000000; choose a whole number from 1 to 10,000,000."),
        ({"population": 10**4, "trials": 10}, "population is 10000; choose a whole number from 1 to 1,000."),
        ({"trials": 10**12}, "trials is 1000000000000; choose a whole number from 1 to 1,000,000,000."),
        ({"trials": 0}, "trials is 0; choose a whole number from 1 to 1,000,000,000."),
    ],
)
def test_rates_that_nobody_waits_for_are_refused(asked, says):
    rate = selection.simulated_selection_rate if "trials" in asked else selection.expected_selection_rate
    with pytest.raises(UserError) as error:
        rate(**asked)
    assert str(error.value) == says


@pytest.mark.parametrize(("team", "fate"), [(2, ELITE), (5, SELECTED), (9, DISCARDED)])
def test_a_team_is_elite_selected_or_discarded(team, fate):
    selected = Selected(jnp.array([2, 3]), jnp.array([2, 5]), jnp.array([False, False]))
    assert FATES[int(selection.fate_of(team, selected))] == fate


def test_the_fates_are_written_in_these_words():
    assert (ELITE, SELECTED, DISCARDED) == ("elite", "selected", "discarded")


@pytest.mark.parametrize(
    ("options", "says"),
    [({"elites": 0}, "elites is 0"), ({"tournament": 0}, "tournament is 0"), ({"elites": 2.5}, r"elites is 2\.5")],
)
@pytest.mark.usefixtures("unchecked")
def test_a_bad_setting_is_refused_in_one_sentence(options, says):
    with pytest.raises(UserError, match=says) as error:
        TournamentSelection(**options)
    assert str(error.value).endswith(".")


@pytest.mark.parametrize(
    ("tournament", "population", "size", "says"),
    [
        (3, 4, 4, "population is 4 with 4 elites; it needs at least 5: the elites, one offspring."),
        (3, 5, 4, "population is 5 with 4 elites; it needs at least 6: the elites, one offspring and the migrant."),
        (3, 6, 4, "population is 6 with 4 elites; it needs at least 7: the elites, one offspring and 2 migrants."),
        (11, 10, 9, "tournament is 11; choose at most 10 (the population)."),
    ],
)
def test_a_population_without_room_is_refused_in_one_sentence(tournament, population, size, says):
    choose = TournamentSelection(tournament=tournament)
    with pytest.raises(UserError) as error:
        choose(jax.random.key(0), jnp.zeros(population), size)
    assert str(error.value) == says


def test_the_smallest_population_has_one_offspring():
    selected = jax.eval_shape(lambda: TournamentSelection()(jax.random.key(0), jnp.arange(6.0), 5))
    assert (selected.elites.shape, selected.winners.shape) == ((4,), (1,))


def test_no_rate_is_expected_of_a_population_without_room():
    with pytest.raises(UserError, match="population is 5 with 4 elites"):
        selection.expected_selection_rate(population=5)
