"""One episode of one team (paper, Algorithm 2), and the batches of them that algorithms play."""

from __future__ import annotations

from functools import partial
from typing import Any, TypeAlias, TypeVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PyTree

from merlax.core import devices, outside, processes
from merlax.core.networks import TeamPolicy, tuned
from merlax.core.played import FAULTS as FAULTS  # what `play` gives belongs to it
from merlax.core.played import Episode, Field, Rollout, Trace
from merlax.core.played import num_frames as num_frames
from merlax.core.players import Gallery, Player, PolicyPlayer
from merlax.envs import base
from merlax.envs.base import Action, Env, Obs, State
from merlax.envs.diagnosis import History
from merlax.types import Key, Keys, Reward, Transition

T = TypeVar("T")
Noise: TypeAlias = Float[Array, ""] | float | None  # standard deviation of what is added to every action
Present: TypeAlias = Bool[Array, " _agent"] | None  # who of a side has not left; nothing where nobody leaves

EPISODES_AT_ONCE = 55  # on one device: a large population is played part by part, since what fits a cache is faster
MOST_SEEN = 4_000_000  # numbers that the observations of an episode may have if they are to be shown


def play(
    key: Key, field: Field, player: Player, noise: Noise = None, opponent_noise: Noise = None, *, keep: bool = True
) -> Rollout:
    """Play one episode, perhaps with Gaussian noise on the actions, and keep the transitions of those who learn."""
    key, opponents = _met(key, field)
    env, players = field.env, (player, *opponents)
    kept = (keep, *(field.opponents_learn for _ in opponents))
    key_reset, key_noise, key_steps = jax.random.split(key, 3)
    noises = _noises(key_noise, env, (noise, *(opponent_noise for _ in opponents)))
    obs, state = base.reset(env, key_reset)

    def step(carry, xs):
        obs, state, present, alive, trail = carry
        key, noise = xs
        actions = _act(env, state, players, obs, noise)
        after = base.step(env, key, state, actions)
        stays = _stays(present, base.present(env, after.state))
        agents = map(_of_present, present, (reward.agent for reward in after.reward))
        paid = after.reward[0].team, tuple(agent.mean() for agent in agents)
        paid = jax.tree.map(lambda amount: jnp.where(alive, amount, 0.0), paid)
        sides = zip(kept, obs, actions, after.reward, after.obs, present, stays, strict=True)
        transitions = tuple(
            _transition(before, action, reward, seen, after.terminated, here, there) if wanted else None
            for wanted, before, action, reward, seen, here, there in sides
        )
        goes_on = alive & ~(after.terminated | after.truncated)
        trail = _trail(trail, alive, tuple(map(_of_present, stays, after.obs)))
        return (after.obs, after.state, stays, goes_on, trail), (paid, transitions, alive)

    first = base.present(env, state)
    carry = obs, state, first, jnp.ones((), bool), jax.tree.map(lambda x: x * 0.0, tuple(map(_of_present, first, obs)))
    xs = jax.random.split(key_steps, env.horizon), noises
    (*_, trail), (paid, transitions, valid) = jax.lax.scan(step, carry, xs)
    fitness, agent_reward = jax.tree.map(jnp.sum, paid)
    fault = ~jnp.stack([_finite(trail), _finite(fitness), _finite(agent_reward)])
    fitness = jnp.where(fault.any(), jnp.nan, fitness)
    return Rollout(Episode(fitness, agent_reward, valid.sum(), fault), valid, transitions)


def _met(key: Key, field: Field) -> tuple[Key, tuple[Player, ...]]:
    """The rest of an episode's key, and who plays on the other sides: of a gallery one."""
    fixed = tuple(each for each in field.opponents if not isinstance(each, Gallery))
    if len(fixed) == len(field.opponents):
        return key, fixed
    key, key_met = jax.random.split(key)
    keys = jax.random.split(key_met, len(field.opponents))
    met = zip(keys, field.opponents, strict=True)
    return key, tuple(each.of_episode(k) if isinstance(each, Gallery) else each for k, each in met)


def _noises(key: Key, env: Env, scales: tuple[Noise, ...]) -> tuple[Float[Array, "time _agent _act"] | None, ...]:
    """Noise for every action of an episode, by side."""

    def one(key: Key, side: base.Side, scale: Noise) -> Float[Array, "time agent act"] | None:
        shape = env.horizon, side.num_agents, side.act_size
        return None if scale is None else scale * jax.random.normal(key, shape)

    keys = jax.random.split(key, len(scales))
    return tuple(one(k, side, scale) for k, side, scale in zip(keys, env.sides, scales, strict=True))


