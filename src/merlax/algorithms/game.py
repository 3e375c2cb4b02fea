"""One generation: training, tests and benchmarks all drive a `Game`."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int

from merlax.algorithms.base import Algorithm, InPieces, Rollouts, Seat
from merlax.core import devices, outside, processes, records, replay, rollout
from merlax.core.networks import TeamPolicy
from merlax.core.players import Player, PolicyPlayer
from merlax.core.rollout import Field
from merlax.envs.base import Env
from merlax.envs.outside import traceable
from merlax.types import Key


class GameState(eqx.Module):
    """Everything that changes during a run."""

    team: Any  # the algorithm's
    opponent: Any = None  # its algorithm's, where there is one
    played: Rollouts | None = None  # within a generation: its rollouts, without the transitions that are stored already


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

    Args:
        env: The world.
        algorithm: Trains the team.
        opponent: In a contest the algorithm on the other side.
        policy: The team's policy to begin with; none: a random one.

    Examples:
        >>> game = merlax.Game(merlax.make("two-rovers"), merlax.preset("fast", "two-rovers", "ea"))
        >>> state = game.init(jax.random.key(0))
        >>> state, generation = game.step(jax.random.key(1), state)
        >>> int(generation.frames)
        600
    """

    env: Env
    algorithm: Algorithm
    opponent: Algorithm | None = None
    policy: TeamPolicy | None = None

    def init(self, key: Key) -> GameState:
        """The state before the first generation."""
        key_team, key_opponent = jax.random.split(key)
        team = _start(self.algorithm, Seat(self.env, 0), key_team, self.policy)
        return GameState(team, self.opponent and _start(self.opponent, Seat(self.env, 1), key_opponent))

    def step(self, key: Key, state: GameState) -> tuple[GameState, Generation]:
        """One generation: all play, then each side learns from its part of it. The old state is used up.

        It is `begin`, `practise` and `conclude`, with one key; a run takes these one by one.
        """
        return self.conclude(key, self.practise(key, self.begin(key, state)))

    def begin(self, key: Key, state: GameState) -> GameState:
        """Everything is played, and stored by those who learn in pieces."""
        key_play, *_ = _keys(key)
        rollouts = _play(self.algorithm, key_play, self.algorithm.players(state.team), self.training_field(state))
        for seat, algorithm in self._in_pieces():
            stored = _receive(algorithm, seat, _of(state, seat), _for(seat, rollouts))
            state = _with(state, seat, stored)
            rollouts = _without(seat, rollouts)
        return GameState(state.team, state.opponent, _everywhere(rollouts))

    def midway(self, state: GameState) -> GameState:
        """A state between generations as it would be within one, with zeros for what was played."""
        played = self._played_shapes()
        for seat, _ in self._in_pieces():
            played = _without(seat, played)
        zeros = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), played)
        return GameState(state.team, state.opponent, _everywhere(zeros))

    def rounds(self, state: GameState) -> tuple[int, int]:
        """Within a generation: how many rounds of learning are done, and how many were due."""
        told = [jax.device_get(algorithm.rounds(_of(state, seat))) for seat, algorithm in self._in_pieces()]
        return max((int(done) for done, _ in told), default=0), max((int(due) for _, due in told), default=0)

    def practise(self, key: Key, state: GameState, most: int | None = None) -> GameState:
        """The rounds of learning that are left, or at most so many; pieces make what one call would."""
        keys = _keys(key)
        for seat, algorithm in self._in_pieces():
            practised = _practise(algorithm, seat, keys[seat.index + 1], _of(state, seat), most)
            state = _with(state, seat, practised)
        return state

    def conclude(self, key: Key, state: GameState) -> tuple[GameState, Generation]:
        """What follows the last round: each side's next state, and its report."""
        assert state.played is not None, "`begin` comes first"
        keys, rollouts = _keys(key), state.played
        opponent, opponent_learned = state.opponent, None
        if self.opponent is not None and self.opponent.learns:
            opponent, opponent_learned, _ = _learn(self.opponent, Seat(self.env, 1), keys[2], opponent, rollouts)
        team, learned, (frames, fault) = _learn(self.algorithm, Seat(self.env, 0), keys[1], state.team, rollouts)
        return GameState(team, opponent), Generation(frames, fault, learned, opponent_learned)

    def _in_pieces(self) -> list[tuple[Seat, InPieces]]:
        """Those who learn in pieces, the opponent first."""
        both = (Seat(self.env, 1), self.opponent), (Seat(self.env, 0), self.algorithm)
        return [(seat, algorithm) for seat, algorithm in both if isinstance(algorithm, InPieces)]

    def field(self, state: GameState) -> Field:
        """Where the team plays: the world, and its newest opponent."""
        player = self.opponent_player(state)
        return Field(self.env, () if player is None else (player,), self.opponent is not None and self.opponent.learns)

    def training_field(self, state: GameState) -> Field:
        """Where the team trains: its opponent may be joined by earlier ones."""
        field = self.field(state)
        if self.opponent is None:
            return field
        return dataclasses.replace(field, opponents=(self.opponent.partner(state.opponent),))

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
        return sum(each.valid.size for each in self._played_shapes())

    def _played_shapes(self) -> Rollouts:
        """The rollouts of a generation, without their numbers."""
        key = jax.eval_shape(lambda: jax.random.key(0))
        state = GameState(_shapes(self.algorithm, Seat(self.env, 0), key, self.policy))
        if self.opponent is not None:
            state = GameState(state.team, _shapes(self.opponent, Seat(self.env, 1), key))
        players, field = self.algorithm.players(state.team), self.training_field(state)
        field = dataclasses.replace(field, env=traceable(self.env))
        return _compiled_play.eval_shape(self.algorithm, *devices.as_if_spread((key, players, field)))


