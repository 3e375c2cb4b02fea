"""One generation: training, tests and benchmarks all drive `Game.step`."""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int

from merlax.algorithms.base import Algorithm, Rollouts, Seat
from merlax.core import devices, records, replay
from merlax.core.networks import TeamPolicy
from merlax.core.players import Player, PolicyPlayer
from merlax.core.rollout import Field
from merlax.envs.base import Env
from merlax.types import Key


class GameState(eqx.Module):
    """Everything that changes during a run."""

    team: Any  # the algorithm's
    opponent: Any = None  # its algorithm's, where there is one


class Learned(eqx.Module):
    """What one side's algorithm reports of a generation."""

    info: Any  # a record
    finite: Bool[Array, " part"]  # of its state, see `records.finite_parts`


class Generation(eqx.Module):
    """What one generation leaves to be written down."""

    frames: Int[Array, ""]
    fault: Bool[Array, " fault"]  # which of `rollout.FAULTS` happened in any episode
    team: Learned
    opponent: Learned | None


@dataclasses.dataclass(frozen=True)
class Game:
    """A world, the algorithm that trains its team and, in a contest, the one on the other side.

    `init` and `step` compile what they do. Within a program of the caller's own, such as `jax.jit(jax.vmap(game.step))`
    over seeds, they are plain functions.
    """

    env: Env
    algorithm: Algorithm
    opponent: Algorithm | None = None

    def init(self, key: Key) -> GameState:
        """The state before the first generation."""
        key_team, key_opponent = jax.random.split(key)
        team = _start(self.algorithm, Seat(self.env, 0), key_team)
        return GameState(team, self.opponent and _start(self.opponent, Seat(self.env, 1), key_opponent))

    def step(self, key: Key, state: GameState) -> tuple[GameState, Generation]:
        """One generation: all play, then each side learns from its part of it. The old state is used up."""
        key_play, key_team, key_opponent = jax.random.split(key, 3)
        rollouts = _play(self.algorithm, key_play, self.algorithm.players(state.team), self.field(state))
        opponent, opponent_learned = state.opponent, None
        if self.opponent is not None and self.opponent.learns:
            opponent, opponent_learned, _ = _learn(self.opponent, Seat(self.env, 1), key_opponent, opponent, rollouts)
        team, learned, (frames, fault) = _learn(self.algorithm, Seat(self.env, 0), key_team, state.team, rollouts)
        return GameState(team, opponent), Generation(frames, fault, learned, opponent_learned)

    def field(self, state: GameState) -> Field:
        """Where the team plays: the world, and its newest opponent."""
        player = self.opponent_player(state)
        return Field(self.env, () if player is None else (player,), self.opponent is not None and self.opponent.learns)

    def champion(self, state: GameState) -> TeamPolicy:
        """The team to test."""
        return self.algorithm.champion(state.team)

    def opponent_player(self, state: GameState) -> Player | None:
        """The newest opponent, where there is one."""
        if self.opponent is None:
            return None
        return PolicyPlayer(self.opponent.champion(state.opponent)) if self.opponent.learns else state.opponent

    def frames_per_generation(self) -> int:
        """Joint steps of one generation in which no episode ends early.

        Its programs are traced for that, which `init` and `step` need not do again.
        """
        key = jax.eval_shape(lambda: jax.random.key(0))
        state = GameState(_shapes(self.algorithm, Seat(self.env, 0), key))
        if self.opponent is not None:
            state = GameState(state.team, _shapes(self.opponent, Seat(self.env, 1), key))
        players, field = self.algorithm.players(state.team), self.field(state)
        rollouts = _compiled_play.eval_shape(self.algorithm, key, players, field)
        return sum(rollout.valid.size for rollout in rollouts)


def _shapes(algorithm: Algorithm, seat: Seat, key: Any) -> Any:
    """An algorithm's state, without its numbers."""
    if not algorithm.learns:
        return jax.eval_shape(lambda key: algorithm.start(key, seat), key)
    return _compiled_start.eval_shape(algorithm, seat, key)


def _start(algorithm: Algorithm, seat: Seat, key: Key) -> Any:
    if not algorithm.learns:
        return devices.spread(None, algorithm.start(key, seat))
    if devices.traced(key):
        with devices.inline():
            return algorithm.start(key, seat)
    return _compiled_start(algorithm, seat, key)


def _play(algorithm: Algorithm, key: Key, players: Any, field: Field) -> Rollouts:
    """On all devices."""
    if devices.traced(key, players, field):
        with devices.inline():
            return algorithm.play(key, players, field)
    return _compiled_play(algorithm, *devices.spread(None, (key, players, field)))


def _learn(algorithm: Algorithm, seat: Seat, key: Key, state: Any, rollouts: Rollouts) -> Any:
    """On as many devices as are worth it."""
    own = tuple(eqx.tree_at(lambda r: r.transitions, r, _only(r.transitions, seat.index)) for r in rollouts)
    if devices.traced(key, state, rollouts):
        with devices.inline():
            return _learn_and_look(algorithm, seat, key, state, own)
    shards = algorithm.num_shards(seat)
    if shards < devices.count():
        own = devices.spread(shards, own)
    return _compiled_learn(algorithm, seat, devices.spread(shards, key), state, own)


def _only(transitions: tuple[Any, ...], index: int) -> tuple[Any, ...]:
    return tuple(each if i == index else None for i, each in enumerate(transitions))


def _learn_and_look(algorithm: Algorithm, seat: Seat, key: Key, state: Any, rollouts: Rollouts) -> Any:
    """What an algorithm learns, whether its state is finite, and the frames and faults of the rollouts."""
    state, info = algorithm.learn(key, state, rollouts, seat)
    frames = jnp.stack([rollout.episode.frames.sum() for rollout in rollouts]).sum()
    faults = [rollout.episode.fault.reshape(-1, rollout.episode.fault.shape[-1]).any(axis=0) for rollout in rollouts]
    state = devices.place(algorithm.num_shards(seat), state, replay.Buffer)
    return state, Learned(info, records.finite_flags(state)), (frames, jnp.stack(faults).any(axis=0))


_compiled = partial(jax.jit, compiler_options=devices.QUICK_COMPILE)


@partial(_compiled, static_argnums=(0, 1))
def _compiled_start(algorithm: Algorithm, seat: Seat, key: Key) -> Any:
    return devices.place(algorithm.num_shards(seat), algorithm.start(key, seat), replay.Buffer)


@partial(_compiled, static_argnums=0)
def _compiled_play(algorithm: Algorithm, key: Key, players: Any, field: Field) -> Rollouts:
    return algorithm.play(key, players, field)


@partial(_compiled, static_argnums=(0, 1), donate_argnums=3)
def _compiled_learn(algorithm: Algorithm, seat: Seat, key: Key, state: Any, rollouts: Rollouts) -> Any:
    return _learn_and_look(algorithm, seat, key, state, rollouts)
