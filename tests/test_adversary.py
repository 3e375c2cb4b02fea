"""The other side of a contest: it learns beside any algorithm, from all rollouts, or stays as it is."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.tag import BEST, Tag

from merlax.algorithms import Ea, Merl, presets
from merlax.algorithms import opponents as adversary
from merlax.algorithms.match import Match
from merlax.algorithms.opponents import Adversary, AdversaryConfig, Fixed, Learnt, Scripted
from merlax.core import rollout
from merlax.core.td3 import TD3Config
from merlax.types import UserError

QUICK = TD3Config(
    actor_rate=0.01, critic_rate=0.01, target_weight=0.05, discount=0.0, batch=32, buffer=512, reward_scale=1.0,
    order="joint", updates_per_frame=1.0, burn_in=1, **adversary.DDPG,
)  # fmt: skip
RIVAL = Adversary(Tag(), AdversaryConfig(QUICK, (8,), (16,)))


def algorithm(kind):
    config = presets.preset("fast", None, kind)
    evolution = dataclasses.replace(config.evolution, population=6, fitness_episodes=2)
    if kind == "ea":
        return Ea(Tag(), dataclasses.replace(config, evolution=evolution, actor_hidden=(8,)))
    learner = dataclasses.replace(QUICK, critics=2)
    sizes = {"explore_episodes": 6, "actor_hidden": (8,), "critic_hidden": (16,)}
    return Merl(Tag(), dataclasses.replace(config, evolution=evolution, td3=learner, **sizes))


@pytest.fixture(scope="module")
def match():
    return Match(algorithm("merl"), RIVAL)


def place(opponent):
    """Where the opponent goes."""
    return float(opponent(Tag(), Tag().reset(None)[1])[0, 0])


def test_the_opponent_learns_its_best_action_beside_merl(match):
    state = match.init(jax.random.key(0))
    for generation in range(12):
        state, metrics = match.step(jax.random.key(generation), state)
    assert place(match.opponent(state)) == pytest.approx(BEST, abs=0.1)
    assert int(metrics["opponent_updates"]) == int(metrics["frames"])


def test_its_buffer_holds_its_side_of_every_rollout(match):
    state, metrics = match.step(jax.random.key(1), match.init(jax.random.key(0)))
    buffer = state[1].buffer
    assert int(buffer.size.sum()) == int(metrics["frames"]) == match.algorithm.frames_per_generation
    assert buffer.obs_size == Tag().opponent.obs_size


def test_the_opponent_explores_in_the_learners_episodes_only(match):
    state = match.init(jax.random.key(0))
    quiet = place(match.opponent(state))
    (_, teams), (_, learner) = match.algorithm.explore(jax.random.key(1), state[0], match.opponent(state))
    np.testing.assert_allclose(teams.opponent.action, quiet, atol=1e-6)
    assert np.std(learner.opponent.action) > 0.1


def test_beside_ea_the_opponent_learns_from_the_populations_episodes():
    match = Match(algorithm("ea"), RIVAL)
    state = match.init(jax.random.key(0))
    before = jax.tree.map(jnp.copy, state[1].learner.critics)
    for generation in range(3):
        state, metrics = match.step(jax.random.key(generation), state)
    assert int(metrics["opponent_updates"]) == int(metrics["frames"])
    assert not np.array_equal(before[0].layers[0].weight, state[1].learner.critics[0].layers[0].weight)


def test_a_fixed_opponent_stays_as_it_is():
    match = Match(algorithm("ea"), Fixed(Scripted()))
    state, metrics = match.step(jax.random.key(0), match.init(jax.random.key(0)))
    assert place(match.opponent(state)) == -0.25
    assert "opponent_updates" not in metrics


def test_a_team_meets_the_opponent_it_is_given():
    champion = algorithm("ea").champion(algorithm("ea").init(jax.random.key(0)))
    scores = rollout.play_test(jax.random.key(0), Tag(), champion, 2, Scripted())
    np.testing.assert_allclose(scores.opponent_reward, Tag().horizon * -abs(-0.25 - BEST), rtol=1e-6)


def test_an_opponent_of_another_world_is_refused():
    stranger = Learnt(algorithm("ea").champion(algorithm("ea").init(jax.random.key(0))))
    with pytest.raises(UserError, match="trained for another world"):
        adversary.check_fits(stranger.policy, Tag(), "somewhere")
