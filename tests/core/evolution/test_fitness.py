"""What is known of each team's fitness over the generations."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from merlax.core.evolution import fitness
from merlax.core.evolution.fitness import Fitness, FitnessRecord
from merlax.core.evolution.selection import Selected
from merlax.types import UserError

choose = jax.jit(fitness.champion, static_argnums=2)


def champion(record, candidates=None, caution=1.0) -> int:
    return int(choose(record, jnp.arange(record.age.size) if candidates is None else jnp.array(candidates), caution))


@functools.cache
def extender(memory):
    return jax.jit(Fitness(memory=memory).extend)


def after(generations, memory) -> FitnessRecord:
    record = fitness.nothing_known(len(generations[0]))
    for newest in generations:
        record = extender(memory)(record, jnp.array(newest))
    return record


def test_with_memory_1_only_the_newest_fitness_counts():
    record = after([(1.0, 5.0), (0.1, 0.7)], memory=1)
    np.testing.assert_array_equal(record.mean, np.array([0.1, 0.7], np.float32))


def test_within_memory_the_record_is_the_mean():
    np.testing.assert_allclose(after([(1.0, 0.0), (0.4, 0.6), (0.1, 0.3)], memory=5).mean, [0.5, 0.3], rtol=1e-5)


def test_on_the_same_instances_what_is_known_moves_with_what_all_known_teams_score():
    """The third team is new; the others score 0.2 less than before on average, so its 0.5 is worth more than theirs."""
    known = FitnessRecord(jnp.array([0.6, 0.4, 0.0]), jnp.array([2, 2, 0]))
    record = jax.jit(Fitness(memory=10, same_instances=True).extend)(known, jnp.array([0.5, 0.1, 0.5]))
    np.testing.assert_allclose(record.mean, [0.4 + 0.1 / 3, 0.2 - 0.1 / 3, 0.5], rtol=1e-5)


def test_a_broken_team_moves_nobody():
    known = FitnessRecord(jnp.array([0.6, 0.4]), jnp.array([2, 2]))
    record = jax.jit(Fitness(memory=10, same_instances=True).extend)(known, jnp.array([0.6, jnp.nan]))
    np.testing.assert_allclose(record.mean, [0.6, jnp.nan], rtol=1e-5)


def test_the_age_never_exceeds_the_memory():
    assert after([(0.0, 0.0)] * 4, memory=3).age.tolist() == [3, 3]


def test_a_team_that_broke_once_starts_anew():
    record = FitnessRecord(jnp.array([1.0, jnp.nan]), jnp.array([3, 3]))
    assert champion(record) == 0
    record = extender(10)(record, jnp.array([2.0, 4.0]))
    assert record.mean.tolist() == [1.25, 4.0]
    assert record.age.tolist() == [4, 1]


def test_elites_take_their_record_along_and_everyone_else_starts_anew():
    record = FitnessRecord(jnp.array([0.1, 0.2, 0.3, 0.4]), jnp.array([1, 2, 3, 4]))
    selected = Selected(jnp.array([3, 1]), jnp.array([0]), jnp.array([False]))
    inherited = fitness.inherit(record, selected)
    np.testing.assert_allclose(inherited.mean, [0.4, 0.2, 0.0, 0.0])
    assert inherited.age.tolist() == [4, 2, 0, 0]


def test_migrants_keep_what_their_memory_lets_them():
    record = FitnessRecord(jnp.array([0.1, 0.2, 0.3, 0.4]), jnp.array([1, 2, 3, 9]))
    selected = Selected(jnp.array([1]), jnp.array([0]), jnp.array([False]))
    inherited = fitness.inherit(record, selected, migrants=2, memory=5)
    np.testing.assert_allclose(inherited.mean, [0.2, 0.0, 0.3, 0.4])
    assert inherited.age.tolist() == [2, 0, 3, 4]


def test_of_teams_of_one_age_the_fittest_is_champion():
    assert champion(FitnessRecord(jnp.array([0.3, 0.9, 0.1, 0.5]), jnp.array([2, 2, 2, 2]))) == 1


def test_to_be_champion_a_young_team_needs_a_higher_mean_than_an_old_one():
    assert champion(FitnessRecord(jnp.array([0.80, 0.81, 0.0]), jnp.array([10, 1, 1]))) == 0
    assert champion(FitnessRecord(jnp.array([0.60, 0.81, 0.0]), jnp.array([10, 1, 1]))) == 1


def test_with_more_caution_a_young_team_needs_a_still_higher_mean():
    record = FitnessRecord(jnp.array([0.60, 0.81, 0.0]), jnp.array([10, 1, 1]))
    assert champion(record, caution=1.0) == 1
    assert champion(record, caution=5.0) == 0


def test_only_a_candidate_becomes_champion():
    record = FitnessRecord(jnp.array([0.3, 0.9, 0.1, 0.5]), jnp.array([2, 2, 2, 2]))
    assert champion(record, candidates=(2, 3)) == 3


def test_a_fitness_that_is_no_number_spoils_no_other_team():
    assert champion(FitnessRecord(jnp.array([0.3, jnp.nan, 0.5]), jnp.array([1, 1, 1]))) == 2


def drawn(same: bool):
    """A number for each instance that three teams play."""
    keys = Fitness(episodes=4, same_instances=same).keys(jax.random.key(0), 3)
    return np.asarray(jax.random.key_data(keys)).reshape(3, 4, -1)[..., -1]


def test_every_team_has_episodes_of_its_own():
    assert len(np.unique(drawn(same=False))) == 3 * 4


def test_all_teams_may_play_the_same_instances():
    numbers = drawn(same=True)
    assert len(np.unique(numbers[0])) == 4
    assert (numbers == numbers[:1]).all()


def test_a_broken_team_is_counted_and_spoils_neither_the_best_nor_the_mean():
    info = fitness.describe(jnp.array([0.5, jnp.nan, 1.0]))
    assert (float(info.best_fitness), float(info.mean_fitness), int(info.broken_teams)) == (1.0, 0.75, 1)
    np.testing.assert_array_equal(info.fitness, [0.5, np.nan, 1.0])


@pytest.mark.parametrize("name", ["episodes", "memory"])
def test_a_bad_setting_is_refused_in_one_sentence(name):
    with pytest.raises(UserError, match=f"{name} is 0; make it a whole number of at least 1."):
        dataclasses.replace(Fitness(), **{name: 0})
