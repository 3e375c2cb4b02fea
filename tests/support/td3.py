"""A small gradient learner whose weights and minibatches are known."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from merlax.core import td3
from merlax.core.td3 import Learner, Td3
from merlax.envs.base import Side
from merlax.types import Transition
from tests.support.weights import weights

AGENTS, OBS, ACT = 2, 3, 2
SIDE = Side.equal(AGENTS, OBS, ACT)
JOINT = Td3(
    actor_rate=0.01, critic_rate=0.02, target_weight=0.1, smoothing=0.0, batch=16, buffer=64, burn_in=1, order="joint",
    critic_hidden=(8,),
)  # fmt: skip
SEQUENTIAL = dataclasses.replace(JOINT, order="sequential")

update = jax.jit(td3.update, static_argnames=("config", "bounds"))


def round_of(learner: Learner, batch: Transition, config: Td3 = JOINT, bounds: tuple[float, float] = (1.0, 1.0)):
    """The learner after one round of updates, and the losses of its critics and of its actor."""
    return update(jax.random.key(0), learner, batch, config=config, bounds=bounds)


def new_learner(rounds: int = 0, config: Td3 = JOINT, side: Side = SIDE) -> Learner:
    """A learner whose targets differ from their sources, after some rounds: the actor moves in every second one."""
    learner = weights(lambda key: td3.init(key, side, (8,), config))
    learner = dataclasses.replace(learner, rounds=jnp.array(rounds, jnp.int32))
    fresh = lambda each: (each.actor_moments, each.critic_moments, each.practice)  # noqa: E731
    return eqx.tree_at(fresh, learner, jax.tree.map(jnp.zeros_like, fresh(learner)))


def transitions(terminated: bool = False, agents: int = AGENTS) -> Transition:
    """A minibatch of every agent's."""
    rng = np.random.default_rng(1)
    normal = lambda *shape: jnp.array(rng.normal(size=(JOINT.batch, agents, *shape)), jnp.float32)  # noqa: E731
    obs, action, agent_reward, next_obs = normal(OBS), normal(ACT), normal(), normal(OBS)
    team_reward = jnp.repeat(normal()[:, :1], agents, axis=1)
    ends = jnp.full((JOINT.batch, agents), terminated)
    return Transition(obs, action, agent_reward, team_reward, next_obs, ends)


def assert_close(a: object, b: object) -> None:
    """Two trees are the same but for the last bits of their numbers."""
    jax.tree.map(lambda x, y: np.testing.assert_allclose(x, y, atol=2e-5), a, b)
