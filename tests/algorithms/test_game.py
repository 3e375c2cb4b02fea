"""What every algorithm promises; the registry feeds these tests, so a new algorithm is tested for free."""

import functools
import re
import types
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from merlax.algorithms import Game, Seat, game, presets
from merlax.core import devices, records, rollout
from merlax.core.networks import TeamPolicy
from merlax.core.players import PolicyPlayer
from merlax.core.rollout import Field
from tests.probes.darts import Darts
from tests.support.own import RandomSearch
from tests.support.tiny import make
from tests.support.trees import copy, same

EXCHANGE = re.compile(r" (all-reduce|all-gather|all-to-all|collective-permute|reduce-scatter)\(")

# Each compiles a whole generation of its own, so that `make quick` asks one only.
every_algorithm = pytest.mark.parametrize(
    "name", [name if name == "ea" else pytest.param(name, marks=pytest.mark.slow) for name in presets.names()]
)


@functools.cache
def trained(name: str) -> Any:
    """Two generations, as numbers that no later step uses up."""
    game = make(name)
    fresh = game.init(jax.random.key(0))
    first, generation = game.step(jax.random.key(2), copy(fresh))
    second, _ = game.step(jax.random.key(3), copy(first))
    return types.SimpleNamespace(game=game, fresh=fresh, first=first, generation=generation, second=second)


def players(run: Any, state: Any) -> Any:
    return run.game.algorithm.players(state.team)


@pytest.mark.slow
@every_algorithm
def test_the_champion_plays_its_world(name):
    run = trained(name)
    (side,) = run.game.env.sides
    for state in (run.fresh, run.first, run.second):
        champion = run.game.champion(state)
        assert isinstance(champion, TeamPolicy)
        actions = champion(jnp.zeros((side.num_agents, side.obs_size)))
        assert actions.shape == (side.num_agents, side.act_size)
        assert (np.abs(actions) <= 1.0).all()


@every_algorithm
def test_a_generation_leaves_a_state_of_the_same_shape(name):
    run = trained(name)
    form = lambda state: jax.tree.map(lambda leaf: (leaf.shape, leaf.dtype, leaf.sharding), state)  # noqa: E731
    assert form(run.fresh) == form(run.first) == form(run.second)


@every_algorithm
def test_generations_are_compiled_once(name):
    run = trained(name)
    compiled: tuple[Any, ...] = game._compiled_learn, game._compiled_play, game._compiled_practise
    programs = lambda: [program._cache_size() for program in compiled]  # noqa: E731
    state, before = copy(run.second), programs()
    for generation in range(3):
        state, _ = run.game.step(jax.random.key(generation), state)
    assert programs() == before


@every_algorithm
def test_every_generation_learns(name):
    run = trained(name)
    assert not same(players(run, run.fresh), players(run, run.first))
    assert not same(players(run, run.first), players(run, run.second))
    updates = [column.value for column in records.columns(run.generation.team.info) if column.name == "updates"]
    assert 0 not in updates


@every_algorithm
def test_the_same_key_gives_the_same_numbers_and_another_key_others(name):
    run = trained(name)
    again, other = (run.game.init(jax.random.key(seed)) for seed in (0, 1))
    assert same(again, run.fresh)
    assert not same(run.game.champion(other), run.game.champion(run.fresh))
    again, other = (run.game.step(jax.random.key(seed), copy(run.first))[0] for seed in (3, 4))
    assert same(again, run.second)
    assert not same(players(run, other), players(run, run.second))


@every_algorithm
def test_a_generation_uses_up_the_state_before_it(name):
    """But for what it does not read, such as the last champion: large parts are never in memory twice."""
    run = trained(name)
    state = copy(run.first)
    large = players(run, state), getattr(state.team, "buffer", None)
    run.game.step(jax.random.key(3), state)
    assert all(leaf.is_deleted() for leaf in jax.tree.leaves(large))


@every_algorithm
def test_every_number_is_finite(name):
    run = trained(name)
    begins = players(run, run.fresh), run.game.champion(run.fresh)  # evosax knows no best team yet: nan
    for leaf in jax.tree.leaves((begins, run.first, run.second, run.generation)):
        assert np.isfinite(leaf).all()


@every_algorithm
def test_a_generation_says_that_its_state_and_its_world_are_finite(name):
    run = trained(name)
    parts = records.finite_parts(run.first.team)
    assert run.generation.team.finite.tolist() == [True] * (1 + len(parts))
    assert run.generation.fault.tolist() == [False] * len(rollout.FAULTS)


