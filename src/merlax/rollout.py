"""One episode of one team (paper, Algorithm 2). The caller batches it."""

from __future__ import annotations

from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from merlax import devices
from merlax.envs.base import Env
from merlax.networks import TeamPolicy
from merlax.types import Key, Keys, Transition


class Episode(eqx.Module):
    """What one episode paid; what happened after its end does not count."""

    fitness: Float[Array, "*batch"]  # sum of the team reward
    agent_reward: Float[Array, "*batch"]  # sum of the agents' mean reward
    frames: Int[Array, "*batch"]


class Memory(eqx.Module):
    """The transitions of one episode; those after its end are not valid."""

    transitions: Transition  # [*batch, time, agent, ...]
    valid: Bool[Array, "*batch time"]


def play(key: Key, env: Env, policy: TeamPolicy, noise: Float[Array, ""] | float = 0.0) -> tuple[Episode, Memory]:
    """Play one episode with Gaussian noise on the actions, and remember every step.

    The noise is drawn even where it is 0: a loop that does not use the memory drops it when compiled.
    """
    key_reset, key_noise, key_steps = jax.random.split(key, 3)
    obs, state = env.reset(key_reset)
    shape = (env.horizon, env.num_agents, env.act_size)
    noises = noise * jax.random.normal(key_noise, shape)

    def step(carry, xs):
        obs, state, alive = carry
        key, noise = xs
        action = jnp.clip(policy(obs) + noise, -1.0, 1.0)
        next_obs, state, reward, terminated, truncated, _ = env.step(key, state, action)
        ends = jnp.broadcast_to(terminated, (env.num_agents,))
        paid = jnp.where(alive, reward.team, 0.0), jnp.where(alive, reward.agent.mean(), 0.0)
        transition = Transition(obs, action, reward.agent, next_obs, ends)
        return (next_obs, state, alive & ~(terminated | truncated)), (paid, transition, alive)

    xs = jax.random.split(key_steps, env.horizon), noises
    _, ((team, agent), transitions, valid) = jax.lax.scan(step, (obs, state, jnp.ones((), bool)), xs)
    return Episode(team.sum(), agent.sum(), valid.sum()), Memory(transitions, valid)


def play_population(
    keys: Keys, env: Env, population: TeamPolicy, noise: Float[Array, " episode"]
) -> tuple[Episode, Memory]:
    """Each team's episodes [pop, episode]; episode i of every team has noise i. Teams are split over the devices."""

    def one_team(team: tuple[Keys, TeamPolicy]) -> tuple[Episode, Memory]:
        keys, policy = team
        return jax.vmap(lambda key, sigma: play(key, env, policy, sigma))(keys, noise)

    return devices.shard_over(devices.mesh(), jax.vmap(one_team))((keys, population))


def play_team(keys: Keys, env: Env, policy: TeamPolicy, noise: float = 0.0) -> tuple[Episode, Memory]:
    """One team's episodes, split over the devices."""

    def some(keys: Keys, policy: TeamPolicy) -> tuple[Episode, Memory]:
        return jax.vmap(lambda key: play(key, env, policy, noise))(keys)

    return devices.shard_over(devices.mesh(), some)(keys, policy)


def test(key: Key, env: Env, policy: TeamPolicy, episodes: int) -> Float[Array, " episode"]:
    """The scores of a team on fresh instances, without noise."""
    return _scores(*devices.spread(devices.mesh(), (jax.random.split(key, episodes), policy)), env)


@partial(jax.jit, static_argnums=2, compiler_options=devices.QUICK_COMPILE)
def _scores(keys: Keys, policy: TeamPolicy, env: Env) -> Float[Array, " episode"]:
    return play_team(keys, env, policy)[0].fitness


class Trace(eqx.Module):
    """One episode as it can be drawn: the world at every instant, the first one included."""

    states: Any  # the world's state, with a leading time axis of horizon + 1
    steps: Int[Array, ""]  # how many steps were played; what follows them is not part of the episode
    score: Float[Array, ""]


def trace(key: Key, env: Env, policy: TeamPolicy) -> Trace:
    """Play one episode without noise, on the same instance as `play` with this key, and keep every state."""
    key_reset, _, key_steps = jax.random.split(key, 3)
    obs, state = env.reset(key_reset)

    def step(carry, key):
        obs, state, alive = carry
        obs, state, reward, terminated, truncated, _ = env.step(key, state, policy(obs))
        paid = jnp.where(alive, reward.team, 0.0)
        return (obs, state, alive & ~(terminated | truncated)), (state, paid, alive)

    carry = obs, state, jnp.ones((), bool)
    _, (states, team, valid) = jax.lax.scan(step, carry, jax.random.split(key_steps, env.horizon))
    states = jax.tree.map(lambda first, rest: jnp.concatenate([first[None], rest]), state, states)
    return Trace(states, valid.sum(), team.sum())
