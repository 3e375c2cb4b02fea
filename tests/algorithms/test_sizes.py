"""The sums are held against what the algorithms really make."""

import dataclasses

import jax
import pytest

from merlax import envs
from merlax.algorithms import Algorithm, Game, Seat, presets, sizes
from merlax.algorithms.opponents import FixedOpponent
from merlax.core.players import ScriptedPlayer
from tests.support.own import RandomSearch

WORLDS = ("rover-1", "predator-prey")
TRACED_STATE, TRACED_ROLLOUTS = (each.dispatch(Algorithm) for each in (sizes.of_state, sizes.of_rollouts))


def game(world: str, algorithm: str) -> Game:
    env = envs.make(world)
    opponent = presets.opponent("fast", world) if len(env.sides) > 1 else None
    return Game(env, presets.preset("fast", world, algorithm), opponent)


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("algorithm", presets.BUILT_IN)
def test_a_state_has_the_size_that_is_told(world, algorithm):
    one = game(world, algorithm)
    seats = [(one.algorithm, Seat(one.env, 0))] + ([(one.opponent, Seat(one.env, 1))] if one.opponent else [])
    for method, seat in seats:
        told = sizes.of_state(method, seat)
        held = told.population + told.learners + told.buffers
        assert held == pytest.approx(TRACED_STATE(method, seat).others, rel=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("algorithm", presets.BUILT_IN)
def test_rollouts_have_the_size_that_is_told(world, algorithm):
    one = game(world, algorithm)
    told = sizes.of_rollouts(one.algorithm, one)
    assert told.rollouts == pytest.approx(TRACED_ROLLOUTS(one.algorithm, one).rollouts, rel=0.15)


def test_several_learners_share_a_buffer_and_nothing_else():
    one = game("rover-1", "merl")
    two = dataclasses.replace(one.algorithm, learners=2 * one.algorithm.learners)  # type: ignore[attr-defined]
    alone, both = sizes.sizes(one), sizes.sizes(dataclasses.replace(one, algorithm=two))
    assert (both.learners, both.buffers) == (2 * alone.learners, alone.buffers)
    assert both.rollouts > alone.rollouts


def test_an_opponent_that_does_not_learn_takes_next_to_nothing():
    learning = game("predator-prey", "ea")
    fixed = dataclasses.replace(learning, opponent=FixedOpponent(ScriptedPlayer(1)))
    told, with_opponent = sizes.sizes(fixed), sizes.sizes(learning)
    assert (told.buffers, told.learners, told.others) == (0, 0, 0)
    assert with_opponent.buffers > 0
    assert with_opponent.rollouts > 10 * told.rollouts  # whose transitions nobody keeps


def test_an_algorithm_of_the_users_own_is_traced():
    one = Game(envs.make("rover-1"), RandomSearch(episodes=7))
    state = jax.eval_shape(lambda key: one.init(key).team, jax.random.key(0))
    told = sizes.sizes(one)
    assert told.others == sizes.num_numbers(state)
    assert told.rollouts >= 7 * one.env.horizon
