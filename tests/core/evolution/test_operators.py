"""How offspring are made: crossover, mutation, and the next generation of all."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from merlax.core.evolution import operators
from merlax.core.evolution.operators import Crossover, GaussianMutation, Mutation, SinglePointCrossover
from merlax.core.evolution.selection import Selected
from merlax.types import UserError

TRIALS = 2000
CROSSOVER = SinglePointCrossover()
DEFAULT = GaussianMutation()
NEVER = GaussianMutation(probability=0.0)
ALWAYS = GaussianMutation(probability=1.0)
PLAIN = GaussianMutation(fraction=1.0, super_probability=0.0, reset_probability=0.0)


@functools.cache
def evolver(mutation: Mutation, crossover: Crossover):
    def one(seed, population, selected):
        return operators.evolve(jax.random.key(seed), population, selected, crossover, mutation)[0]

    return jax.jit(one)


def evolve(
    population, elites, winners, duplicate, seed=0, mutation: Mutation = NEVER, crossover: Crossover = CROSSOVER
):
    selected = Selected(jnp.array(elites), jnp.array(winners), jnp.array(duplicate))
    return jax.tree.map(np.asarray, evolver(mutation, crossover)(seed, population, selected))


def numbered(population=10):
    """Team i is made of the number i alone, in two leaves."""
    number = jnp.arange(float(population))
    return {"a": jnp.tile(number[:, None, None], (1, 4, 3)), "b": jnp.tile(number[:, None], (1, 5))}


def flat(population):
    return np.concatenate([leaf.reshape(leaf.shape[0], -1) for leaf in jax.tree.leaves(population)], axis=1)


@functools.cache
def mutator(mutation):
    return jax.jit(lambda seed, genome: mutation.mutate(jax.random.key(seed), genome))


def mutated(mutation, value=100.0, size=50_000):
    """What became of many weights of the same value."""
    return np.asarray(mutator(mutation)(0, {"w": jnp.full(size, value)})["w"])


def test_crossover_takes_the_first_parents_beginning_and_the_seconds_end():
    first, second = (jax.tree.map(lambda leaf, i=i: leaf[i], numbered()) for i in (1, 2))
    cross = jax.jit(jax.vmap(lambda seed: CROSSOVER(jax.random.key(seed), first, second)))
    children = flat(cross(np.arange(400)))
    cuts = (children == 1).sum(axis=1)
    assert (children == np.where(np.arange(17) < cuts[:, None], 1, 2)).all()
    assert sorted(np.unique(cuts)) == list(range(1, 17))


def test_mutation_changes_the_given_share_of_the_weights():
    assert (mutated(DEFAULT) != 100.0).mean() == pytest.approx(0.1, abs=0.006)


def test_a_plain_mutation_has_the_given_strength():
    change = mutated(PLAIN) - 100.0
    assert change.std() == pytest.approx(0.1, rel=0.02)
    assert abs(change.mean()) < 0.002


def test_a_super_mutation_is_its_factor_times_as_strong():
    every = dataclasses.replace(PLAIN, super_probability=1.0)
    assert (mutated(every) - 100.0).std() == pytest.approx(1.0, rel=0.02)


def test_super_mutations_hit_their_share_of_the_mutated_weights():
    some = dataclasses.replace(PLAIN, super_probability=0.05, super_factor=1e4)
    assert (np.abs(mutated(some) - 100.0) > 1.0).mean() == pytest.approx(0.05, abs=0.005)


def test_a_reset_draws_from_the_normal_distribution_whatever_the_weight_was():
    every = dataclasses.replace(PLAIN, reset_probability=1.0)
    drawn = mutated(every)
    assert (drawn.mean(), drawn.std()) == (pytest.approx(0.0, abs=0.02), pytest.approx(1.0, rel=0.02))


def test_resets_hit_their_share_of_the_mutated_weights():
    drawn = mutated(DEFAULT)
    assert (drawn[drawn != 100.0] < 50.0).mean() == pytest.approx(0.05, abs=0.012)


def test_equal_leaves_receive_different_noise():
    genome = {"a": jnp.zeros((3, 5)), "b": jnp.zeros((3, 5))}
    changed = mutator(PLAIN)(0, genome)
    assert (changed["a"] != changed["b"]).all()


def test_a_team_is_mutated_with_the_given_probability():
    rarely = dataclasses.replace(PLAIN, probability=0.3)
    maybe = jax.jit(jax.vmap(lambda seed: rarely(jax.random.key(seed), jnp.zeros(4))))
    teams = np.asarray(maybe(np.arange(5000)))
    assert ((teams != 0).all(axis=1) | (teams == 0).all(axis=1)).all()
    assert (teams != 0).all(axis=1).mean() == pytest.approx(0.3, abs=0.03)


def test_elites_survive_unchanged_in_the_first_slots():
    teams = flat(evolve(numbered(), [7, 2, 5, 0], [1, 3, 4, 6, 8], [False] * 5, mutation=ALWAYS))
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
    selected = Selected(jnp.array([7, 2]), jnp.array([1, 1, 1, 1, 3]), jnp.array([False, True, True, True, False]))
    draw = jax.jit(jax.vmap(lambda seed: operators.parents(jax.random.key(seed), selected)))
    elite, winner = map(np.asarray, draw(np.arange(TRIALS)))
    assert (elite == 7).mean() == pytest.approx(0.5, abs=0.03)
    assert (winner == 3).mean() == pytest.approx(0.5, abs=0.03)


def test_offspring_are_mutated_independently():
    always = dataclasses.replace(PLAIN, probability=1.0)
    same = {"a": jnp.zeros((10, 6))}
    teams = evolve(same, [0, 1, 2, 3], [4, 5, 6, 7, 8], [False] * 5, mutation=always)["a"]
    assert len(np.unique(teams[4:9])) == 30


def negate(key, genome):
    del key
    return jax.tree.map(jnp.negative, genome)


@dataclasses.dataclass(frozen=True)
class Shift:
    """A mutation with a setting, of a class that merlax does not know."""

    by: float

    def __call__(self, key, genome):
        del key
        return jax.tree.map(lambda w: w + self.by, genome)


@pytest.mark.parametrize(("mutation", "expected"), [(negate, [-1, -3]), (Shift(0.5), [1.5, 3.5])])
def test_a_mutation_of_a_users_own_is_any_callable(mutation, expected):
    assert isinstance(mutation, Mutation)
    teams = flat(evolve(numbered(), [7, 2], [1, 3], [False] * 2, mutation=mutation))
    assert teams[:, 0].tolist() == [7, 2, *expected]
    assert teams.min(axis=1).tolist() == teams.max(axis=1).tolist()


def take_the_second(key, first, second):
    del key, first
    return second


def test_a_crossover_of_a_users_own_is_any_callable():
    assert isinstance(take_the_second, Crossover)
    teams = flat(evolve(numbered(), [7], [1, 1, 1], [False, True, True], crossover=take_the_second))
    assert (teams == np.array([[7], [1], [1], [1]])).all()


def test_the_last_slot_is_the_migrants_and_holds_an_exact_copy():
    migrant = {"a": jnp.full((4, 3), 0.1), "b": jnp.full(5, 0.2)}
    population = operators.migrate(numbered(), migrant)
    jax.tree.map(lambda teams, team: np.testing.assert_array_equal(teams[-1], team), population, migrant)
    np.testing.assert_array_equal(flat(population)[:-1], flat(numbered()))


def test_several_migrants_join_in_their_order():
    first, second = (jax.tree.map(lambda leaf, i=i: leaf[i], numbered()) for i in (7, 2))
    assert flat(operators.migrate(numbered(3), first, second))[:, 0].tolist() == [0, 1, 2, 7, 2]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"probability": 1.5}, "probability is 1.5"),
        ({"fraction": -0.1}, "fraction is -0.1"),
        ({"super_probability": 0.6, "reset_probability": 0.6}, "add up to more than 1"),
        ({"strength": float("nan")}, "strength is nan"),
        ({"super_factor": float("inf")}, "super_factor is inf"),
    ],
)
def test_a_bad_setting_is_refused_in_one_sentence(options, says):
    with pytest.raises(UserError, match=says) as error:
        GaussianMutation(**options)
    assert str(error.value).endswith(".")
