"""How much a game holds, by simple sums: nothing is traced, so that sizes beyond any machine are told at once.

All sizes are in numbers of four bytes. The tests hold them against what the algorithms really make.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from functools import singledispatch
from itertools import pairwise
from typing import Any

import jax

from merlax.algorithms.base import Algorithm, Seat
from merlax.algorithms.es import Es
from merlax.algorithms.evolutionary import Evolutionary
from merlax.algorithms.game import Game
from merlax.algorithms.gradient import Gradient, OffPolicy
from merlax.algorithms.merl import Merl
from merlax.algorithms.opponents import Opponent
from merlax.core import devices, replay
from merlax.core.rollout import EPISODES_AT_ONCE
from merlax.core.td3 import Td3
from merlax.envs.base import Side
from merlax.envs.outside import traceable

STEP = 8  # numbers of a step beside actions and transitions: its key, rewards and flags
LIVE = 32  # how often an episode that is played holds what its agents see: as it is, and as worlds and networks see it


@dataclasses.dataclass(frozen=True)
class Sizes:
    """What the two sides of a game hold together, and what a generation needs meanwhile."""

    population: int = 0
    """Weights of all teams that evolve."""
    learners: int = 0
    """Weights of learners, with their slow copies and the optimisers' moments."""
    buffers: int = 0
    """Replay buffers."""
    rollouts: int = 0
    """Transitions that wait to be stored."""
    playing: int = 0
    """Noise, keys and rewards of the episodes that are played at once."""
    update: int = 0
    """Rows and activations of one gradient step."""
    tuning: int = 0
    """Gains of the pairs that are tuned."""
    others: int = 0
    """The state of an algorithm of the user's own."""

    def __add__(self, other: Sizes) -> Sizes:
        return Sizes(*(a + b for a, b in zip(dataclasses.astuple(self), dataclasses.astuple(other), strict=True)))


def sizes(game: Game) -> Sizes:
    """The sizes of a game, both sides and their rollouts."""
    held = of_state(game.algorithm, Seat(game.env, 0)) + of_rollouts(game.algorithm, game)
    return held if game.opponent is None else held + of_state(game.opponent, Seat(game.env, 1))


@singledispatch
def of_state(algorithm: Algorithm, seat: Seat) -> Sizes:
    """What an algorithm keeps and works with; one of the user's own is traced for that."""
    state = jax.eval_shape(lambda key: algorithm.start(key, seat), jax.random.key(0))
    return Sizes(others=num_numbers(state))


@of_state.register(Evolutionary)
def _(algorithm: Evolutionary, seat: Seat) -> Sizes:
    return Sizes(population=(algorithm.population + 1) * team(seat.side, algorithm.actor_hidden))


@of_state.register(Merl)
def _(algorithm: Merl, seat: Seat) -> Sizes:
    gains = seat.side.num_agents * seat.side.obs_size if algorithm.tunes else 0
    teams = (algorithm.population + 1) * (team(seat.side, algorithm.actor_hidden) + gains)
    held = Sizes(
        population=teams,
        buffers=_buffers(algorithm.learners[0], seat.side),
        tuning=(algorithm.tuning.pairs + 2) * gains + seat.side.obs_size**2 if algorithm.tunes else 0,
    )
    for learner in algorithm.learners:
        held += _learner(learner, seat.side, algorithm.actor_hidden)
    return held


@of_state.register(OffPolicy)
def _(algorithm: OffPolicy, seat: Seat) -> Sizes:
    buffers = Sizes(buffers=_buffers(algorithm.learner, seat.side))
    return buffers + _learner(algorithm.learner, seat.side, algorithm.actor_hidden)


@of_state.register(Opponent)
def _(algorithm: Opponent, seat: Seat) -> Sizes:
    earlier = Sizes(population=algorithm.earlier * team(seat.side, algorithm.actor_hidden))
    return earlier + of_state.dispatch(OffPolicy)(algorithm, seat)


