"""MERL as a whole: the contract of an algorithm, and what a generation leaves behind."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.rendezvous import Rendezvous

from merlax.algorithms import Merl, MerlConfig
from merlax.core import evolution, rollout
from merlax.core.evolution import EvolutionConfig
from merlax.core.td3 import TD3Config

TD3 = TD3Config(
    actor_rate=3e-3, critic_rate=3e-3, target_weight=0.02, discount=0.5, batch=32, buffer=2000, reward_scale=1.0,
    order="joint", updates_per_frame=1.0, burn_in=2, action_penalty=0.001,
)  # fmt: skip
CONFIG = MerlConfig(
    evolution=EvolutionConfig(population=6, elites=2, fitness_episodes=2),
    td3=TD3,
    explore_episodes=5,
    actor_hidden=(16,),
    critic_hidden=(16,),
)


@pytest.fixture(scope="module")
def merl() -> Merl:
    return Merl(Rendezvous(), CONFIG)


@pytest.fixture(scope="module")
def two_generations(merl):
    for seed in range(100):  # until one team is the fittest: a tie would prove nothing
        state = merl.init(jax.random.key(seed))
        first, metrics = merl.step(jax.random.key(1), jax.tree.map(jnp.copy, state))
        if (metrics["fitness"] == metrics["fitness"].max()).sum() == 1:
            break
    second, _ = merl.step(jax.random.key(2), jax.tree.map(jnp.copy, first))
    return state, first, second, metrics


def same(a, b) -> bool:
    return all(np.array_equal(x, y) for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True))


def team(population, index):
    return jax.tree.map(lambda leaf: leaf[index], population)


def test_the_last_slot_holds_the_learners_newest_team(two_generations):
    _, first, second, _ = two_generations
    for state in (first, second):
        assert same(team(state.population, -1), state.learner.actor)
    assert not same(first.learner.actor, second.learner.actor)


def test_the_champion_is_the_fittest_and_stays_as_first_elite(two_generations):
    state, first, _, metrics = two_generations
    fitness = np.asarray(metrics["fitness"])
    assert (fitness == fitness.max()).sum() == 1
    assert same(first.champion, team(state.population, int(fitness.argmax())))
    assert same(team(first.population, 0), first.champion)


def test_every_joint_step_is_counted_and_stored(merl, two_generations):
    _, first, _, metrics = two_generations
    episodes = 6 * (2 + 1) + 5
    assert int(metrics["frames"]) == episodes * merl.env.horizon == merl.frames_per_generation
    assert int(first.buffer.size.sum()) == int(metrics["frames"])


def test_the_learners_score_is_its_noiseless_fitness(two_generations):
    *_, metrics = two_generations
    assert float(metrics["learner_score"]) == float(metrics["fitness"][-1])
    assert int(metrics["migrant_fate"]) in range(len(evolution.FATES))


def test_on_the_same_instances_equal_teams_get_equal_fitness():
    merl = Merl(
        Rendezvous(), dataclasses.replace(CONFIG, evolution=dataclasses.replace(CONFIG.evolution, same_instances=True))
    )
    state = merl.init(jax.random.key(0))
    clones = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf[:1], leaf.shape), state.population)
    state = dataclasses.replace(state, population=clones)
    (played, _), _ = merl.explore(jax.random.key(1), state)
    assert len(np.unique(played.agent_reward[:, 0])) == 1
    assert len(np.unique(played.agent_reward[:, -1])) > 1  # the noisy episode is each team's own
    (played, _), _ = Merl(Rendezvous(), CONFIG).explore(jax.random.key(1), state)
    assert len(np.unique(played.agent_reward[:, 0])) > 1


@pytest.mark.parametrize("order", ["joint", "sequential"])
def test_merl_learns_to_meet(order):
    """Nobody is told where to meet: agents learn to reach marks, evolution picks the same mark for all."""
    env = Rendezvous()
    config = dataclasses.replace(
        CONFIG,
        evolution=EvolutionConfig(
            population=12, elites=3, mutation_strength=0.2, fitness_episodes=4, fitness_memory=10, same_instances=True
        ),
        td3=dataclasses.replace(TD3, order=order),
    )
    merl = Merl(env, config)
    state = merl.init(jax.random.key(0))
    for generation in range(40):
        state, _ = merl.step(jax.random.key(generation), state)
    score = float(rollout.play_test(jax.random.key(99), env, merl.champion(state), 50).fitness.mean())
    assert score > 0.9
