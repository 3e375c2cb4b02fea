"""The loop: generations, tests, records. Same seed, same rows, whatever the clock does."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import signal
import time
import zlib
from collections.abc import Iterator, Sequence

import jax
import numpy as np

from merlax.algorithms.game import Game, GameState, Generation
from merlax.core import outside, records, rollout
from merlax.core.networks import TeamPolicy
from merlax.core.players import Player, PolicyPlayer
from merlax.core.records import Column
from merlax.core.rollout import Episode
from merlax.envs.adapters.workers import WorldFailedError
from merlax.runs import hosts
from merlax.runs.checkpoints import Position
from merlax.runs.hosts import Bystander
from merlax.runs.process import Caught
from merlax.runs.recorders import TESTED, Beginning, Follower, Midway, Recorder, Row
from merlax.runs.saver import Saver
from merlax.runs.writer import RunFolder
from merlax.types import Key, UserError

PIECE_SECONDS = 1.0  # of learning, between two looks at signals, displays and checkpoints
TEST_EPISODES = 10  # instances that the champion meets in a test, as in the paper
TESTS = 1000  # of a run with more generations than that; else every generation's champion is tested, as in the paper


@dataclasses.dataclass(frozen=True)
class Ending:
    """Why a run came to its end."""

    finished: bool = True
    """Whether it reached its last frame; else it can be continued."""
    signal: int | None = None
    """Which signal ended it, if one did."""


class Pace:
    """How many rounds of learning make a piece of work: what follows from the clock changes no result."""

    def __init__(self) -> None:
        self._rounds = 0  # the first piece only compiles
        self._round_seconds = 0.0

    def next(self, left: int) -> int:
        """The rounds of the next piece."""
        return min(left, self._rounds)

    @contextlib.contextmanager
    def piece(self, rounds: int) -> Iterator[None]:
        """Take the time of a piece."""
        start = time.monotonic()
        yield
        took = time.monotonic() - start
        if rounds == 0:
            self._rounds = 1
        else:
            self._round_seconds = took / rounds
            wanted = PIECE_SECONDS / max(self._round_seconds, 1e-9)
            self._rounds = max(1, int(min(wanted, 8 * rounds)))

    def seconds(self, rounds: int) -> float:
        """How long so many rounds take."""
        return rounds * self._round_seconds


def check_budget(game: Game, frames: int) -> None:
    """Refuse a budget that ends before the first generation does."""
    needed = game.frames_per_generation()
    if frames < needed:
        raise UserError(
            f"frames is {frames:,} but one generation alone takes up to {needed:,}; "
            "raise frames, or lower the population or the episodes."
        )


def run(
    game: Game, folder: RunFolder | Bystander, recorders: Sequence[Recorder], saver: Saver, beginning: Beginning,
    caught: Caught, *, seed: int, resume: bool = False,
) -> Ending:  # fmt: skip
    """Train until another generation might exceed the budget, from the newest checkpoint if it is to resume.

    A signal, or a recorder that says so, ends it earlier, after a last checkpoint.
    """
    training = _Training(game, folder, recorders, saver, beginning, caught, jax.random.key(seed))
    with folder.faults(), hosts.losses():
        try:
            return training.run(resume)
        except KeyboardInterrupt:
            return Ending(finished=False, signal=caught.number or signal.SIGINT)


@dataclasses.dataclass
class _Training:
    """One run while it goes on, and how far it is."""

    game: Game
    folder: RunFolder | Bystander
    recorders: Sequence[Recorder]
    saver: Saver
    beginning: Beginning
    caught: Caught
    key: Key
    at: Position = dataclasses.field(default_factory=Position)
    signal: int | None = None
    """Which one came to any process, as all processes know it."""

    def run(self, resume: bool) -> Ending:
        self.caught.nothing_to_lose = True
        state = self._begin(resume)
        self._needed, self._pace = self.game.frames_per_generation(), Pace()
        self._started = time.monotonic() - self.at.seconds
        while self.at.frames + self._needed <= self.beginning.frames:
            try:
                state, played = self._generation(state)
            except WorldFailedError as error:
                raise self._kept(error, state) from error
            if played is None:
                if self.at.generation or self.at.rounds:
                    self.saver.save(self.at, state)
                return Ending(finished=False, signal=self.signal)
            if self._write(state, played):
                self._keep_newest(state, played)
                self.saver.save(self.at, state)
                return Ending(finished=False)
            if self.at.generation == 1 and outside.is_outside(self.game.env):
                self.saver.save(self.at, state)  # its world may fail before the first interval is over
            else:
                self.saver.maybe(self.at, state)
            if self.at.frames + self._needed > self.beginning.frames:
                self._keep_newest(state, played)
        self.saver.save_end(self.at, state)
        return Ending()

    def _kept(self, error: WorldFailedError, state: GameState) -> UserError:
        """What went wrong in a world, with what is left: the state, unless learning has used it up already."""
        whole = not any(leaf.is_deleted() for leaf in jax.tree.leaves(state) if isinstance(leaf, jax.Array))
        if whole and self.at.generation:
            self.saver.save(self.at, state)
        return UserError(f"{str(error).removesuffix('.')}; {self.saver.last_good()}.")

    def _begin(self, resume: bool) -> GameState:
        """The first state, or that of the newest checkpoint."""
        if not resume:  # before the first program is compiled, so that somebody says so
            _start(self.recorders, self.beginning, self.at)
        state = self.game.init(jax.random.fold_in(self.key, 0))
        if resume:
            self.at, state = self.saver.newest(state, lambda: self.game.midway(state)) or (self.at, state)
            _start(self.recorders, self.beginning, self.at)
        if not self.at.rounds:  # else both sides are in the midst of learning, and the folder holds them already
            champion, opponent = _players(self.game, state)
            _save_teams(self.folder, champion if self.at.generation else None, opponent)
        return state

    def _generation(self, state: GameState) -> tuple[GameState, Played | None]:
        """One generation, piece by piece, and its champion's test if it is due; nothing where a signal comes before."""
        if self._agree(0)[0]:
            return state, None
        game = self.game
        key_step, key_test = jax.random.split(jax.random.fold_in(self.key, self.at.generation + 1))
        if state.played is None:
            state = game.begin(key_step, state)
        done, due = game.rounds(state)
        while done < due:
            self._look_up(done, due, state)
            stop, rounds = self._agree(self._pace.next(due - done))
            if done and stop:  # before the first round, the state is none to save
                return state, None
            with self._pace.piece(rounds):
                state = jax.block_until_ready(game.practise(key_step, state, rounds))
            done += rounds
        state, generation = game.conclude(key_step, state)
        if not self._is_test(int(generation.frames)):
            return state, Played(generation, len(game.env.sides))
        champion, opponent = _players(game, state)
        tested = rollout.play_test(key_test, game.field(state), PolicyPlayer(champion), TEST_EPISODES)
        return state, Played(generation, len(game.env.sides), Tested(champion, opponent, jax.device_get(tested)))

    def _is_test(self, frames: int) -> bool:
        """Whether a generation of so many frames is tested: the first, and then one in every share of the budget."""
        share = lambda reached: reached * TESTS // self.beginning.frames  # noqa: E731
        return self.at.generation == 0 or share(self.at.frames + frames) > share(self.at.frames)

    def _keep_newest(self, state: GameState, played: Played) -> None:
        """Save both sides as the run leaves them, unless their test has."""
        if played.tested is None:
            _save_teams(self.folder, *_players(self.game, state))

    def _agree(self, number: int, row: object = None) -> tuple[bool, int]:
        """Whether a signal came to any process, and the first one's number; the row must be everybody's."""
        told = hosts.gather([self.caught.number or 0, number, zlib.crc32(repr(row).encode())])
        hosts.refuse_different(told[:, 2])
        self.signal = int(told[:, 0].max()) or None
        return self.signal is not None, int(told[0, 1])

    def _look_up(self, done: int, due: int, state: GameState) -> None:
        """Between two pieces: show how far the generation is, and save it if it is time."""
        share = done / due
        frames = self.at.frames + round(share * self._needed)
        told = Midway(self.at.generation + 1, frames, share, self._pace.seconds(due))
        for recorder in self.recorders:
            if isinstance(recorder, Follower):
                recorder.midway(told)
        if done:
            self.at = dataclasses.replace(self.at, seconds=time.monotonic() - self._started, rounds=done)
            self.caught.nothing_to_lose = False
            self.saver.maybe(self.at, state)

    def _write(self, state: GameState, played: Played) -> bool:
        """Write a generation down, and say whether a recorder ends the run."""
        self.caught.nothing_to_lose = False
        frames = self.at.frames + int(played.generation.frames)
        self.at = Position(self.at.generation + 1, frames, time.monotonic() - self._started)
        row = _checked_row(self.at, played, state, self.saver)
        self.folder.check()
        if played.tested is not None:
            _save_teams(self.folder, played.tested.champion, played.tested.opponent)
        stops = [recorder.record(row) for recorder in self.recorders]
        return bool(self._agree(any(stops), row | {"seconds": None})[1])


