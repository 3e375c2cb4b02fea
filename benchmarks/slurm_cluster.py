"""A real SLURM cluster of one node on this machine: the same rows as `--on local`, whoever is killed.

    apt-get install --no-install-recommends slurmctld slurmd slurm-client munge    # Debian, as root
    python benchmarks/slurm_cluster.py

Starts munged, slurmctld and slurmd in a folder of their own, runs `merlax reproduce … --on slurm`, kills the head in
the middle and starts it again, kills a run's process, and compares every row with `--on local`. Prints JSON.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

NEEDED = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "sinfo", "scontrol")
PATIENCE = 300.0

CONFIG = """
ClusterName=merlax
SlurmctldHost={host}
SlurmctldPort={ctld}
SlurmdPort={slurmd}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
MpiDefault=none
NodeName={host} CPUs={cores} State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--figure", default="motivating", help="which experiment, in its quick form")
    parser.add_argument("--keep", action="store_true", help="keep the folder")
    asked = parser.parse_args()
    missing = [name for name in NEEDED if shutil.which(name) is None]
    if missing:
        sys.exit(f"{', '.join(missing)} not found; apt-get install slurmctld slurmd slurm-client munge")
    folder = Path(tempfile.mkdtemp(prefix="merlax-slurm-"))
    try:
        with _cluster(folder):
            print(json.dumps(_measure(folder, asked.figure), indent=2))
    finally:
        if not asked.keep:
            shutil.rmtree(folder, ignore_errors=True)


def _measure(folder: Path, figure: str) -> dict[str, object]:
    home, there = folder / "local", folder / "slurm"
    began = time.monotonic()
    _reproduce(figure, home, "local").wait()
    at_home = time.monotonic() - began
    began = time.monotonic()
    head = _reproduce(figure, there, "slurm")
    _wait(lambda: _at_work(there), head, "a run to make progress")
    head.send_signal(signal.SIGKILL)
    head.wait()
    queued = subprocess.run(["squeue", "-h", "-o", "%j"], capture_output=True, text=True, check=True).stdout.split()
    head = _reproduce(figure, there, "slurm")
    _wait(lambda: _at_work(there), head, "a run to make progress")
    killed = _kill_a_run(there)
    code = head.wait()
    return {
        "version": subprocess.run(["slurmd", "-V"], capture_output=True, text=True, check=True).stdout.strip(),
        "exit_code": code,
        "runs": len(_rows(home)),
        "ran_on_without_the_head": len(queued),
        "runs_killed": killed,
        "same_rows": _rows(home) == _rows(there),
        "seconds_local": round(at_home, 1),
        "seconds_slurm": round(time.monotonic() - began, 1),
    }


def _reproduce(figure: str, out: Path, on: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "merlax.cli", "reproduce", figure, "--quick", "--out", str(out), "--on", on]
    command += ["--resources", "cpu=1"]
    with (out.parent / f"{on}.log").open("ab") as log:
        return subprocess.Popen(command, stdout=log, stderr=log)


def _at_work(out: Path) -> list[Path]:
    """Runs that have written rows but are not finished."""
    begun = [path.parent for path in out.glob("runs/*/*/*/progress.csv")]
    return [run for run in begun if not (run / "final.json").exists()]


def _kill_a_run(out: Path) -> int:
    """SIGKILL the process of a run, as the system does where memory is short."""
    for run in _at_work(out):
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                words = path.read_bytes().split(b"\0")
                if os.fsencode(run) in words and b"merlax.cli" in words and b"-I" not in words:
                    os.kill(int(path.parent.name), signal.SIGKILL)
                    return 1
    return 0


def _rows(out: Path) -> dict[str, list[dict[str, str]]]:
    """Every run's rows, but for the clock."""
    found = {}
    for path in sorted(out.glob("runs/*/*/*/progress.csv")):
        with path.open(newline="") as file:
            rows = [{name: cell for name, cell in row.items() if name != "seconds"} for row in csv.DictReader(file)]
        found[str(path.relative_to(out))] = rows
    return found


@contextlib.contextmanager
def _cluster(folder: Path) -> Iterator[None]:
    """munged, slurmctld and slurmd, in the foreground, until the end."""
    for name in ("state", "spool"):
        (folder / name).mkdir()
    folder.chmod(0o755)
    key = folder / "munge.key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o400)
    config = folder / "slurm.conf"
    values = {"host": socket.gethostname().split(".")[0], "ctld": _port(), "slurmd": _port(), "cores": os.cpu_count()}
    config.write_text(CONFIG.format(folder=folder, **values))
    os.environ["SLURM_CONF"] = str(config)
    munge = ["munged", "--foreground", "--force", f"--socket={folder}/munge.socket", f"--key-file={key}"]
    munge += [f"--pid-file={folder}/munged.pid", f"--log-file={folder}/munged.log", f"--seed-file={folder}/munge.seed"]
    daemons = []
    try:
        for command in (munge, ["slurmctld", "-D", "-f", str(config)], ["slurmd", "-D", "-f", str(config)]):
            with (folder / f"{command[0]}.out").open("wb") as log:
                daemons.append(subprocess.Popen(command, stdout=log, stderr=log))
            time.sleep(1.0)
        _wait(_is_idle, None, f"the node to be idle; see {folder}")
        yield
    finally:
        for daemon in reversed(daemons):
            daemon.terminate()
        for daemon in daemons:
            with contextlib.suppress(subprocess.TimeoutExpired):
                daemon.wait(20)


def _is_idle() -> bool:
    told = subprocess.run(["sinfo", "-h", "-o", "%T"], capture_output=True, text=True, check=False).stdout
    return told.strip() == "idle"


def _wait(condition: Callable[[], object], head: subprocess.Popen[bytes] | None, what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline or (head is not None and head.poll() is not None):
            sys.exit(f"waited in vain for {what}")
        time.sleep(0.2)


def _port() -> int:
    with socket.socket() as free:
        free.bind(("", 0))
        return free.getsockname()[1]


if __name__ == "__main__":
    main()
