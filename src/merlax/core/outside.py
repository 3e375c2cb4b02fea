"""Episodes of worlds outside JAX: weights go out to other processes, and rollouts like those of any world come back."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from merlax.core.networks import TeamPolicy
from merlax.core.played import Episode, Field, Rollout, Trace
from merlax.core.players import Benched, Gallery, Player, PolicyPlayer, ScriptedPlayer
from merlax.envs.adapters import workers
from merlax.envs.base import Env, Side
from merlax.envs.outside import Outside
from merlax.envs.rules import STILL
from merlax.types import Keys, Transition, UserError
from merlax_worker import episode, players
from merlax_worker.episode import Job, Lived, Result


def is_outside(env: Env) -> bool:
    """Whether a world's episodes are played in other processes."""
    return isinstance(env, Outside)


def play_population(
    keys: Keys, field: Field, population: TeamPolicy, noise: Float[Array, " episode"] | None, *, keep: bool
) -> Rollout:
    """Each team's episodes [pop, episode]; episode i of every team has noise i."""
    teams = _teams(population)
    scales = [0.0] * keys.shape[1] if noise is None else np.asarray(noise).tolist()
    places = [(team, scale, 0.0) for team in range(len(teams)) for scale in scales]
    return _play(keys, field, teams, places, keep=keep)


def play_team(keys: Keys, field: Field, player: Player, noise: float | None, *, keep: bool) -> Rollout:
    """One team's episodes; its opponents explore with the same noise."""
    scale = noise or 0.0
    return _play(keys, field, [sent(player)], [(0, scale, scale)] * keys.size, keep=keep)


def play_gains(keys: Keys, field: Field, policy: TeamPolicy, gains: Array, active: Array) -> Rollout:
    """One episode of each of several teams that differ in their gains only; nothing unless `active`."""
    shared, rows = _policy(jax.device_get(policy)), np.asarray(gains)
    if not bool(active):
        return _rollout(field.env, [_nothing(field.env)] * keys.size, (False,) * len(field.env.sides), keys.shape)
    teams = [players.Player(dataclasses.replace(shared, gain=gain)) for gain in rows]
    return _play(keys, field, teams, [(team, 0.0, 0.0) for team in range(len(teams))], keep=False)


def trace(key: Any, field: Field, player: Player) -> Trace:
    """Play one episode without noise; instead of states, it has the world's own pictures."""
    env = field.env
    assert isinstance(env, Outside)
    met = [_candidates(each, key[None]) for each in field.opponents]
    all_players = [sent(player), *(candidates[turn] for candidates, (turn,) in met)]
    number = len(all_players)
    job = Job(_words(key[None])[0], tuple(range(number)), (0.0,) * number)
    result: Result = workers.run(env, [(episode.film, env.world(), all_players, job)])[0]
    lived = [own for own in result.lived if own is not None]
    as_jax = lambda name: tuple(jnp.asarray(getattr(own, name)) for own in lived)  # noqa: E731
    return Trace(
        states={"frame": jnp.asarray(np.stack(result.frames))},
        steps=jnp.int32(result.steps),
        score=jnp.float32(result.fitness),
        obs=tuple(jnp.asarray(own.seen[:-1]) for own in lived),
        action=as_jax("action"),
        team_reward=as_jax("team_reward"),
        agent_reward=as_jax("agent_reward"),
    )


def _play(
    keys: Keys,
    field: Field,
    teams: Sequence[players.Player],
    places: Sequence[tuple[int, float, float]],
    *,
    keep: bool,
) -> Rollout:
    """Episodes of these keys, each by one of the teams, with noise of its own and the opponents'."""
    env = field.env
    assert isinstance(env, Outside)
    keys_of_episodes, everybody, met = keys.reshape(-1), list(teams), []
    for opponent in field.opponents:
        candidates, turns = _candidates(opponent, keys_of_episodes)
        met.append([len(everybody) + turn for turn in turns])
        everybody += candidates
    jobs = [
        Job(words, (team, *opponents), (own, *(theirs for _ in opponents)))
        for words, (team, own, theirs), *opponents in zip(_words(keys_of_episodes), places, *met, strict=True)
    ]
    kept = (keep, *(field.opponents_learn for _ in field.opponents))
    return _rollout(env, workers.play(env, everybody, jobs, kept), kept, keys.shape)