def _everywhere(rollouts: Rollouts) -> Rollouts:
    """What is left of the rollouts, on every device.

    Then learning from them exchanges nothing. Several exchanges that do not wait for each other may come in another
    order on another device, where XLA's CPU devices would wait for each other for ever.
    """
    return rollouts if devices.traced(rollouts) else devices.spread(None, rollouts)


def _keys(key: Key) -> tuple[Key, Key, Key]:
    """For playing, for the team and for the opponent; the same in every part of a generation."""
    return tuple(jax.random.split(jax.random.clone(key), 3))


def _of(state: GameState, seat: Seat) -> Any:
    return (state.team, state.opponent)[seat.index]


def _with(state: GameState, seat: Seat, own: Any) -> GameState:
    return dataclasses.replace(state, **{("team", "opponent")[seat.index]: own})


def _for(seat: Seat, rollouts: Rollouts) -> Rollouts:
    """Rollouts with the transitions of one side only."""
    return _keep(rollouts, lambda index: index == seat.index)


def _without(seat: Seat, rollouts: Rollouts) -> Rollouts:
    return _keep(rollouts, lambda index: index != seat.index)


def _keep(rollouts: Rollouts, wanted: Callable[[int], bool]) -> Rollouts:
    def only(transitions: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(each if wanted(index) else None for index, each in enumerate(transitions))

    return tuple(eqx.tree_at(lambda r: r.transitions, each, only(each.transitions)) for each in rollouts)


def _shapes(algorithm: Algorithm, seat: Seat, key: Any, policy: TeamPolicy | None = None) -> Any:
    """An algorithm's state, without its numbers."""
    if not algorithm.learns:
        return jax.eval_shape(lambda key: algorithm.start(key, seat), key)
    return _compiled_start.eval_shape(algorithm, seat, key, policy)


def _start(algorithm: Algorithm, seat: Seat, key: Key, policy: TeamPolicy | None = None) -> Any:
    if not algorithm.learns:
        return devices.spread(None, algorithm.start(key, seat))
    if devices.traced(key):
        with devices.inline():
            return _begun(algorithm, seat, key, policy)
    return _compiled_start(algorithm, seat, key, policy)


def _begun(algorithm: Algorithm, seat: Seat, key: Key, policy: TeamPolicy | None) -> Any:
    """An algorithm's first state: a random one, or one that begins with a policy."""
    if policy is None:
        return algorithm.start(key, seat)
    key_start, key_adopt = jax.random.split(key)
    return algorithm.adopt(key_adopt, algorithm.start(key_start, seat), policy, seat)


def _play(algorithm: Algorithm, key: Key, players: Any, field: Field) -> Rollouts:
    """On all devices, those of other processes, too; of a world outside JAX in processes of its own."""
    if outside.is_outside(field.env):
        if devices.traced(key, players, field) or processes.number() > 1:
            field.env.reset(key)  # which refuses it
        return algorithm.play(key, players, field)
    if devices.traced(key, players, field):
        with devices.inline():
            return algorithm.play(key, players, field)
    if processes.number() > 1:
        shapes = _compiled_play.eval_shape(algorithm, key, players, field)
        return processes.by_all(partial(_play_by_all, algorithm), shapes, key, players, field)
    return _compiled_play(algorithm, *devices.spread(None, (key, players, field)))


def _receive(algorithm: InPieces, seat: Seat, state: Any, rollouts: Rollouts) -> Any:
    """On as many devices as share the learning."""
    if devices.traced(state, rollouts):
        with devices.inline():
            return algorithm.receive(state, rollouts, seat)
    return _compiled_receive(algorithm, seat, state, _nearby(algorithm, seat, rollouts))


def _practise(algorithm: InPieces, seat: Seat, key: Key, state: Any, most: int | None) -> Any:
    if devices.traced(key, state):
        with devices.inline():
            return algorithm.practise(key, state, seat, None if most is None else jnp.int32(most))
    limit = jnp.int32(jnp.iinfo(jnp.int32).max if most is None else most)
    return _compiled_practise(algorithm, seat, *devices.spread(algorithm.num_shards(seat), (key, limit)), state)


def _learn(algorithm: Algorithm, seat: Seat, key: Key, state: Any, rollouts: Rollouts) -> Any:
    """All that an algorithm learns, or, where it did so in pieces, what follows them."""
    own = _for(seat, rollouts)
    if devices.traced(key, state, rollouts):
        with devices.inline():
            return _learn_and_look(algorithm, seat, key, state, own)
    key = devices.spread(algorithm.num_shards(seat), key)
    return _compiled_learn(algorithm, seat, key, state, _nearby(algorithm, seat, own))


def _nearby(algorithm: Algorithm, seat: Seat, rollouts: Rollouts) -> Rollouts:
    """Rollouts on the devices that share the learning: they were played on all."""
    shards = algorithm.num_shards(seat)
    return devices.spread(shards, rollouts) if shards < devices.count() else rollouts


def _learn_and_look(algorithm: Algorithm, seat: Seat, key: Key, state: Any, rollouts: Rollouts) -> Any:
    """What an algorithm learns, whether its state is finite, and the frames and faults of the rollouts."""
    episodes = tuple(each.episode for each in rollouts)
    if isinstance(algorithm, InPieces):
        state, info = algorithm.conclude(key, state, episodes, seat)
    else:
        state, info = algorithm.learn(key, state, rollouts, seat)
    faults = [episode.fault.reshape(-1, episode.fault.shape[-1]).any(axis=0) for episode in episodes]
    return (
        _place(algorithm, seat, state),
        Learned(info, records.finite_flags(state)),
        (rollout.num_frames(episodes), jnp.stack(faults).any(0)),
    )


def _place(algorithm: Algorithm, seat: Seat, state: Any) -> Any:
    return devices.place(algorithm.num_shards(seat), state, replay.Buffer)


_compiled = partial(jax.jit, compiler_options=devices.QUICK_COMPILE)


@partial(_compiled, static_argnums=(0, 1))
def _compiled_start(algorithm: Algorithm, seat: Seat, key: Key, policy: TeamPolicy | None) -> Any:
    return _place(algorithm, seat, _begun(algorithm, seat, key, policy))


@partial(_compiled, static_argnums=0)
def _compiled_play(algorithm: Algorithm, key: Key, players: Any, field: Field) -> Rollouts:
    return algorithm.play(key, players, field)


@partial(_compiled, static_argnums=0)
def _play_by_all(algorithm: Algorithm, key: Key, players: Any, field: Field) -> Rollouts:
    return algorithm.play(key, players, field)


@partial(_compiled, static_argnums=(0, 1), donate_argnums=2)
def _compiled_receive(algorithm: InPieces, seat: Seat, state: Any, rollouts: Rollouts) -> Any:
    return _place(algorithm, seat, algorithm.receive(state, rollouts, seat))


@partial(_compiled, static_argnums=(0, 1), donate_argnums=4)
def _compiled_practise(algorithm: InPieces, seat: Seat, key: Key, most: Int[Array, ""], state: Any) -> Any:
    return _place(algorithm, seat, algorithm.practise(key, state, seat, most))


@partial(_compiled, static_argnums=(0, 1), donate_argnums=3)
def _compiled_learn(algorithm: Algorithm, seat: Seat, key: Key, state: Any, rollouts: Rollouts) -> Any:
    return _learn_and_look(algorithm, seat, key, state, rollouts)
