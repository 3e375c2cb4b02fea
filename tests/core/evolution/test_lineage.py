"""Who came from whom."""

import jax
import jax.numpy as jnp

from merlax.core.evolution import operators
from merlax.core.evolution.operators import GaussianMutation, SinglePointCrossover
from merlax.core.evolution.selection import Selected

TEAMS = {"a": jnp.arange(40.0).reshape(5, 8)}
SELECTED = Selected(jnp.array([3, 1]), jnp.array([2, 2]), jnp.array([False, True]))


def family(mutation):
    crossover = SinglePointCrossover()
    return operators.evolve(jax.random.key(0), TEAMS, SELECTED, crossover, mutation, migrants=2)


def test_elites_winners_children_and_migrants_have_their_parents():
    teams, lineage = family(GaussianMutation(probability=0.0))
    first, second = lineage.first_parents.tolist(), lineage.second_parents.tolist()
    assert first[:3] == second[:3] == [3, 1, 2]  # elites, and a winner that was not crossed
    assert first[3] in (3, 1)  # a duplicate makes room for a child of an elite and a winner
    assert second[3] == 2
    assert first[4:] == second[4:] == [-1, -2]
    child = teams["a"][3]
    assert set(child.tolist()) <= set(TEAMS["a"][jnp.array([first[3], 2])].reshape(-1).tolist())


def test_only_a_team_that_changed_is_mutated():
    assert family(GaussianMutation(probability=0.0))[1].mutated.tolist() == [0] * 6
    assert family(GaussianMutation(probability=1.0, fraction=1.0))[1].mutated.tolist() == [0, 0, 1, 1, 0, 0]
