"""Every algorithm finds the optimum that its reward leads to, and MERL one that neither of its halves finds."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh
from tests.algorithms.tiny import tiny, world
from tests.darts import Darts
from tests.trap import Trap

from merlax import algorithms
from merlax.algorithms import EaConfig, GradientConfig, MerlConfig
from merlax.core import devices, rollout
from merlax.core.evolution import EvolutionConfig
from merlax.core.td3 import TD3Config


def score(name, env, config, frames, seed):
    """The champion's, after as many generations as these frames pay for."""
    algorithm = algorithms.make(name, env, config)
    key = jax.random.key(seed)
    state = algorithm.init(jax.random.fold_in(key, 0))
    for generation in range(1, frames // algorithm.frames_per_generation + 1):
        state, _ = algorithm.step(jax.random.fold_in(key, generation), state)
    return float(rollout.play_test(jax.random.key(99), env, algorithm.champion(state), 50).fitness.mean())


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", ["merl", "td3", "ddpg", "matd3", "maddpg"])
def test_learners_climb_the_agents_reward_to_a_team_reward_that_is_all_or_nothing(name, seed):
    assert score(name, Darts("agent"), tiny(name), frames=15_000, seed=seed) > 0.9


def blind(name):
    """For a world whose agent reward says nothing, and where no action has a later effect."""
    config = tiny(name)
    if not hasattr(config, "td3"):
        return config
    td3 = dataclasses.replace(config.td3, discount=0.0, batch=64, updates_per_frame=0.1)
    if name == "merl":  # its learner is of no use here: leave the frames to evolution
        return dataclasses.replace(config, td3=td3, explore_episodes=5)
    return dataclasses.replace(config, td3=td3, reward="global")


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", ["ea", "es", "merl", "td3", "matd3", "maddpg"])
def test_the_team_reward_alone_is_enough_where_it_is_dense(name, seed):
    assert score(name, Darts("team"), blind(name), frames=25_000, seed=seed) > 0.85


def test_a_random_team_scores_far_less_in_both_worlds():
    def mean_score(name):
        algorithm = algorithms.make(name, world(name), tiny(name))
        states = [algorithm.init(jax.random.key(seed)) for seed in range(10)]  # more than a hundred teams
        played = [algorithm.explore(jax.random.key(10 + seed), state)[0][0] for seed, state in enumerate(states)]
        return np.mean([episode.fitness.mean() for episode in played])

    assert (world("merl"), world("ea")) == (Darts("agent"), Darts("team"))
    assert mean_score("merl") < 0.01
    assert mean_score("ea") < 0.65


# The halves of MERL have the same settings alone as in it.
EVOLUTION = EvolutionConfig(
    population=20, elites=4, fitness_episodes=2, fitness_memory=10, same_instances=True, mutation_fraction=0.03,
    super_probability=0.5,
)  # fmt: skip
TD3 = TD3Config(
    actor_rate=3e-3, critic_rate=5e-3, target_weight=0.05, discount=0.5, batch=64, buffer=8192, reward_scale=1.0,
    order="joint", updates_per_frame=0.2, burn_in=4, action_penalty=0.001,
)  # fmt: skip
SIZES = {"actor_hidden": (16,), "critic_hidden": (32,)}


@pytest.fixture
def one_device(monkeypatch):
    """All other tests of the algorithms run on two."""
    monkeypatch.setattr(devices, "mesh", lambda size=None: Mesh(np.array(jax.devices()[:1]), (devices.AXIS,)))


def trapped(name, config, seed):
    return score(name, Trap(), config, frames=60_000, seed=seed)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.usefixtures("one_device")
def test_merl_leaves_the_trap(seed):
    assert trapped("merl", MerlConfig(EVOLUTION, TD3, explore_episodes=5, **SIZES), seed) > 0.85


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.usefixtures("one_device")
def test_evolution_alone_does_not_even_reach_the_trap(seed):
    assert trapped("ea", EaConfig(EVOLUTION, SIZES["actor_hidden"]), seed) < 0.1


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("reward", ["agent", "mixed"])
@pytest.mark.usefixtures("one_device")
def test_the_learner_alone_stays_in_the_trap(reward, seed):
    config = GradientConfig(TD3, reward=reward, explore_episodes=20, **SIZES)
    assert trapped("td3", config, seed) == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize(
    ("aims", "pays"), [((0.4, 0.4), 0.5), ((0.4, -0.4), 1.0), ((0.4, 0.0), 0.5), ((0.0, 0.0), 0.0)]
)
def test_the_trap_pays_half_for_one_place_and_all_for_both(aims, pays):
    env, paid = Trap(horizon=3), 0.0
    _, state = env.reset(jax.random.key(0))
    for step in range(env.horizon):
        action = jnp.stack([state.lights.prod(axis=1), jnp.array(aims)], axis=1)
        _, state, reward, *_ = env.step(jax.random.key(step), state, action)
        paid += float(reward.team)
    assert paid == pays
    assert reward.agent.tolist() == pytest.approx([0.5 * (1 - abs(aim - 0.4)) for aim in aims])
