"""Ray: every run is a task, which Ray places, queues and, when a worker or a node dies, starts again elsewhere."""

from __future__ import annotations

import importlib
import os
import secrets
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from merlax.envs.adapters import cluster
from merlax.experiments.backends import work
from merlax.experiments.backends.base import LOG, Order, Resources
from merlax.runs import process
from merlax.types import UserError

NODE_SECONDS = 120.0  # until a node must have answered, which starts a process for it and may be busy
_KILLED = -9
_PROBE = ".shared"


class Ray:
    """Many runs on a Ray cluster."""

    def __init__(self, resources: Resources, root: Path):
        self._ray = cluster.connected()
        self._resources = resources
        nodes = [node for node in self._ray.nodes() if node["Alive"]]
        _check_room(resources, nodes)
        _check_shared(self._ray, nodes, root)
        self._task = self._ray.remote(_run)

    @property
    def slots(self) -> None:
        return None

    def start(self, order: Order) -> Any:
        order.prepare()
        needs = {"num_cpus": self._resources.cores, "num_gpus": self._resources.gpu}
        task = self._task.options(name=order.name, max_retries=work.RETRIES, **needs)
        return task.remote(list(order.command), str(order.folder), self._resources.cores)

    def poll(self, ticket: Any) -> int | None:
        ready, _ = self._ray.wait([ticket], timeout=0)
        if not ready:
            return None
        try:
            return self._ray.get(ticket)
        except self._ray.exceptions.RayError:  # its workers died, more often than Ray tries again, or it was cancelled
            return _KILLED

    def stop(self, tickets: Sequence[Any]) -> None:
        if not tickets:
            return
        for ticket in tickets:
            self._ray.cancel(ticket)
        _, left = self._ray.wait(list(tickets), num_returns=len(tickets), timeout=work.GRACE_SECONDS)
        for ticket in left:
            self._ray.cancel(ticket, force=True)


def _run(command: list[str], folder: str, cores: int) -> int:
    """What a worker does."""
    return work.run(command, Path(folder) / LOG, cores)


def _check_room(resources: Resources, nodes: Sequence[dict[str, Any]]) -> None:
    """Refuse what no node of the cluster has."""
    for name, asked in (("CPU", float(resources.cores)), ("GPU", resources.gpu)):
        most = max((node["Resources"].get(name, 0.0) for node in nodes), default=0.0)
        if asked > most:
            raise UserError(
                f"A run asks for {name.lower()}={asked:g}, but no node of the Ray cluster has more than {most:g}; "
                "ask for less with --resources."
            )


def _check_shared(ray: Any, nodes: Sequence[dict[str, Any]], root: Path) -> None:
    """Refuse a folder that is not the same on all nodes: results would stay where nobody looks for them."""
    strategies: Any = importlib.import_module("ray.util.scheduling_strategies")
    probe, word = root / _PROBE, secrets.token_hex(16)
    process.make_folder(root)
    probe.write_text(word)
    look = ray.remote(_sees)
    there: dict[Any, str] = {}
    try:
        for node in nodes:
            if node["Resources"].get("CPU"):
                place = strategies.NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
                asked = look.options(num_cpus=0, max_retries=0, scheduling_strategy=place)
                there[asked.remote(str(probe), word)] = node["NodeManagerAddress"]
        deadline = time.monotonic() + NODE_SECONDS
        for answer, address in there.items():
            try:
                seen = ray.get(answer, timeout=max(0.1, deadline - time.monotonic()))
            except ray.exceptions.GetTimeoutError as error:
                raise UserError(
                    f"The node {address} of the Ray cluster does not answer; check `ray status`."
                ) from error
            except ray.exceptions.RayError as error:
                raise UserError(
                    f"The node {address} of the Ray cluster cannot run merlax; install the same merlax on all nodes."
                ) from error
            if not seen:
                raise UserError(
                    f"The node {address} of the Ray cluster does not see the folder '{root}'; "
                    "choose an --out on storage that all nodes share."
                )
    finally:
        probe.unlink(missing_ok=True)


def _sees(probe: str, word: str) -> bool:
    """Whether a node sees the folder as this machine does, and may write there."""
    try:
        return Path(probe).read_text() == word and os.access(Path(probe).parent, os.W_OK)
    except OSError:
        return False
