"""Every algorithm can begin with a policy: its champion, its learners and its population are that policy's."""

import dataclasses

import jax
import numpy as np
import pytest

from merlax.algorithms import Algorithm, Game, presets
from merlax.core.evolution.tuning import Tuning
from merlax.core.networks import TeamPolicy, untuned, without_gains
from merlax.types import UserError
from tests.support.own import RandomSearch
from tests.support.tiny import tiny, world
from tests.support.trees import member, same
from tests.support.weights import weights


def policy(name: str, *, tuned: bool) -> TeamPolicy:
    side = world(name).sides[0]
    dress = untuned if tuned else lambda policy: policy
    return weights(lambda key: dress(TeamPolicy(key, side, (16,))))


def begun(name: str, own: TeamPolicy, algorithm: Algorithm | None = None):
    game = Game(world(name), algorithm or tiny(name), policy=own)
    return game, game.init(jax.random.key(0))


@pytest.mark.slow
@pytest.mark.parametrize("name", presets.names())
def test_the_first_champion_is_the_policy(name):
    own = policy(name, tuned=False)
    game, state = begun(name, own)
    assert same(game.champion(state), own)
    assert game.frames_per_generation() > 0


def test_the_population_is_the_policy_and_mutants_of_it_and_the_learner_begins_with_it():
    own = policy("merl", tuned=False)
    _, state = begun("merl", own)
    teams = [member(state.team.population, i) for i in range(12)]
    assert same(teams[0], own)
    assert same(teams[-1], own)  # the migrant
    assert sum(not same(team, own) for team in teams[1:-1]) >= 5
    assert all(np.isclose(np.asarray(team.heads.weight), own.heads.weight).mean() > 0.5 for team in teams)
    learner = state.team.learners[0]
    assert same(learner.actor, own)
    assert same(learner.target_actor, own)


def test_gains_are_kept_where_teams_have_them():
    own = policy("merl", tuned=True)
    tuning = dataclasses.replace(tiny("merl"), tuning=Tuning(pairs=2))  # type: ignore[call-arg]
    assert tuning.keeps_gains
    _, state = begun("merl", own, tuning)
    assert same(state.team.champion, own)
    assert same(state.team.tuning.gain, own.gain)
    assert same(state.team.learners[0].actor, without_gains(own))
    assert same(member(state.team.population, 0), own)
    _, state = begun("ea", own)
    assert same(member(state.team.population, 0), own)


@pytest.mark.parametrize("name", ["merl", "td3", "es"])
def test_gains_are_left_out_where_teams_have_none(name):
    own = policy(name, tuned=True)
    game, state = begun(name, own)
    assert not game.algorithm.keeps_gains
    assert same(game.champion(state), without_gains(own))


def test_an_algorithm_of_ones_own_says_that_it_cannot():
    with pytest.raises(UserError, match="RandomSearch cannot begin with a champion: it has no method `adopt`"):
        begun("ea", policy("ea", tuned=False), RandomSearch())
