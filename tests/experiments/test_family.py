"""A champion's family from rows alone."""

import numpy as np
import pytest

from merlax.experiments import family


def rows(*told):
    """Each: champion, first parents, second parents, mutated."""
    names = ("champion_team", "first_parents", "second_parents", "mutated")
    columns = dict(zip(names, (np.array(own, object) for own in zip(*told, strict=True)), strict=True))
    return columns | {"generation": np.arange(1.0, len(told) + 1)}


def test_a_champion_that_was_there_from_the_start_comes_from_the_first_population():
    found = family.family(rows((0, "0 1 -1", "0 1 -1", "0 0 0"), (0, "0 1 -1", "0 1 -1", "0 0 0")), ["learner"])
    assert found is not None
    assert found.shares == {family.FIRST: 1.0}
    assert (found.mutations, found.crossovers) == (0.0, 0.0)
    assert [(node.born, node.until) for node in found.nodes] == [(1, 2)]


def test_a_child_is_half_of_each_parent_and_migrants_are_followed_no_further():
    told = rows(
        (0, "0 1 -1", "0 1 -1", "0 0 0"),
        (0, "0 2 -1", "0 2 -1", "0 1 0"),  # the migrant of generation 2 goes on, mutated
        (0, "0 0 -1", "0 1 -1", "0 0 0"),  # and is crossed with the elite
        (1, "1 1 -1", "1 1 -1", "0 0 0"),
    )
    found = family.family(told, ["learner"])
    assert found is not None
    assert found.shares == {family.FIRST: 0.5, "learner": 0.5}
    assert (found.crossovers, found.mutations, found.generations) == (1.0, 0.5, 4)
    champion = found.nodes[0]
    assert (champion.kind, champion.born, champion.until, len(champion.parents)) == ("crossover", 4, 4, 2)
    assert sorted(node.kind for node in found.nodes) == sorted(["crossover", "mutation", "learner", family.FIRST])


def test_a_learners_first_team_is_a_migrant_too():
    found = family.family(rows((2, "2 1 -1", "2 1 -1", "0 0 0")), ["learner"])
    assert found is not None
    assert found.shares == {"learner": 1.0}


def test_a_tree_has_a_bound_but_shares_count_all_of_it():
    told = rows(*[(0, "0 1", "1 0", "1 1")] * 200)
    found = family.family(told, [])
    assert found is not None
    assert len(found.nodes) == family.MOST_NODES
    assert found.shares[family.FIRST] == pytest.approx(1.0)
    assert found.mutations == pytest.approx(199.0)


@pytest.mark.parametrize("broken", ["0 x -1", "", "9 9 9"])
def test_rows_that_no_run_writes_tell_nothing(broken):
    assert (
        family.family(rows((0, "0 1", "0 1", "0 0"), (0, broken, "0 1", "0 0"), (0, "0 1", "0 1", "0 0")), []) is None
    )
    assert family.family({"generation": np.arange(3.0)}, []) is None


def test_migrants_are_named_in_the_order_of_their_slots():
    assert family.migrants_of({"learners": [{}], "tuning": {"pairs": 0}}) == ["learner"]
    assert family.migrants_of({"learners": [{}, {}], "tuning": {"pairs": 8}}) == [
        "tuned team",
        "learner 1",
        "learner 2",
    ]
    assert family.migrants_of({}) == []
