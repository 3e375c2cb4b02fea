"""What is known of each team's fitness over the generations."""

import jax
import jax.numpy as jnp
import numpy as np

from merlax.core import evolution
from merlax.core.evolution import Record, Selection

rank = jax.jit(lambda fitness: evolution.rank(jax.random.key(0), fitness))
remember = jax.jit(evolution.remember, static_argnames="memory")


def after(generations, memory):
    record = evolution.new_record(len(generations[0]))
    for fitness in generations:
        record = remember(record, jnp.array(fitness), memory=memory)
    return record


def test_with_memory_1_only_the_newest_fitness_counts():
    record = after([(1.0, 5.0), (0.1, 0.7)], memory=1)
    np.testing.assert_array_equal(record.mean, np.float32([0.1, 0.7]))


def test_within_memory_the_record_is_the_mean():
    np.testing.assert_allclose(after([(1.0, 0.0), (0.4, 0.6), (0.1, 0.3)], memory=5).mean, [0.5, 0.3], rtol=1e-5)


def test_the_age_never_exceeds_the_memory():
    assert after([(0.0, 0.0)] * 4, memory=3).age.tolist() == [3, 3]


def test_elites_take_their_record_along_and_everyone_else_starts_anew():
    record = Record(jnp.array([0.1, 0.2, 0.3, 0.4]), jnp.array([1, 2, 3, 4]))
    selection = Selection(jnp.array([3, 1]), jnp.array([0]), jnp.array([False]))
    inherited = evolution.inherit(record, selection)
    np.testing.assert_allclose(inherited.mean, [0.4, 0.2, 0.0, 0.0])
    assert inherited.age.tolist() == [4, 2, 0, 0]


def test_teams_of_one_age_are_ranked_by_their_mean():
    record = Record(jnp.array([0.3, 0.9, 0.1, 0.5]), jnp.array([2, 2, 2, 2]))
    assert rank(evolution.judge(record)).tolist() == [1, 3, 0, 2]


def test_a_young_team_needs_a_higher_mean_than_an_old_one():
    record = Record(jnp.array([0.80, 0.81, 0.0]), jnp.array([10, 1, 1]))
    assert rank(evolution.judge(record))[0] == 0


def test_a_fitness_that_is_no_number_spoils_no_other_teams_judgement():
    record = Record(jnp.array([0.3, jnp.nan, 0.5]), jnp.array([1, 1, 1]))
    judged = evolution.judge(record)
    assert np.isfinite(judged[jnp.array([0, 2])]).all()
    assert rank(judged).tolist() == [2, 0, 1]