def _candidates(opponent: Player | Gallery, keys: Keys) -> tuple[list[players.Player], list[int]]:
    """Who may play on another side, and whose turn it is in every episode."""
    if not isinstance(opponent, Gallery):
        return [sent(opponent)], [0] * keys.size
    draws = jax.vmap(lambda key: opponent.draw(jax.random.fold_in(key, 0)))(keys)
    turns = np.maximum(np.asarray(draws) + 1, 0)  # the newest comes first
    return [sent(PolicyPlayer(opponent.newest)), *_teams(opponent.earlier)], turns.tolist()


def _words(keys: Keys) -> list[tuple[int, ...]]:
    """Keys as plain numbers."""
    return [tuple(words) for words in np.asarray(jax.random.key_data(keys)).tolist()]


def _teams(population: TeamPolicy) -> list[players.Player]:
    """The teams of a population one by one, with weights as NumPy arrays."""
    host = jax.device_get(population)
    return [
        players.Player(_policy(jax.tree.map(lambda leaf, team=team: leaf[team], host)))
        for team in range(host.heads.bias.shape[0])
    ]


def sent(player: Player) -> players.Player:
    """A player as other processes play it."""
    if isinstance(player, PolicyPlayer):
        return players.Player(_policy(jax.device_get(player.policy)))
    if isinstance(player, Benched):
        return players.Player(sent(player.player).policy, tuple(np.asarray(player.idle).tolist()))
    if isinstance(player, ScriptedPlayer) and player.rule == STILL:
        return players.Player()
    raise UserError(f"A world outside JAX is played by policies, and by the rule '{STILL}', only.")


def _policy(policy: Any) -> players.Policy:
    agents = policy.num_agents
    heads = policy.heads.weight.reshape(-1, agents, policy.heads.weight.shape[-1] // agents)
    return players.Policy(
        trunk=tuple((layer.weight, layer.bias) for layer in policy.trunk),
        heads=np.ascontiguousarray(np.moveaxis(heads, 1, 0)),
        bias=policy.heads.bias.reshape(agents, -1),
        gain=policy.gain,
    )


def _rollout(env: Env, results: Sequence[Result], kept: tuple[bool, ...], batch: tuple[int, ...]) -> Rollout:
    """Results as arrays [*batch, time, ...], filled up with zeros after an episode's end."""

    def of(value: Any, dtype: Any) -> Array:
        array = np.asarray(value, dtype)
        return jnp.asarray(array.reshape(*batch, *array.shape[1:]))

    steps = np.array([result.steps for result in results], np.int32)
    paid = [of([result.agent_reward[side] for result in results], np.float32) for side in range(len(env.sides))]
    played = Episode(
        fitness=of([result.fitness for result in results], np.float32),
        agent_reward=tuple(paid),
        frames=of(steps, np.int32),
        fault=of([result.fault for result in results], bool),
    )
    valid = of(np.arange(env.horizon)[None] < steps[:, None], bool)
    sides = zip(range(len(kept)), env.sides, kept, strict=True)
    return Rollout(
        played,
        valid,
        tuple(
            _transitions([result.lived[index] for result in results], side, env.horizon, batch) if wanted else None
            for index, side, wanted in sides
        ),
    )


def _nothing(env: Env) -> Result:
    """An episode that nobody has played."""
    sides = len(env.sides)
    return Result(0, 0.0, (0.0,) * sides, (False, False, False), (None,) * sides)


def _transitions(lived: Sequence[Lived | None], side: Side, horizon: int, batch: tuple[int, ...]) -> Transition:
    """What the agents of a side lived through, in one array each."""
    agents, number = side.num_agents, math.prod(batch)
    numbers = lambda *size: np.zeros((number, horizon, agents, *size), np.float32)  # noqa: E731
    obs, next_obs, action = numbers(side.obs_size), numbers(side.obs_size), numbers(side.act_size)
    agent_reward, team_reward = numbers(), numbers()
    terminated, present = numbers().astype(bool), numbers().astype(bool)
    for i, own in enumerate(lived):
        assert own is not None, "its transitions are kept"
        end = own.action.shape[0]
        there = own.present
        obs[i, :end] = np.where(there[:, :, None], own.seen[:-1], 0.0)
        next_obs[i, :end] = np.where(there[:, :, None], own.seen[1:], 0.0)
        action[i, :end], agent_reward[i, :end] = own.action, own.agent_reward
        team_reward[i, :end] = np.where(there, own.team_reward[:, None], 0.0)
        terminated[i, :end], present[i, :end] = own.terminated, there
    arrays = obs, action, agent_reward, team_reward, next_obs, terminated, present
    return Transition(*(jnp.asarray(array.reshape(*batch, *array.shape[1:])) for array in arrays))