def _act(
    env: Env, state: State, players: tuple[Player, ...], obs: tuple[Obs, ...], noises: tuple[Array | None, ...]
) -> tuple[Action, ...]:
    def one(player: Player, seen: Obs, noise: Array | None) -> Action:
        return player.act(env, state, seen, noise)

    return tuple(one(*each) for each in zip(players, obs, noises, strict=True))


def _transition(
    obs: Obs, action: Action, reward: Reward, next_obs: Obs, terminated: Array, present: Present, stays: Present
) -> Transition:
    """What one side's agents lived through; of those who are not there any more, nothing."""
    agents = action.shape[:1]
    team = jnp.broadcast_to(reward.team, agents)
    ends = jnp.broadcast_to(terminated, agents)
    if present is None or stays is None:
        return Transition(obs, action, reward.agent, team, next_obs, ends)
    before, after = partial(_of_present, present), partial(_of_present, stays)
    ends = (ends | ~stays) & present
    return Transition(before(obs), before(action), before(reward.agent), before(team), after(next_obs), ends, present)


def _stays(present: tuple[Present, ...], later: tuple[Present, ...]) -> tuple[Present, ...]:
    """Who was there and still is: nobody comes back."""
    return tuple(None if was is None or now is None else was & now for was, now in zip(present, later, strict=True))


def _of_present(present: Present, rows: Array) -> Array:
    """Rows of agents, with zeros for those who are not there."""
    if present is None:
        return rows
    return jnp.where(jnp.broadcast_to(present.reshape(-1, *[1] * (rows.ndim - 1)), rows.shape), rows, 0.0)


def _trail(trail: T, alive: Array, obs: T) -> T:
    """What all observations of all sides leave behind: zeros, unless one was not finite.

    0 times infinity is NaN, and NaN stays. A test of every number in every step would cost a sixth of a rollout.
    """
    return jax.tree.map(lambda mark, x: mark + jnp.where(alive, x, 0.0) * 0.0, trail, obs)


def _finite(tree: PyTree) -> Bool[Array, ""]:
    return jnp.stack([jnp.isfinite(leaf).all() for leaf in jax.tree.leaves(tree)]).all()


def play_population(
    keys: Keys,
    field: Field,
    population: TeamPolicy,
    noise: Float[Array, " episode"] | None = None,
    *,
    keep: bool = True,
) -> Rollout:
    """Each team's episodes [pop, episode]; episode i of every team has noise i. Teams are split over the devices."""
    if outside.is_outside(field.env):
        return outside.play_population(keys, field, population, noise, keep=keep)

    def some(teams: tuple[Keys, TeamPolicy], field: Field) -> Rollout:
        def one_team(team: tuple[Keys, TeamPolicy]) -> Rollout:
            keys, policy = team
            return jax.vmap(lambda key, sigma: play(key, field, PolicyPlayer(policy), sigma, keep=keep))(keys, noise)

        at_once, number = max(1, EPISODES_AT_ONCE // keys.shape[1]), teams[0].shape[0]
        return jax.vmap(one_team)(teams) if number <= at_once else jax.lax.map(one_team, teams, batch_size=at_once)

    return devices.shard_over(devices.count(), some)((keys, population), field)


def play_gains(
    keys: Keys, field: Field, policy: TeamPolicy, gains: Float[Array, "team agent obs"], active: Bool[Array, ""]
) -> Rollout:
    """One episode of each of several teams that differ in their gains only; nothing unless `active`.

    They share the policy's weights, so that a step of many teams is one matmul. Nobody in the team learns from them.
    """

    def some(teams: tuple[Keys, Array], policy: TeamPolicy, field: Field) -> Rollout:
        def one_team(team: tuple[Key, Array]) -> Rollout:
            key, gain = team
            return play(key, field, PolicyPlayer(tuned(policy, gain)), keep=False)

        many = teams[0].shape[0] > EPISODES_AT_ONCE
        return jax.lax.map(one_team, teams, batch_size=EPISODES_AT_ONCE) if many else jax.vmap(one_team)(teams)

    if outside.is_outside(field.env):
        return outside.play_gains(keys, field, policy, gains, active)
    numbers = jax.random.key_data(keys)  # as plain numbers: a batch of conditions would count keys as reused

    def really() -> Rollout:
        same = jax.random.wrap_key_data(numbers, impl=jax.random.key_impl(keys))
        return devices.shard_over(devices.count(), some)((same, gains), policy, field)

    shapes = jax.eval_shape(really)
    return jax.lax.cond(active, really, lambda: jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), shapes))


