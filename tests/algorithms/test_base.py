"""The contract of an algorithm, kept by one of a user's own."""

import dataclasses

import jax
import numpy as np
import pytest

from merlax.algorithms import Algorithm, Game, Seat, presets
from merlax.core import devices, records
from merlax.types import UserError
from tests.probes.darts import Darts
from tests.probes.tag import Tag
from tests.support.own import RandomSearch
from tests.support.tiny import tiny
from tests.support.trees import copy, same


def test_a_seat_is_one_side_of_its_world():
    assert Seat(Tag()).side == Tag().sides[0]
    assert Seat(Tag(), 1).side == Tag().sides[1]


def test_a_world_that_states_no_reward_bounds_has_1_for_both():
    @dataclasses.dataclass(frozen=True)
    class Bounded(Darts):
        reward_bounds: tuple[float, float] = (5.0, 4.0)

    assert Seat(Darts("team")).reward_bounds == (1.0, 1.0)
    assert Seat(Bounded("team")).reward_bounds == (5.0, 4.0)


def test_what_lacks_a_part_of_the_contract_is_no_algorithm():
    @dataclasses.dataclass(frozen=True)
    class Unfinished(Algorithm):
        def players(self, state):
            return state

    with pytest.raises(TypeError, match="abstract"):
        Unfinished()  # pyright: ignore[reportAbstractUsage]


@pytest.mark.parametrize("name", presets.names())
def test_equal_settings_make_equal_algorithms(name):
    """Compiled programs are found by them."""
    assert tiny(name) == tiny(name)
    assert hash(tiny(name)) == hash(tiny(name))


def test_an_algorithm_of_ones_own_refuses_what_its_fields_do_not_allow():
    with pytest.raises(UserError, match="episodes is 0; make it a whole number of at least 1"):
        RandomSearch(episodes=0)


def test_an_algorithm_of_ones_own_has_all_of_its_state_as_players_and_all_devices():
    algorithm = RandomSearch()
    state = object()
    assert algorithm.players(state) is state
    assert algorithm.num_shards(Seat(Darts("team"))) == devices.count() == 2


def test_a_game_drives_an_algorithm_of_ones_own():
    game = Game(Darts("team"), RandomSearch(episodes=3))
    state, scores, champions = game.init(jax.random.key(0)), [], []
    for generation in range(6):
        candidate = copy(state.team.candidate)
        state, told = game.step(jax.random.key(generation), state)
        assert told.team.finite.all()
        assert 3 * 3 <= int(told.frames) <= 3 * 4 < game.frames_per_generation() == 3 * 5
        scores.append([float(column.value) for column in records.columns(told.team.info)])
        champions.append((candidate, copy(game.champion(state))))
    tried, known = np.array(scores).T
    np.testing.assert_array_equal(known, np.maximum.accumulate(tried))
    candidates = [candidate for candidate, _ in champions]
    for generation, (_, champion) in enumerate(champions):
        assert same(champion, candidates[int(tried[: generation + 1].argmax())])
    assert len(set(tried)) > 1
