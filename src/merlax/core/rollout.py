"""One episode of one team (paper, Algorithm 2). The caller batches it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from merlax.core import devices, replay
from merlax.core.networks import TeamPolicy
from merlax.envs.base import Env
from merlax.types import Key, Keys, Reward, Transition

Opponent: TypeAlias = Callable[[Any, Any], Array]  # (world, state) -> the other side's actions
Pay: TypeAlias = Callable[[Reward], Float[Array, " agent"]]  # what each agent is to learn from

EPISODES_AT_ONCE = 55  # on one device: a large population is played part by part, since what fits a cache is faster


FAULTS = ("an observation", "the team's reward", "an agent's reward")  # of a world that may not be finite


class Episode(eqx.Module):
    """What one episode paid; what happened after its end does not count."""

    fitness: Float[Array, "*batch"]  # sum of the team reward; NaN if anything in the episode was not finite
    agent_reward: Float[Array, "*batch"]  # sum of the agents' mean reward
    frames: Int[Array, "*batch"]
    fault: Bool[Array, "*batch fault"]  # which of FAULTS happened
    opponent_reward: Float[Array, "*batch"] | None = None  # sum of the opponent's, where there is one


class Memory(eqx.Module):
    """The transitions of one episode; those after its end are not valid."""

    valid: Bool[Array, "*batch time"]
    transitions: Transition | None = None  # [*batch, time, agent, ...]; nothing where they are not kept
    opponent: Transition | None = None


def agent_reward(reward: Reward) -> Float[Array, " agent"]:
    """What the paper's learner optimises: each agent's own reward, untouched."""
    return reward.agent


def play(
    key: Key,
    env: Env,
    policy: TeamPolicy,
    noise: Float[Array, ""] | float | None = None,
    opponent: Opponent | None = None,
    opponent_noise: float | None = None,
    *,
    pay: Pay = agent_reward,
    keep: bool = True,
) -> tuple[Episode, Memory]:
    """Play one episode, perhaps with Gaussian noise on the actions, and remember every step."""
    key_reset, key_noise, key_steps, key_opponent = jax.random.split(key, 4)
    obs, state = _reset(env, key_reset)
    shape = (env.horizon, env.num_agents, env.act_size)
    noises = None if noise is None else noise * jax.random.normal(key_noise, shape)

    def step(carry, xs):
        obs, state, alive, trail = carry
        (key, key_opponent), noise = xs
        action = policy(obs) if noise is None else jnp.clip(policy(obs) + noise, -1.0, 1.0)
        result, theirs = _advance((key, key_opponent), env, state, action, opponent, opponent_noise)
        next_obs, state, reward, terminated, truncated, _ = result
        ends = jnp.broadcast_to(terminated, (env.num_agents,))
        paid = reward.team, reward.agent.mean(), None if theirs is None else theirs.reward.mean()
        paid = jax.tree.map(lambda amount: jnp.where(alive, amount, 0.0), paid)
        trail = _trail(trail, alive, next_obs, theirs)
        ours = Transition(obs, action, pay(reward), next_obs, ends) if keep else None
        return (next_obs, state, alive & ~(terminated | truncated), trail), (paid, ours, theirs, alive)

    keys = jax.random.split(key_steps, env.horizon), jax.random.split(key_opponent, env.horizon)
    first = obs * 0.0, None if opponent is None else env.opponent_obs(state) * 0.0  # type: ignore[attr-defined]
    carry = obs, state, jnp.ones((), bool), first
    (*_, trail), (paid, ours, theirs, valid) = jax.lax.scan(step, carry, (keys, noises))
    team, agent, other = jax.tree.map(jnp.sum, paid)
    fault = ~jnp.stack([_finite(trail), _finite(team), _finite((agent, other))])
    team = jnp.where(fault.any(), jnp.nan, team)
    return Episode(team, agent, valid.sum(), fault, other), Memory(valid, ours, theirs)


def _trail(trail: Any, alive: Array, obs: Array, theirs: Transition | None) -> Any:
    """What all observations of both sides leave behind: zeros, unless one was not finite.

    0 times infinity is NaN, and NaN stays. A test of every number in every step would cost a sixth of a rollout.
    """
    seen = obs, None if theirs is None else theirs.next_obs
    return jax.tree.map(lambda mark, x: mark + jnp.where(alive, x, 0.0) * 0.0, trail, seen)


def _finite(tree: Any) -> Bool[Array, ""]:
    return jnp.stack([jnp.isfinite(leaf).all() for leaf in jax.tree.leaves(tree)]).all()


# Traced once for a world, however many programs play it.
@partial(jax.jit, static_argnums=0)
def _reset(env: Env, key: Key) -> tuple[Any, Any]:
    return env.reset(key)


@partial(jax.jit, static_argnums=0)
def _step(env: Env, *args: Any) -> Any:
    return env.step(*args)


def _advance(
    keys: tuple[Key, Key], env: Any, state: Any, action: Array, opponent: Opponent | None, noise: float | None
) -> tuple[Any, Transition | None]:
    """One joint step, and the opponent's side of it where there is one."""
    key, key_opponent = keys
    if opponent is None:
        return _step(env, key, state, action), None
    reply = opponent(env, state)
    if noise is not None:
        reply = jnp.clip(reply + noise * jax.random.normal(key_opponent, reply.shape), -1.0, 1.0)
    result = _step(env, key, state, action, reply)
    after, terminated = result[1], result[3]
    ends = jnp.broadcast_to(terminated, reply.shape[:1])
    seen, reward, next_seen = env.opponent_obs(state), env.opponent_reward(after), env.opponent_obs(after)
    return result, Transition(seen, reply, reward, next_seen, ends)


