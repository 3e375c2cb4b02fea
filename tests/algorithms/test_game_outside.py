"""Every algorithm learns from a world outside JAX."""

import jax
import numpy as np
import pytest

import merlax
from merlax.algorithms import Game
from merlax.core import rollout
from merlax.core.players import PolicyPlayer
from merlax.envs.adapters import workers
from tests.support.tiny import tiny

pytest.importorskip("pettingzoo")


@pytest.fixture(autouse=True, scope="module")
def no_worker_is_left():
    yield
    workers.stop()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["merl", "es", "td3", "matd3"])  # the others are settings of these, but for EA below
def test_every_algorithm_takes_agents_that_differ_choose_and_leave(name):
    game = Game(merlax.make("pettingzoo:tests.probes.signals:make", team="sum", workers=2), tiny(name))
    state = game.init(jax.random.key(0))
    before = jax.device_get(game.champion(state))
    state, generation = game.step(jax.random.key(1), state)
    assert int(generation.frames) == game.frames_per_generation()
    assert generation.team.finite.all()
    after = jax.device_get(game.champion(state))
    assert any((a != b).any() for a, b in zip(jax.tree.leaves(before), jax.tree.leaves(after), strict=True))


@pytest.mark.slow
def test_evolution_learns_what_is_best():
    """The best is 7; whoever does not look gets about 1.3 + 1.8."""
    game = Game(merlax.make("pettingzoo:tests.probes.signals:make", team="sum", workers=2), tiny("ea"))
    state, key = game.init(jax.random.key(0)), jax.random.key(1)
    for generation in range(25):
        state, _ = game.step(jax.random.fold_in(key, generation), state)
    field = game.field(state)
    played = rollout.play_test(jax.random.key(2), field, PolicyPlayer(game.champion(state)), 50)
    assert np.mean(played.fitness) > 5.0
