"""What follows from the fields of a record: columns, and what must be finite."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array, Float, Int

from merlax.core import records
from merlax.core.records import MAY_BREAK, names


class Learning(eqx.Module):
    loss: Float[Array, ""]
    updates: Int[Array, ""]


class Learner(eqx.Module):
    score: Float[Array, ""] = eqx.field(metadata=MAY_BREAK)
    fate: Int[Array, ""] = eqx.field(metadata=names(("discarded", "elite")))
    learning: Learning


class Info(eqx.Module):
    best: Float[Array, ""]
    fitness: Float[Array, " pop"] = eqx.field(metadata=MAY_BREAK)
    learners: tuple[Learner, ...]
    seldom: Float[Array, ""] | None = None


def learner(loss=0.5, fate=1, score=2.0) -> Learner:
    return Learner(jnp.array(score), jnp.array(fate), Learning(jnp.array(loss), jnp.array(3)))


def info(*learners, best=1.0, fitness=(0.0, 1.0), seldom=None) -> Info:
    return Info(jnp.array(best), jnp.array(fitness), learners, None if seldom is None else jnp.array(seldom))


def values(record, prefix=""):
    return {column.name: column.value for column in records.columns(record, prefix)}


def test_columns_are_all_numbers_of_a_nested_record_in_the_order_of_its_fields():
    assert [column.name for column in records.columns(info(learner()))] == [
        "best", "fitness", "score", "fate", "loss", "updates"
    ]  # fmt: skip


def test_the_columns_of_a_second_learner_end_in_2():
    assert list(values(info(learner(), learner())))[6:] == ["score_2", "fate_2", "loss_2", "updates_2"]
    assert values(info(learner(loss=0.5), learner(loss=0.25)))["loss_2"] == 0.25


def test_a_field_that_holds_nothing_has_no_column():
    assert "seldom" not in values(info(learner()))
    assert values(info(learner(), seldom=4.0))["seldom"] == 4.0


def test_a_number_is_plain_and_a_row_of_them_stays_a_row():
    found = values(info(learner()))
    assert (found["updates"], type(found["updates"])) == (3, int)
    assert (found["best"], type(found["best"])) == (1.0, float)
    np.testing.assert_array_equal(found["fitness"], [0.0, 1.0])


def test_an_index_of_names_is_written_as_the_name():
    assert [values(info(learner(fate=fate)))["fate"] for fate in (0, 1)] == ["discarded", "elite"]


def test_a_prefix_stands_before_every_name():
    assert all(name.startswith("opponent_") for name in values(info(learner()), "opponent_"))


def test_two_fields_of_one_name_are_refused():
    class Twice(eqx.Module):
        loss: Float[Array, ""]
        learning: Learning

    with pytest.raises(AssertionError, match="two fields of one name"):
        records.columns(Twice(jnp.array(1.0), learner().learning))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_column_must_be_finite_unless_its_field_may_break(bad):
    broken = info(learner(loss=bad, score=bad), fitness=(0.0, bad))
    found = {column.name: column for column in records.columns(broken)}
    assert {name for name, column in found.items() if not column.is_finite} == {"fitness", "score", "loss"}
    assert {name for name, column in found.items() if column.must_be_finite} == {"best", "loss", "updates"}


# Which parts of a state are finite.


class Networks(eqx.Module):
    actor: dict[str, Float[Array, "..."]]
    critics: tuple[Float[Array, "..."], ...]
    rounds: Int[Array, ""]


class State(eqx.Module):
    population: Float[Array, "..."] = eqx.field(metadata=MAY_BREAK)
    learners: tuple[Networks, ...]
    champion: Float[Array, "..."]


def networks(actor=1.0, critic=1.0) -> Networks:
    deep = {"trunk": jnp.ones(2), "heads": jnp.array([1.0, actor])}
    return Networks(deep, (jnp.ones(3), jnp.array([[critic]])), jnp.array(4))


def state(*learners, population=1.0, champion=1.0) -> State:
    return State(jnp.array([population]), learners, jnp.array(champion))


def broken(state):
    return {name for name, fine in records.finite_parts(state).items() if not fine}


def test_a_weight_that_is_not_finite_is_found_where_it_is():
    assert broken(state(networks(), networks())) == set()
    assert broken(state(networks(critic=jnp.inf), networks())) == {"learners.0.critics"}
    assert broken(state(networks(), networks(actor=jnp.nan))) == {"learners.1.actor"}
    assert broken(state(networks(), champion=-jnp.inf)) == {"champion"}


def test_a_part_that_may_break_is_not_looked_at():
    assert broken(state(networks(), population=jnp.nan)) == set()
    assert "population" not in records.finite_parts(state(networks()))


class Outer(eqx.Module):
    inner: "State | Outer"


def test_a_part_may_break_however_deep_it_lies():
    sick = state(networks(), population=jnp.nan)
    assert broken(Outer(sick)) == broken(Outer(Outer(sick))) == set()


def test_a_part_goes_by_two_names_however_deep_it_lies():
    sick = state(networks(critic=jnp.nan))
    assert broken(Outer(sick)) == {"inner.learners"}
    assert broken(Outer(Outer(sick))) == {"inner.inner"}


def test_a_part_without_weights_has_no_flag():
    assert set(records.finite_parts(state(networks()))) == {"learners.0.actor", "learners.0.critics", "champion"}


def test_a_new_field_of_a_state_is_found():
    class Larger(State):
        memory: Float[Array, "..."]

    larger = Larger(jnp.ones(1), (networks(),), jnp.ones(()), memory=jnp.array(jnp.nan))
    assert broken(larger) == {"memory"}


def test_the_flags_are_the_parts_after_one_that_is_always_true():
    sick = state(networks(critic=jnp.nan))
    flags = jax.jit(records.finite_flags)(sick)
    assert flags.tolist() == [True, *(bool(fine) for fine in records.finite_parts(sick).values())]
    assert not flags.all()


def test_a_state_without_weights_is_finite():
    assert records.finite_flags(()).tolist() == [True]