def _start(recorders: Sequence[Recorder], beginning: Beginning, at: Position) -> None:
    for recorder in recorders:
        recorder.start(dataclasses.replace(beginning, generation=at.generation, frames_done=at.frames))


def _players(game: Game, state: GameState) -> tuple[TeamPolicy, Player | None]:
    """Both sides' newest, on the host."""
    return jax.device_get((game.champion(state), game.opponent_player(state)))


def _save_teams(folder: RunFolder | Bystander, champion: TeamPolicy | None, opponent: Player | None) -> None:
    if champion is not None:
        folder.save_champion(champion)
    if isinstance(opponent, PolicyPlayer):
        folder.save_opponent(opponent.policy)


@dataclasses.dataclass(frozen=True)
class Tested:
    """Who was tested, and how it went."""

    champion: TeamPolicy
    opponent: Player | None
    episode: Episode


@dataclasses.dataclass(frozen=True)
class Played:
    """What one generation leaves for the record."""

    generation: Generation
    sides: int
    """Of the world."""
    tested: Tested | None = None


def _checked_row(at: Position, played: Played, state: GameState, saver: Saver) -> Row:
    """One generation as it is written down; stops where a number is not finite.

    One broken team is no reason, for evolution ranks it last.
    """
    columns = _columns(played)
    place = _not_finite(columns, played, state)
    if place:
        raise UserError(
            f"Training stopped in generation {at.generation}: {place}; {saver.last_good()}. "
            "Lower the learning rates, or check what the world gives."
        )
    place_in_run: Row = {"generation": at.generation, "frames": at.frames, "seconds": round(at.seconds, 3)}
    return place_in_run | {column.name: column.value for column in columns}