def remember(buffers: replay.Buffer, memory: Memory) -> replay.Buffer:
    """Store a batch of episodes that were kept."""
    assert memory.transitions is not None, "these episodes were played with keep=False"
    return replay.remember(buffers, memory.transitions, memory.valid)


def play_population(
    keys: Keys,
    env: Env,
    population: TeamPolicy,
    noise: Float[Array, " episode"] | None = None,
    opponent: Opponent | None = None,
    *,
    keep: bool = True,
) -> tuple[Episode, Memory]:
    """Each team's episodes [pop, episode]; episode i of every team has noise i. Teams are split over the devices."""

    def some(teams: tuple[Keys, TeamPolicy], opponent: Opponent | None) -> tuple[Episode, Memory]:
        def one_team(team: tuple[Keys, TeamPolicy]) -> tuple[Episode, Memory]:
            keys, policy = team
            return jax.vmap(lambda key, sigma: play(key, env, policy, sigma, opponent, keep=keep))(keys, noise)

        at_once, number = max(1, EPISODES_AT_ONCE // keys.shape[1]), teams[0].shape[0]
        return jax.vmap(one_team)(teams) if number <= at_once else jax.lax.map(one_team, teams, batch_size=at_once)

    return devices.shard_over(devices.mesh(), some)((keys, population), opponent)


def play_team(
    keys: Keys,
    env: Env,
    policy: TeamPolicy,
    noise: float | None = None,
    opponent: Opponent | None = None,
    *,
    pay: Pay = agent_reward,
    keep: bool = True,
) -> tuple[Episode, Memory]:
    """One team's episodes, split over the devices; an opponent explores with the same noise."""

    def some(keys: Keys, policy: TeamPolicy, opponent: Opponent | None) -> tuple[Episode, Memory]:
        return jax.vmap(lambda key: play(key, env, policy, noise, opponent, noise, pay=pay, keep=keep))(keys)

    return devices.shard_over(devices.mesh(), some)(keys, policy, opponent)


def play_test(key: Key, env: Env, policy: TeamPolicy, episodes: int, opponent: Opponent | None = None) -> Episode:
    """A team's episodes on fresh instances, without noise."""
    return _play_test(*devices.spread(devices.mesh(), (jax.random.split(key, episodes), policy, opponent)), env)


@partial(jax.jit, static_argnums=3, compiler_options=devices.QUICK_COMPILE)
def _play_test(keys: Keys, policy: TeamPolicy, opponent: Opponent | None, env: Env) -> Episode:
    return play_team(keys, env, policy, opponent=opponent, keep=False)[0]


class Trace(eqx.Module):
    """One episode as it can be drawn: the world at every instant, the first one included."""

    states: Any  # the world's state, with a leading time axis of horizon + 1
    steps: Int[Array, ""]  # how many steps were played; what follows them is not part of the episode
    score: Float[Array, ""]


def trace(key: Key, env: Env, policy: TeamPolicy, opponent: Opponent | None = None) -> Trace:
    """Play one episode without noise, on the same instance as `play` with this key, and keep every state."""
    key_reset, _, key_steps, key_opponent = jax.random.split(key, 4)
    obs, state = env.reset(key_reset)

    def step(carry, keys):
        obs, state, alive = carry
        result, _ = _advance(keys, env, state, policy(obs), opponent, None)
        obs, state, reward, terminated, truncated, _ = result
        paid = jnp.where(alive, reward.team, 0.0)
        return (obs, state, alive & ~(terminated | truncated)), (state, paid, alive)

    carry = obs, state, jnp.ones((), bool)
    keys = jax.random.split(key_steps, env.horizon), jax.random.split(key_opponent, env.horizon)
    _, (states, team, valid) = jax.lax.scan(step, carry, keys)
    states = jax.tree.map(lambda first, rest: jnp.concatenate([first[None], rest]), state, states)
    return Trace(states, valid.sum(), team.sum())
