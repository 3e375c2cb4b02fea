"""SLURM, through submitit: every run is a job, which SLURM queues, places and, when a node dies, starts again."""

from __future__ import annotations

import getpass
import math
import shutil
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from merlax.experiments.backends import work
from merlax.experiments.backends.base import LOG, Order, Resources
from merlax.runs import reader
from merlax.types import UserError

INSTALL = "submitit, which speaks to SLURM, is not installed here; install it with: pip install 'merlax[slurm]'"
FOLDER = ".slurm"  # below that of all runs: scripts and what submitit keeps
HOURS = 24.0  # that a job has before it comes back to the queue
RETURNS = 1000  # how often it may
LOOK_SECONDS = 5.0  # between two looks at the queue
LATE_SECONDS = 10.0  # that files of another machine may take to be seen here
DEAF_SECONDS = 600.0  # that the queue may not answer, as while it is started anew


@dataclass
class _Ticket:
    """A job in the queue."""

    id: str
    folder: Path
    job: Any = None  # submitit's, where there is no queue to ask
    gone: float | None = None  # since when the queue does not know it any more


class Work:
    """What a job does; where SLURM takes its place away, it comes back to the queue and goes on later."""

    def __call__(self, command: list[str], folder: str, cores: int) -> int:
        return work.run(command, Path(folder) / LOG, cores)

    def checkpoint(self, command: list[str], folder: str, cores: int) -> Any:
        import submitit

        return submitit.helpers.DelayedSubmission(self, command, folder, cores)


class Slurm:
    """The cluster of this machine; partition, account and limits are sbatch's own variables, such as SBATCH_ACCOUNT."""

    def __init__(self, resources: Resources, root: Path, cluster: Literal["slurm", "local"] = "slurm"):
        """`cluster="local"` runs the jobs as submitit's own processes, without SLURM."""
        try:
            import submitit
        except ImportError as error:
            raise UserError(f"{INSTALL}.") from error
        self._resources, self._queue = resources, cluster == "slurm"
        if resources.gpu != int(resources.gpu):
            raise UserError(f"gpu is {resources.gpu:g}, but SLURM gives whole GPUs; Ray can share one: --on ray.")
        if self._queue:
            _check_room(resources)
        self._jobs: dict[str, str] = {}
        self._looked = self._heard = float("-inf")
        self._executor = submitit.AutoExecutor(folder=root / FOLDER, cluster=cluster, slurm_max_num_timeout=RETURNS)
        more: dict[str, Any] = {"slurm_additional_parameters": {"requeue": True}} if self._queue else {}
        minutes = math.ceil(60 * (resources.hours or HOURS))
        if resources.gpu:
            more["gpus_per_node"] = int(resources.gpu)
        self._executor.update_parameters(cpus_per_task=resources.cores, timeout_min=minutes, **more)

    @property
    def slots(self) -> None:
        return None

    def start(self, order: Order) -> _Ticket:
        if self._queue and (known := self._look().get(order.name)):
            return _Ticket(known, order.folder)
        order.prepare()
        self._executor.update_parameters(name=order.name)
        try:
            job = self._executor.submit(Work(), list(order.command), str(order.folder), self._resources.cores)
        except Exception as error:  # submitit's own type holds what sbatch said
            raise UserError(f"SLURM does not take the run ({_last_line(error)}); check --resources.") from error
        self._looked = float("-inf")
        return _Ticket(job.job_id, order.folder, None if self._queue else job)

    def poll(self, ticket: _Ticket) -> int | None:
        ended = ticket.job.done() if ticket.job is not None else ticket.id not in self._look().values()
        if not ended:
            ticket.gone = None
            return None
        if reader.is_finished(ticket.folder):
            return 0
        ticket.gone = ticket.gone or time.monotonic()
        late = 0.0 if ticket.job is not None else LATE_SECONDS
        return 1 if time.monotonic() - ticket.gone >= late else None

    def stop(self, tickets: Sequence[Any]) -> None:
        if self._queue and tickets:
            _ask("scancel", *(ticket.id for ticket in tickets))
        for ticket in tickets:
            if ticket.job is not None:
                ticket.job.cancel()

    def _look(self) -> dict[str, str]:
        """The jobs of this user that wait or run, by name."""
        now = time.monotonic()
        if now - self._looked < LOOK_SECONDS:
            return self._jobs
        try:
            told = _ask("squeue", "--noheader", "--user", getpass.getuser(), "--format", "%i %j")
        except UserError:
            if now - self._heard > DEAF_SECONDS:
                raise
            self._looked = now
            return self._jobs
        self._jobs = {name: number for number, _, name in (line.partition(" ") for line in told.splitlines())}
        self._looked = self._heard = time.monotonic()
        return self._jobs


def _check_room(resources: Resources) -> None:
    """Refuse what no node of the cluster has."""
    if shutil.which("sbatch") is None:
        raise UserError("There is no SLURM here: the command sbatch is missing; start this on a login node.")
    sizes = [line.split() for line in _ask("sinfo", "--noheader", "--Node", "--format", "%c %G").splitlines()]
    most = max((int(size[0]) for size in sizes if size and size[0].isdigit()), default=0)
    if resources.cores > most:
        raise UserError(
            f"A run asks for cpu={resources.cores}, but no node of the SLURM cluster has more than {most}; "
            "ask for less with --resources."
        )
    if resources.gpu and not any("gpu" in " ".join(size[1:]) for size in sizes):
        raise UserError(
            f"A run asks for gpu={resources.gpu:g}, but no node of the SLURM cluster has one; leave gpu out."
        )


def _ask(command: str, *args: str) -> str:
    """What one of SLURM's own commands answers."""
    try:
        told = subprocess.run([command, *args], capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        said = (getattr(error, "stderr", "") or "").strip().splitlines()
        raise UserError(
            f"The SLURM cluster cannot be reached ({command}: {said[-1] if said else 'no answer'}); check that it runs."
        ) from error
    return told.stdout


def _last_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__
