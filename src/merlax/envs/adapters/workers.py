"""The processes that play worlds outside JAX, and what is said where one of them fails."""

from __future__ import annotations

import atexit
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, wait
from typing import Any

from merlax.envs.adapters import actors
from merlax.envs.outside import RAY, Outside
from merlax.types import UserError
from merlax_worker import episode
from merlax_worker.episode import Job, Result
from merlax_worker.players import Player
from merlax_worker.world import WorldError

PARTS = 4  # of the work, for each worker: whoever is done early takes another
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
QUIET = {"SDL_VIDEODRIVER": "dummy", "SDL_AUDIODRIVER": "dummy", "PYGAME_HIDE_SUPPORT_PROMPT": "1"}
_pool: tuple[tuple[str, int], int, Any] | None = None  # what was asked for, how many processes, and these


class WorldFailedError(UserError):
    """A world, or the process that played it, failed: training can go on from where it was."""


def number(env: Outside) -> int:
    """How many processes play a world."""
    if _pool is not None and _pool[0] == (env.on, env.workers):
        return _pool[1]
    return env.workers or (actors.room() if env.on == RAY else _cores())


def play(env: Outside, players: Sequence[Player], jobs: Sequence[Job], keep: tuple[bool, ...]) -> list[Result]:
    """Play all episodes; results are in the order of the jobs, whichever process has played them."""
    _started(env)
    world, parts = env.world(), list(_parts(len(jobs), PARTS * number(env)))
    calls = []
    for start, end in parts:
        own = jobs[start:end]
        wanted = sorted({k for job in own for k in job.players})
        place = {k: at for at, k in enumerate(wanted)}
        sent = [Job(job.words, tuple(place[k] for k in job.players), job.noise) for job in own]
        calls.append((episode.play, world, [players[k] for k in wanted], sent, keep))
    longest = max(end - start for start, end in parts)
    return [result for part in run(env, calls, longest) for result in part]


def run(env: Outside, calls: Sequence[tuple[Any, ...]], episodes: int = 1) -> list[Any]:
    """Call functions in other processes, each of which plays at most so many episodes."""
    pool = _started(env)
    try:
        futures = [pool.submit(*call) for call in calls]
        waiting = set(futures)
        while waiting:
            seconds = env.timeout * episodes if env.timeout else None
            done, waiting = wait(waiting, seconds, FIRST_COMPLETED)
            if not done:
                raise WorldFailedError(
                    f"{env.name} has not ended an episode for {env.timeout:g} seconds in a worker, so it was stopped; "
                    "if it is only slow, raise --env.timeout."
                )
            for future in done:
                future.result()
        return [future.result() for future in futures]
    except WorldError as error:
        stop()
        raise WorldFailedError(str(error)) from error
    except BrokenExecutor as error:
        stop()
        raise WorldFailedError(
            f"A worker that played {env.name} was killed or crashed; if memory ran out, lower --env.workers."
        ) from error
    except UserError:
        stop()
        raise
    except Exception as error:  # whatever the world throws
        stop()
        reason = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
        raise WorldFailedError(f"{env.name} failed in a worker ({reason}).") from error
    except BaseException:
        stop()
        raise


def stop() -> None:
    """End all processes at once, whatever they do."""
    global _pool
    if _pool is not None:
        _pool[2].shutdown(wait=False, kill_workers=True)
        _pool = None


def _started(env: Outside) -> Any:
    """The processes, which are kept from one generation to the next."""
    global _pool
    wanted = env.on, env.workers
    if _pool is not None and _pool[0] != wanted:
        stop()
    if _pool is None:
        atexit.register(stop)  # before what the processes need for that is gone
        size, start = number(env), actors.Actors if env.on == RAY else _processes
        _pool = wanted, size, start(size, ONE_THREAD | QUIET)
    return _pool[2]


def _processes(size: int, environment: dict[str, str]) -> Any:
    """On this machine."""
    from loky import ProcessPoolExecutor  # imports nothing of the user's script in a worker, unlike multiprocessing

    return ProcessPoolExecutor(size, initializer=episode.ignore_interrupts, env=environment)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _parts(jobs: int, most: int) -> Iterator[tuple[int, int]]:
    """The bounds of parts that are about as large as each other."""
    number = min(jobs, most)
    for part in range(number):
        yield jobs * part // number, jobs * (part + 1) // number