def _columns(played: Played) -> list[Column]:
    """The reports of both sides, then the test; empty where there was none."""
    found = records.columns(played.generation.team.info)
    if played.generation.opponent is not None:
        found += records.columns(played.generation.opponent.info, prefix="opponent_")
    if played.tested is None:
        return found + [Column(name, math.nan, must_be_finite=False) for name in TESTED[: played.sides]]
    episode = played.tested.episode
    scores = episode.fitness, *episode.agent_reward[1:]
    return found + [Column(n, float(np.mean(s)), must_be_finite=True) for n, s in zip(TESTED, scores, strict=False)]


def _not_finite(columns: Sequence[Column], played: Played, state: GameState) -> str:
    """What is not finite, in words; nothing if all is well."""
    happened = [name for name, fault in zip(rollout.FAULTS, played.generation.fault, strict=True) if fault]
    cause = f", for the world gave {' and '.join(happened)} that is not finite" if happened else ""
    broken = [column for column in columns if column.must_be_finite and not column.is_finite]
    tests = [column for column in broken if column.name.endswith("_score")]
    for column in [column for column in broken if column not in tests]:
        return f"{column.name} became {column.value}{cause}"
    weights = _broken_weights(played.generation, state)
    if weights:
        return f"a weight in {' and '.join(weights)} is not finite"
    return next((f"{column.name} became {column.value}{cause}" for column in tests), "")


def _broken_weights(generation: Generation, state: GameState) -> list[str]:
    """Which parts of the two sides' states are not finite; asked in detail only where one is not."""
    sides = ("", generation.team, state.team), ("the opponent's ", generation.opponent, state.opponent)
    return [
        f"{whose}{name}"
        for whose, learned, own in sides
        if learned is not None and not learned.finite.all()
        for name, fine in records.finite_parts(own).items()
        if not fine
    ]
