"""Whole episodes of a world outside JAX. `play` is pure where `reset(seed)` is: any process may call it."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import random
import signal
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from merlax_worker import world as worlds
from merlax_worker.players import Player
from merlax_worker.rows import Rows, Sizes, obs_rows
from merlax_worker.world import World, WorldError

SUMS = {"sum": np.sum, "mean": np.mean, "max": np.max, "min": np.min}
OWN = "reward"
_made: dict[str, Any] = {}  # the worlds of this process


@dataclasses.dataclass(frozen=True)
class Job:
    """One episode that is to be played."""

    words: tuple[int, ...]  # its key: the same instance, and the same noise, wherever it is played
    players: tuple[int, ...]  # by side: which of the players that go with the jobs
    noise: tuple[float, ...]  # by side: standard deviation of what is added to every output; 0: none


@dataclasses.dataclass(frozen=True)
class Lived:
    """What the agents of one side lived through, step by step."""

    seen: np.ndarray  # [step + 1, agent, obs]; of whoever has terminated, zeros
    action: np.ndarray  # [step, agent, act]
    agent_reward: np.ndarray  # [step, agent]
    team_reward: np.ndarray  # [step]
    terminated: np.ndarray  # [step, agent]
    present: np.ndarray  # [step, agent]: who was there before the step


@dataclasses.dataclass(frozen=True)
class Result:
    """An episode that was played."""

    steps: int
    fitness: float
    agent_reward: tuple[float, ...]  # by side: sum of its agents' mean reward
    fault: tuple[bool, bool, bool]  # observations, the team's reward, the agents': not finite
    lived: tuple[Lived | None, ...]  # by side, where it is to be kept
    frames: tuple[np.ndarray, ...] = ()  # pictures, where they are asked for
    told: tuple[str, ...] = ()  # the keys of all infos


def play(world: World, players: Sequence[Player], jobs: Sequence[Job], keep: tuple[bool, ...]) -> list[Result]:
    """Play these episodes one after the other."""
    with _quiet():
        try:
            made = _made.get(world.key)
            if made is None:
                made = _made[world.key] = worlds.make(world)
            return [episode(made, world, [players[k] for k in job.players], job, keep) for job in jobs]
        except BaseException:
            _made.pop(world.key, None)  # who knows what state it is in
            raise


def film(world: World, players: Sequence[Player], job: Job) -> Result:
    """Play one episode, with a picture of every instant."""
    with _quiet():
        made = worlds.make(world, "rgb_array")
        try:
            return episode(made, world, players, job, (True,) * len(world.sides), filmed=True)
        finally:
            made.close()


def twice(world: World, players: Sequence[Player], job: Job) -> tuple[Result, bool]:
    """An episode on a new world, and whether that one, and another new one, play it once more as it was."""
    keep = (True,) * len(world.sides)
    with _quiet():
        first, other = worlds.make(world), worlds.make(world)
        results = [episode(made, world, players, job, keep) for made in (first, first, other)]
    return results[0], all(_same(results[0], each) for each in results[1:])


def episode(
    made: Any, world: World, players: Sequence[Player], job: Job, keep: tuple[bool, ...], *, filmed: bool = False
) -> Result:
    """Play one episode on a world that is made."""
    seed, other = (int(word) for word in np.random.SeedSequence(job.words).generate_state(2))
    random.seed(other)  # for worlds that draw from Python's or NumPy's own streams
    np.random.seed(other)
    draws = np.random.default_rng(job.words)
    obs, infos = made.reset(seed=seed >> 1)  # 31 bits: what every generator takes
    agents = [agent for side in world.sides for agent in side.agents]
    here = {agent for agent in made.agents if agent in agents}
    tape, told, frames = _Tape(world), set(_keys(infos)), []
    seen = _seen(made, world, obs, infos, here)
    tape.see(seen)
    for time in range(1, world.horizon + 1):
        if filmed:
            frames.append(_frame(made, world))
        rows = [
            player.act(side, own, _noise(draws, side, scale))
            for player, side, own, scale in zip(players, world.sides, seen, job.noise, strict=True)
        ]
        actions = {
            agent: worlds.taken(made.action_space(agent), row)
            for side, own in zip(world.sides, rows, strict=True)
            for agent, row in zip(side.agents, own, strict=True)
            if agent in here
        }
        obs, rewards, terminations, truncations, infos = made.step(actions)
        told |= set(_keys(infos))
        over = time >= world.horizon or (world.limit and time >= world.limit)
        stay = {agent for agent in made.agents if agent in agents}
        if not stay <= here:
            raise WorldError(f"In {world.name} {min(stay - here)} joins during an episode; merlax takes none that do.")
        left = {agent for agent in here - stay if not truncations.get(agent)}
        ended = set() if over else left | {agent for agent in here if terminations.get(agent)}
        goes_on = bool(stay) and not over
        seen = _seen(made, world, obs, infos, here - ended if goes_on else here)
        paid, team = _paid(world, rewards, infos, here), _team(world, rewards, infos, here)
        tape.step(seen, rows, paid, team, ended, here)
        here = stay
        if not goes_on:
            break
        seen = [_only(side, own, here) for side, own in zip(world.sides, seen, strict=True)]
    if filmed:
        frames.append(_frame(made, world))
    return tape.result(keep, tuple(frames), tuple(sorted(told)))


class _Tape:
    """What happens in an episode, as lists."""

    def __init__(self, world: World):
        self._world = world
        self._seen, self._action, self._paid, self._team, self._ended, self._present = ([] for _ in range(6))

    def see(self, seen: list[Rows]) -> None:
        self._seen.append(seen)

    def step(self, seen: list[Rows], rows: list[Rows], paid: Any, team: Any, ended: set[str], here: set[str]) -> None:
        flags = lambda who: [np.array([agent in who for agent in side.agents]) for side in self._world.sides]  # noqa: E731
        present = flags(here)
        self._seen.append(seen)
        self._action.append([np.where(there[:, None], own, 0.0) for own, there in zip(rows, present, strict=True)])
        self._paid.append(paid)
        self._team.append(team)
        self._ended.append(flags(ended))
        self._present.append(present)

    def result(self, keep: tuple[bool, ...], frames: tuple[np.ndarray, ...], told: tuple[str, ...]) -> Result:
        sides = range(len(self._world.sides))
        stack = lambda parts, side: np.stack([part[side] for part in parts])  # noqa: E731
        lived = [
            Lived(
                stack(self._seen, side).astype(np.float32),
                stack(self._action, side).astype(np.float32),
                stack(self._paid, side).astype(np.float32),
                stack(self._team, side).astype(np.float32),
                stack(self._ended, side),
                stack(self._present, side),
            )
            for side in sides
        ]
        paid = tuple(float(own.agent_reward.mean(axis=1).sum()) for own in lived)
        fitness = float(lived[0].team_reward.sum())
        finite = all(np.isfinite(own.seen).all() for own in lived), np.isfinite(fitness), np.isfinite(paid).all()
        fault = not finite[0], not finite[1], not finite[2]
        kept = tuple(own if wanted else None for own, wanted in zip(lived, keep, strict=True))
        return Result(len(self._paid), float("nan") if any(fault) else fitness, paid, fault, kept, frames, told)


def _seen(made: Any, world: World, obs: Mapping[str, Any], infos: Mapping[str, Any], here: set[str]) -> list[Rows]:
    """What all agents see that are here, as rows, by side."""

    def of(agent: str) -> tuple[np.ndarray | None, np.ndarray | None]:
        if agent not in here or agent not in obs:
            return None, None
        vector = worlds.vector(world.name, agent, made.observation_space(agent), obs[agent])
        return vector, worlds.mask(obs[agent], infos.get(agent))

    def rows(side: Sizes) -> Rows:
        vectors, masks = zip(*map(of, side.agents), strict=True)
        return obs_rows(side, vectors, masks)

    return [rows(side) for side in world.sides]


def _only(side: Sizes, rows: Rows, here: set[str]) -> Rows:
    """Rows with zeros for those who are not here any more."""
    present = np.array([agent in here for agent in side.agents])
    return rows if present.all() else np.where(present[:, None], rows, np.float32(0.0))


def _noise(draws: np.random.Generator, side: Sizes, scale: float) -> Rows | None:
    if not scale:
        return None
    return np.float32(scale) * draws.standard_normal((len(side.agents), side.act_size), np.float32)


def _paid(world: World, rewards: Mapping[str, Any], infos: Mapping[str, Any], here: set[str]) -> list[np.ndarray]:
    """What pays each agent, by side; 0 for those who are not here."""

    def of(agent: str) -> float:
        told = rewards.get(agent, 0.0) if world.agent == OWN else infos.get(agent, {}).get(world.agent, 0.0)
        return _number(world, agent, told) if agent in here else 0.0

    return [np.array([of(agent) for agent in side.agents]) for side in world.sides]


def _team(world: World, rewards: Mapping[str, Any], infos: Mapping[str, Any], here: set[str]) -> list[float]:
    """What pays each side as a team."""
    return [_team_of(world, side, rewards, infos, here) for side in world.sides]


def _team_of(world: World, side: Sizes, rewards: Mapping[str, Any], infos: Mapping[str, Any], here: set[str]) -> float:
    """As the user has chosen it, from the agents that are here; a key of the info counts for all who have it."""
    there = [agent for agent in side.agents if agent in here]
    if not there:
        return 0.0
    own = np.array([_number(world, agent, rewards.get(agent, 0.0)) for agent in there])
    if callable(world.team):
        return _number(world, "the team", world.team(own, {agent: infos.get(agent, {}) for agent in there}))
    if world.team in SUMS:
        return float(SUMS[world.team](own))
    found = [infos[agent][world.team] for agent in there if world.team in infos.get(agent, {})]
    return float(sum(_number(world, "the team", each) for each in found))


def _number(world: World, who: str, value: Any) -> float:
    try:
        array = np.asarray(value, np.float64)
        if array.size == 1:
            return float(array.reshape(()))
    except (TypeError, ValueError):
        pass
    raise WorldError(f"{world.name} pays {who} {str(value)[:60]!r}, which is not one number; let it pay a float.")


def _keys(infos: Mapping[str, Any]) -> Iterator[str]:
    for info in infos.values():
        yield from (str(key) for key in info if key != worlds.MASK)


def _frame(made: Any, world: World) -> np.ndarray:
    frame = made.render()
    if not isinstance(frame, np.ndarray) or frame.ndim != 3 or frame.shape[2] != 3:
        raise WorldError(f"{world.name} draws no picture (render_mode='rgb_array'), so there is nothing to show.")
    return np.ascontiguousarray(frame, np.uint8)


def _same(one: Result, other: Result) -> bool:
    arrays = lambda result: [array for own in result.lived if own for array in vars(own).values()]  # noqa: E731
    pairs = zip(arrays(one), arrays(other), strict=True)
    return one.steps == other.steps and all(np.array_equal(a, b, equal_nan=a.dtype.kind == "f") for a, b in pairs)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """What worlds print and warn would end up between merlax's own lines."""
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def ignore_interrupts() -> None:
    """In a worker: Ctrl-C is for the process that asked for the episodes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
