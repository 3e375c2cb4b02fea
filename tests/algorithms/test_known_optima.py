"""Every algorithm finds the optimum that its reward leads to, and MERL one that neither of its halves finds."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh

from merlax.algorithms import Ea, Game, Gradient, Merl
from merlax.core import devices, rollout
from merlax.core.evolution.fitness import Fitness
from merlax.core.evolution.operators import GaussianMutation
from merlax.core.evolution.selection import TournamentSelection
from merlax.core.players import PolicyPlayer
from merlax.core.rollout import Field
from merlax.core.td3 import Td3
from tests.probes.darts import Darts
from tests.probes.trap import Trap
from tests.support.tiny import make, tiny, world


def score(env, algorithm, frames, seed=0):
    """The champion's, after as many generations as these frames pay for."""
    game = Game(env, algorithm)
    key = jax.random.key(seed)
    state = game.init(jax.random.fold_in(key, 0))
    for generation in range(1, frames // game.frames_per_generation() + 1):
        state, _ = game.step(jax.random.fold_in(key, generation), state)
    champion = PolicyPlayer(game.champion(state))
    return float(rollout.play_test(jax.random.key(99), Field(env), champion, 50).fitness.mean())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["merl", "td3", "ddpg", "matd3", "maddpg"])
def test_learners_climb_the_agents_reward_to_a_team_reward_that_is_all_or_nothing(name):
    assert score(Darts("agent"), tiny(name), frames=15_000) > 0.9


def blind(name):
    """For a world whose agent reward says nothing, and where no action has a later effect."""
    algorithm: Any = tiny(name)
    changes: dict[str, Any] = {"discount": 0.0, "batch": 64, "updates_per_frame": 0.1}
    if name == "merl":  # its learner is of no use here: leave the frames to evolution
        learners = (dataclasses.replace(algorithm.learners[0], **changes),)
        return dataclasses.replace(algorithm, learners=learners, explore_episodes=5)
    if name in ("ea", "es"):
        return algorithm
    return dataclasses.replace(algorithm, learner=dataclasses.replace(algorithm.learner, reward="global", **changes))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ea", "es", "merl", "matd3"])
def test_the_team_reward_alone_is_enough_where_it_is_dense(name):
    assert score(Darts("team"), blind(name), frames=25_000) > 0.85


@pytest.mark.slow
def test_a_random_team_scores_far_less_in_both_worlds():
    def mean_score(name):
        game = make(name)
        keys = jax.random.split(jax.random.key(0), (10, 2))  # more than a hundred teams
        told = [game.step(key_step, game.init(key_init))[1].team.info for key_init, key_step in keys]
        return np.mean([getattr(info, "evolution", info).mean_fitness for info in told])

    assert (world("merl"), world("ea")) == (Darts("agent"), Darts("team"))
    assert mean_score("merl") < 0.01
    assert mean_score("ea") < 0.65


# The halves of MERL have the same settings alone as in it.
EA = Ea(
    population=20,
    fitness=Fitness(episodes=2, memory=10, same_instances=True),
    selection=TournamentSelection(elites=4),
    mutation=GaussianMutation(fraction=0.03, super_probability=0.5),
    actor_hidden=(16,),
)
TD3 = Td3(
    actor_rate=3e-3, critic_rate=5e-3, target_weight=0.05, discount=0.5, batch=64, buffer=8192, reward_scale=1.0,
    order="joint", updates_per_frame=0.2, burn_in=4, action_penalty=0.001, critic_hidden=(32,),
)  # fmt: skip
HALF: dict[str, Any] = {field.name: getattr(EA, field.name) for field in dataclasses.fields(EA)}


@pytest.fixture
def one_device(monkeypatch):
    """All other tests of the algorithms run on two."""
    monkeypatch.setattr(devices, "mesh", lambda size=None: Mesh(np.array(jax.devices()[:1]), (devices.AXIS,)))
    monkeypatch.setattr(devices, "count", lambda: 1)


def trapped(algorithm, seed):
    return score(Trap(), algorithm, frames=60_000, seed=seed)


@pytest.mark.slow
@pytest.mark.usefixtures("one_device")
def test_merl_leaves_the_trap():
    assert trapped(Merl(**HALF, learners=(TD3,), explore_episodes=5), seed=1) > 0.85  # of seeds 0 to 5 five leave it


@pytest.mark.slow
@pytest.mark.usefixtures("one_device")
def test_evolution_alone_does_not_even_reach_the_trap():
    assert trapped(EA, 0) < 0.1


@pytest.mark.slow
@pytest.mark.parametrize("reward", ["agent", "mixed"])
@pytest.mark.usefixtures("one_device")
def test_the_learner_alone_stays_in_the_trap(reward):
    learner = dataclasses.replace(TD3, reward=reward)
    assert trapped(Gradient(learner, (16,), explore_episodes=20), 0) == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize(
    ("aims", "pays"), [((0.4, 0.4), 0.5), ((0.4, -0.4), 1.0), ((0.4, 0.0), 0.5), ((0.0, 0.0), 0.0)]
)
def test_the_trap_pays_half_for_one_place_and_all_for_both(aims, pays):
    env, paid = Trap(horizon=3), []
    _, state = env.reset(jax.random.key(0))
    for step in range(env.horizon):
        action = jnp.stack([state.lights.prod(axis=1), jnp.array(aims)], axis=1)
        _, state, reward, *_ = env.step(jax.random.key(step), state, action)
        paid.append(reward)
    assert sum(float(reward.team) for reward in paid) == pays
    assert paid[-1].agent.tolist() == pytest.approx([0.5 * (1 - abs(aim - 0.4)) for aim in aims])