@every_algorithm
def test_a_generation_says_that_its_state_has_broken(name):
    run = trained(name)
    spoil = lambda leaf: jnp.full_like(leaf, jnp.nan) if eqx.is_inexact_array(leaf) else jnp.copy(leaf)  # noqa: E731
    _, generation = run.game.step(jax.random.key(3), jax.tree.map(spoil, run.first))
    assert not generation.team.finite.all()


@every_algorithm
def test_what_a_generation_reports_is_a_record_whose_every_number_is_written_down(name):
    info = trained(name).generation.team.info
    assert isinstance(info, eqx.Module)
    columns = records.columns(info)
    assert len(columns) == len(jax.tree.leaves(info)) > 0
    assert all(column.is_finite for column in columns)


@every_algorithm
def test_where_there_is_no_opponent_nothing_is_said_of_one(name):
    run = trained(name)
    assert run.first.opponent is None
    assert run.generation.opponent is None
    assert run.game.opponent_player(run.first) is None
    assert run.game.field(run.first).opponents == ()


@every_algorithm
def test_frames_are_the_steps_really_played(name):
    """An episode of this world ends after 3 or 4 steps, though its horizon is 5."""
    run = trained(name)
    most = run.game.frames_per_generation()
    episodes = most // run.game.env.horizon
    assert episodes * run.game.env.horizon == most
    assert 3 * episodes < int(run.generation.frames) < 4 * episodes
    if hasattr(run.first.team, "buffer"):
        assert int(run.first.team.buffer.size.sum()) == int(run.generation.frames)


@every_algorithm
def test_the_champion_outlives_the_state_that_a_generation_uses_up(name):
    """As in `runs.loop`: the champion is fetched before the next generation takes the state's memory."""
    run = trained(name)
    state = copy(run.first)
    champion = jax.device_get(run.game.champion(state))
    test = lambda: rollout.play_test(jax.random.key(5), Field(run.game.env), PolicyPlayer(champion), 4)  # noqa: E731
    before = np.asarray(test().fitness)
    run.game.step(jax.random.key(6), state)
    np.testing.assert_array_equal(test().fitness, before)
    assert same(champion, run.game.champion(run.first))


@every_algorithm
def test_all_devices_take_part(name):
    run = trained(name)
    assert run.game.algorithm.num_shards(Seat(run.game.env)) == jax.device_count() == 2
    for leaf in jax.tree.leaves(run.second):
        assert len(leaf.sharding.device_set) == 2


def test_a_game_is_equal_to_another_of_the_same_parts():
    """So that whoever makes it again finds its programs compiled."""
    assert make("merl") == make("merl")
    assert hash(make("merl")) == hash(make("merl"))
    assert make("merl") != make("ea")
    assert Game(make("ea").env, make("merl").algorithm) != make("merl")


@every_algorithm
def test_a_generation_in_pieces_is_the_same_generation(name):
    run = trained(name)
    state, key = run.game.begin(jax.random.key(3), copy(run.first)), jax.random.key(3)
    done, due = run.game.rounds(state)
    assert (done, due > 0) == (0, name not in ("ea", "es"))
    for most in (0, 1, 2, 10**6):
        state = run.game.practise(key, state, most)
        done = min(due, done + most)
        assert run.game.rounds(state) == (done, due)
    concluded, _ = run.game.conclude(key, state)
    assert same(concluded, run.second)


@every_algorithm
def test_a_state_within_a_generation_is_like_midway(name):
    run = trained(name)
    within = run.game.begin(jax.random.key(3), copy(run.first))
    form = lambda state: jax.tree.map(lambda leaf: (leaf.shape, leaf.dtype, leaf.sharding), state)  # noqa: E731
    if name not in ("ea", "es"):
        assert form(run.game.midway(run.first)) == form(within)


@every_algorithm
def test_what_follows_the_rollouts_exchanges_nothing_between_devices(name):
    """Exchanges that do not wait for each other may come in another order on another device, and hang."""
    run, seat = trained(name), Seat(make(name).env)
    state = run.game.begin(jax.random.key(3), copy(run.first))
    key = devices.spread(run.game.algorithm.num_shards(seat), jax.random.key(3))
    own = game._nearby(run.game.algorithm, seat, state.played)
    program = game._compiled_learn.lower(run.game.algorithm, seat, key, state.team, own).compile()
    assert EXCHANGE.findall(str(program.as_text())) == []


def test_what_the_frames_of_a_generation_are_counted_with_is_not_traced_again():
    traced = []

    class Watched(RandomSearch):
        def play(self, *args, **kwargs):
            traced.append(args)
            return super().play(*args, **kwargs)

    game = Game(Darts("team"), Watched())
    assert game.frames_per_generation() > 0
    game.step(jax.random.key(1), game.init(jax.random.key(0)))
    assert len(traced) == 1