@of_state.register(Es)
def _(algorithm: Es, seat: Seat) -> Sizes:
    # The mean, the best, two moments, and the noise of the strategy beside its teams.
    return Sizes(population=(algorithm.population + 4) * team(seat.side, algorithm.actor_hidden))


@singledispatch
def of_rollouts(algorithm: Algorithm, game: Game) -> Sizes:
    """What a generation's rollouts take until both sides have stored them; a user's own algorithm is traced."""

    game = dataclasses.replace(game, env=traceable(game.env))

    def play(key: Any) -> Any:
        key_init, key_play = jax.random.split(key)
        state = game.init(key_init)
        return algorithm.play(key_play, algorithm.players(state.team), game.training_field(state))

    with devices.inline():
        return Sizes(rollouts=num_numbers(jax.eval_shape(play, jax.random.key(0))))


@of_rollouts.register(Evolutionary)
def _(algorithm: Evolutionary, game: Game) -> Sizes:
    return _played(game, algorithm.population, algorithm.fitness.episodes, keep=False)


@of_rollouts.register(Merl)
def _(algorithm: Merl, game: Game) -> Sizes:
    episodes = algorithm.fitness.episodes + algorithm.noisy_episodes
    played = _played(game, algorithm.population, episodes)
    for _ in algorithm.learners:
        played += _played(game, 1, algorithm.explore_episodes)
    return played + _played(game, 2 * algorithm.tuning.pairs, 1, keep=False)


@of_rollouts.register(Gradient)
def _(algorithm: Gradient, game: Game) -> Sizes:
    return _played(game, 1, algorithm.explore_episodes)


@of_rollouts.register(Es)
def _(algorithm: Es, game: Game) -> Sizes:
    return _played(game, algorithm.population, algorithm.fitness_episodes, keep=False)


def _played(game: Game, teams: int, episodes: int, *, keep: bool = True) -> Sizes:
    """Each team's episodes, of which the transitions of those sides are kept that learn from them."""
    learning = keep, game.opponent is not None and game.opponent.learns
    kept = sum(_transition(side) for side, learns in zip(game.env.sides, learning, strict=False) if learns)
    acting = sum(side.num_agents * side.act_size for side in game.env.sides)
    seeing = sum(side.num_agents * side.obs_size for side in game.env.sides)
    steps = game.env.horizon
    at_once = min(teams * episodes, devices.count() * max(EPISODES_AT_ONCE, episodes))
    return Sizes(
        rollouts=teams * episodes * steps * (kept + 1),
        playing=at_once * (steps * (acting + STEP) + LIVE * seeing),
    )


def team(side: Side, hidden: Sequence[int]) -> int:
    """The weights of one team."""
    return _weights([side.obs_size, *hidden, side.num_agents * side.act_size])


def _learner(config: Td3, side: Side, actor_hidden: Sequence[int]) -> Sizes:
    each = side.num_agents if config.sees_all else 1
    first = [(side.obs_size + side.act_size) * each, config.critic_hidden[0]]
    rest = each * _weights([*config.critic_hidden, 1])
    critics = config.critics * (_weights(first) * (1 if config.critic == "shared" else each) + rest)
    rows = config.batch * side.num_agents
    active = rows if config.order == "joint" else config.batch
    ways = side.act_size if side.chooses else 1  # a critic looks at every choice
    nodes = sum(actor_hidden) + side.num_agents * side.act_size + max(config.critics, ways) * sum(config.critic_hidden)
    return Sizes(
        learners=4 * (team(side, actor_hidden) + critics),
        update=rows * replay.row_size(side) + active * nodes,
    )


def _buffers(config: Td3, side: Side) -> int:
    return config.buffer * side.num_agents * replay.row_size(side)


def _transition(side: Side) -> int:
    return side.num_agents * replay.numbers(side)


def _weights(layers: Sequence[int]) -> int:
    return sum((inputs + 1) * outputs for inputs, outputs in pairwise(layers))


def num_numbers(tree: Any) -> int:
    """How many numbers the arrays of a tree have, each counted as four bytes."""
    return sum(math.prod(leaf.shape) for leaf in jax.tree.leaves(tree) if hasattr(leaf, "shape"))
