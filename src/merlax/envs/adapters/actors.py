"""Workers on a Ray cluster: each is an actor with a core of its own, and does what a local process does."""

from __future__ import annotations

import collections
import threading
from concurrent.futures import BrokenExecutor, Future
from typing import Any

from merlax.envs.adapters import cluster
from merlax.types import UserError
from merlax_worker.actor import Worker

START_SECONDS = 60.0  # for all actors to have a core


class Actors:
    """As many actors as are asked for; like an executor, and whoever is done takes the next call."""

    def __init__(self, size: int, environment: dict[str, str]):
        self._ray = cluster.connected()
        kind = self._ray.remote(num_cpus=1)(Worker)
        self._all = [kind.remote(environment) for _ in range(size)]
        self._free = collections.deque(self._all)
        self._waiting: collections.deque[tuple[Future[Any], tuple[Any, ...]]] = collections.deque()
        self._lock = threading.Lock()
        try:
            self._ray.get([actor.call.remote(int) for actor in self._all], timeout=START_SECONDS)
        except self._ray.exceptions.GetTimeoutError as error:
            self.shutdown()
            free = int(self._ray.available_resources().get("CPU", 0))
            raise UserError(
                f"The Ray cluster has {free} free cores, not {size} for as many workers; lower --env.workers."
            ) from error
        except self._ray.exceptions.RayError as error:
            self.shutdown()
            raise UserError("The Ray cluster cannot run merlax; install the same merlax on all nodes.") from error

    def submit(self, *call: Any) -> Future[Any]:
        """Call a function in some actor, as soon as one is free."""
        future: Future[Any] = Future()
        with self._lock:
            self._waiting.append((future, call))
        self._next()
        return future

    def shutdown(self, **_: Any) -> None:
        """End all actors at once, whatever they do; at the end of a program Ray may have ended, and they with it."""
        with self._lock:
            self._waiting.clear()
        for actor in self._all if self._ray.is_initialized() else ():
            self._ray.kill(actor)

    def _next(self) -> None:
        with self._lock:
            if not (self._waiting and self._free):
                return
            (future, call), actor = self._waiting.popleft(), self._free.popleft()
        actor.call.remote(*call).future().add_done_callback(lambda done: self._done(actor, future, done))

    def _done(self, actor: Any, future: Future[Any], done: Future[Any]) -> None:
        """Pass on what came of a call, with the exceptions that any executor raises."""
        error: Any = done.exception()
        if error is None:
            future.set_result(done.result())
        elif isinstance(error, self._ray.exceptions.RayTaskError):
            future.set_exception(error.cause)
        else:
            future.set_exception(BrokenExecutor(str(error)))
        with self._lock:
            self._free.append(actor)
        self._next()


def room() -> int:
    """How many cores of the cluster are free; at least one, for which a run then waits."""
    return max(1, int(cluster.connected().available_resources().get("CPU", 1)))
