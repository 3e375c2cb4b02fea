"""The loop: generations, tests, records. Same seed, same rows, whatever the clock does."""

from __future__ import annotations

import dataclasses
import signal
import time
from collections.abc import Sequence

import jax

from merlax.algorithms.game import Game, GameState, Generation
from merlax.core import records, rollout
from merlax.core.networks import TeamPolicy
from merlax.core.players import Player, PolicyPlayer
from merlax.core.records import Column
from merlax.core.rollout import Episode
from merlax.runs import process
from merlax.runs.checkpoints import Position, Saver
from merlax.runs.process import Caught
from merlax.runs.recorders import Beginning, Recorder, Row
from merlax.runs.writer import RunFolder
from merlax.types import Key, UserError

TEST_EPISODES = 10  # instances that the champion meets every generation, as in the paper


@dataclasses.dataclass(frozen=True)
class Ending:
    """Why a run came to its end."""

    finished: bool = True
    """Whether it reached its last frame; else it can be continued."""
    signal: int | None = None
    """Which signal ended it, if one did."""


def check_budget(game: Game, frames: int) -> None:
    """Refuse a budget that ends before the first generation does."""
    needed = game.frames_per_generation()
    if frames < needed:
        raise UserError(
            f"frames is {frames:,} but one generation alone takes up to {needed:,}; "
            "raise frames, or lower the population or the episodes."
        )


def run(
    game: Game, folder: RunFolder, recorders: Sequence[Recorder], saver: Saver, beginning: Beginning, *, seed: int,
    resume: bool = False,
) -> Ending:  # fmt: skip
    """Train until another generation might exceed the budget, from the newest checkpoint if it is to resume.

    A signal, or a recorder that says so, ends it earlier, after a last checkpoint.
    """
    with process.caught_signals() as caught, folder.faults():
        try:
            return _run(game, folder, recorders, saver, beginning, caught, jax.random.key(seed), resume)
        except KeyboardInterrupt:
            return Ending(finished=False, signal=caught.number or signal.SIGINT)


def _run(
    game: Game, folder: RunFolder, recorders: Sequence[Recorder], saver: Saver, beginning: Beginning, caught: Caught,
    key: Key, resume: bool,
) -> Ending:  # fmt: skip
    at = Position()
    if not resume:  # before the first program is compiled, so that somebody says so
        _start(recorders, beginning, at)
    state = game.init(jax.random.fold_in(key, 0))
    if resume:
        at, state = saver.newest(state) or (at, state)
        _start(recorders, beginning, at)
    champion, opponent = _players(game, state)
    _save_teams(folder, champion if at.generation else None, opponent)  # an opponent that never changes, from the start
    started, needed = time.monotonic() - at.seconds, game.frames_per_generation()
    while at.frames + needed <= beginning.frames:
        if caught.number is not None:
            if at.generation:
                saver.save(at, state)
            return Ending(finished=False, signal=caught.number)
        state, played = _generation(game, jax.random.fold_in(key, at.generation + 1), state)
        at = Position(at.generation + 1, at.frames + int(played.generation.frames), time.monotonic() - started)
        row = _checked_row(at, played, state, saver)
        folder.check()
        _save_teams(folder, played.champion, played.opponent)
        stops = [recorder.record(row) for recorder in recorders]
        if any(stops):
            saver.save(at, state)
            return Ending(finished=False)
        saver.maybe(at, state)
    return Ending()


def _start(recorders: Sequence[Recorder], beginning: Beginning, at: Position) -> None:
    for recorder in recorders:
        recorder.start(dataclasses.replace(beginning, generation=at.generation, frames_done=at.frames))


def _players(game: Game, state: GameState) -> tuple[TeamPolicy, Player | None]:
    """Both sides' newest, on the host."""
    return jax.device_get((game.champion(state), game.opponent_player(state)))


def _save_teams(folder: RunFolder, champion: TeamPolicy | None, opponent: Player | None) -> None:
    if champion is not None:
        folder.save_champion(champion)
    if isinstance(opponent, PolicyPlayer):
        folder.save_opponent(opponent.policy)


@dataclasses.dataclass(frozen=True)
class Played:
    """What one generation leaves for the record."""

    generation: Generation
    champion: TeamPolicy
    opponent: Player | None
    tested: Episode


def _generation(game: Game, key: Key, state: GameState) -> tuple[GameState, Played]:
    """One generation, and its champion's test."""
    key_step, key_test = jax.random.split(key)
    state, generation = game.step(key_step, state)
    champion, opponent = _players(game, state)
    tested = rollout.play_test(key_test, game.field(state), PolicyPlayer(champion), TEST_EPISODES)
    return state, Played(generation, champion, opponent, tested)


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
    """The reports of both sides, then the test."""
    found = records.columns(played.generation.team.info)
    if played.generation.opponent is not None:
        found += records.columns(played.generation.opponent.info, prefix="opponent_")
    found.append(Column("champion_score", float(played.tested.fitness.mean()), must_be_finite=True))
    for reward in played.tested.agent_reward[1:]:
        found.append(Column("opponent_score", float(reward.mean()), must_be_finite=True))
    return found


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