def play_team(keys: Keys, field: Field, player: Player, noise: float | None = None, *, keep: bool = True) -> Rollout:
    """One team's episodes, split over the devices; its opponents explore with the same noise."""
    if outside.is_outside(field.env):
        return outside.play_team(keys, field, player, noise, keep=keep)

    def some(keys: Keys, player: Player, field: Field) -> Rollout:
        return jax.vmap(lambda key: play(key, field, player, noise, noise, keep=keep))(keys)

    return devices.shard_over(devices.count(), some)(keys, player, field)


def play_test(key: Key, field: Field, player: Player, episodes: int) -> Episode:
    """A team's episodes on fresh instances, without noise, by all processes together; nobody learns from them."""
    keys, field = jax.random.split(key, episodes), Field(field.env, field.opponents)
    if processes.number() > 1:
        shapes = _play_instances.eval_shape(keys, field, player)
        return processes.by_all(_instances_by_all, shapes, keys, field, player)
    return play_instances(keys, field, player)


def play_instances(keys: Keys, field: Field, player: Player) -> Episode:
    """A team's episodes on these instances, without noise; nobody learns from them."""
    if outside.is_outside(field.env):
        return play_team(keys, Field(field.env, field.opponents), player, keep=False).episode
    return _play_instances(*devices.spread(None, (keys, Field(field.env, field.opponents), player)))


@partial(jax.jit, compiler_options=devices.QUICK_COMPILE)
def _play_instances(keys: Keys, field: Field, player: Player) -> Episode:
    return play_team(keys, field, player, keep=False).episode


@partial(jax.jit, compiler_options=devices.QUICK_COMPILE)
def _instances_by_all(keys: Keys, field: Field, player: Player) -> Episode:
    return play_team(keys, field, player, keep=False).episode


def history(key: Key, field: Field, player: Player) -> tuple[Float[Array, ""], History]:
    """Play one episode without noise, on the instance that `play` has for this key: its score, and what happened."""
    states, (_, actions, team, agent), valid = _recorded(key, field, player)
    return team[0].sum(), History(states, actions[0], agent[0], valid)


def trace(key: Key, field: Field, player: Player) -> Trace:
    """Play one episode without noise, on the same instance as `play` with this key, and keep what can be shown."""
    return outside.trace(key, field, player) if outside.is_outside(field.env) else _trace(key, field, player)


@jax.jit
def _trace(key: Key, field: Field, player: Player) -> Trace:
    seen = field.env.horizon * sum(side.num_agents * side.obs_size for side in field.env.sides)
    states, told, valid = _recorded(key, field, player)
    obs, actions, team, agent = told
    return Trace(states, valid.sum(), team[0].sum(), obs if seen <= MOST_SEEN else (), actions, team, agent)


def _recorded(key: Key, field: Field, player: Player) -> tuple[State, tuple[Any, ...], Bool[Array, " time"]]:
    """One episode: its states, what was seen, done and paid on the way to each, by side, and which steps count."""
    key, opponents = _met(key, field)
    env, players = field.env, (player, *opponents)
    key_reset, _, key_steps = jax.random.split(key, 3)
    obs, first = base.reset(env, key_reset)

    def step(carry, key):
        obs, state, alive = carry
        actions = _act(env, state, players, obs, (None,) * len(players))
        after = base.step(env, key, state, actions)
        paid = [(jnp.where(alive, reward.team, 0.0), reward.agent) for reward in after.reward]
        told = obs, actions, *zip(*paid, strict=True)
        return (after.obs, after.state, alive & ~(after.terminated | after.truncated)), (after.state, told, alive)

    carry = obs, first, jnp.ones((), bool)
    _, (states, told, valid) = jax.lax.scan(step, carry, jax.random.split(key_steps, env.horizon))
    return jax.tree.map(lambda first, rest: jnp.concatenate([first[None], rest]), first, states), told, valid
