"""Evolution and both kinds of critic find the optimum where agents differ, choose, or leave early."""

import dataclasses
from typing import Any

import jax
import pytest

from merlax.algorithms import Game
from merlax.core import rollout
from merlax.core.players import PolicyPlayer
from merlax.core.rollout import Field
from tests.probes.choices import Choices
from tests.probes.leavers import Leavers
from tests.probes.unlike import Unlike
from tests.support.tiny import tiny


def settings(name):
    """Small, and without an eye for later: no action has a later effect in these worlds."""
    algorithm: Any = tiny(name)
    if not hasattr(algorithm, "learner"):
        return algorithm
    return dataclasses.replace(algorithm, learner=dataclasses.replace(algorithm.learner, discount=0.0))


def score(env, name, frames):
    """The champion's, after as many generations as these frames pay for."""
    game, key = Game(env, settings(name)), jax.random.key(0)
    state = game.init(jax.random.fold_in(key, 0))
    for generation in range(1, frames // game.frames_per_generation() + 1):
        state, _ = game.step(jax.random.fold_in(key, generation), state)
    champion = PolicyPlayer(game.champion(state))
    return float(rollout.play_test(jax.random.key(99), Field(env), champion, 50).fitness.mean())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("world", "name"), [*((world, "merl") for world in (Unlike, Choices, Leavers)), (Unlike, "matd3")]
)
def test_learners_climb_the_agents_reward_in_every_kind_of_world(world, name):
    """TD3 alone, DDPG and MADDPG are these without evolution, or with one critic less."""
    assert score(world("agent"), name, frames=8_000) > 0.85


@pytest.mark.slow
@pytest.mark.parametrize(("world", "name"), [*((world, "ea") for world in (Unlike, Choices, Leavers)), (Unlike, "es")])
def test_evolution_climbs_the_team_reward_in_every_kind_of_world(world, name):
    assert score(world("team"), name, frames=20_000) > 0.8
