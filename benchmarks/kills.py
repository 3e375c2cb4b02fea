"""Runs that are killed (SIGKILL) at random moments and resumed: do they end as if left alone, bit for bit?

nice -n 10 python benchmarks/kills.py --kills 500 --folder /dev/shm/merlax-kills --out results/benchmarks/kills.json

Every life of a run is a process of the command line. The report is written as it goes, and a second start with the same
source goes on where the first one ended. A copy of the package is what runs, so that it may be edited meanwhile.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reporting import parser, report, write

sys.path.insert(0, str(Path(__file__).parent.parent))
from tests.support import lives
from tests.support.lives import PHASES, Fate, Pace, differences, draw_aims, kill_and_resume, leave_alone

ROOT = Path(__file__).parent.parent
KILLS_PER_RUN = 20
TOO_MANY = 10  # failures to go on after
WHOLE = "whole"  # a case's run that was left alone
DEVICES = "--xla_force_host_platform_device_count=2"  # on one core, too: what training splits is split here
_WORLD = "--quiet --env.horizon 10"
_MATD3 = "--algorithm matd3 --explore-episodes 16 --frames 4000"
_TEAM = f"{_WORLD} --actor-hidden 32"
_LEARNER = "batch 64 critic-hidden 32 buffer 5000 burn-in 2 updates-per-frame 0.2"
_BUSY = "batch 64 critic-hidden 64 buffer 5000 burn-in 1 updates-per-frame"
_MERL = "--population 6 --fitness.episodes 2 --explore-episodes 4 --frames 5500"


def _td3(settings: str, owner: str = "") -> str:
    """Names and values as a learner's options."""
    words = settings.split()
    return " ".join(f"--{owner}td3.{name} {value}" for name, value in zip(words[::2], words[1::2], strict=True))


_TD3 = _td3(_LEARNER)
_OPPONENT = f"--opponent.actor-hidden 32 {_td3(_LEARNER, 'opponent.')}"
CASES = {
    "merl": f"rover-1 {_MERL} {_TEAM} {_TD3}",
    "matd3": f"rover-1 {_MATD3} {_TEAM} {_TD3}",
    "merl, opponent": f"predator-prey {_MERL} {_TEAM} {_TD3} {_OPPONENT}",
    "matd3, opponent": f"predator-prey {_MATD3} {_TEAM} {_TD3} {_OPPONENT}",
    "merl, long generations": (
        f"rover-1 --preset paper {_WORLD} {_td3(_BUSY + ' 15')} "
        "--population 6 --fitness.episodes 1 --explore-episodes 2 --frames 420"
    ),
    "matd3, opponent, long generations": (
        f"predator-prey --preset paper --algorithm matd3 {_WORLD} {_td3(_BUSY + ' 30')} "
        f"{_td3(_BUSY + ' 30', 'opponent.')} --explore-episodes 8 --frames 320"
    ),
}


class CommandLine:
    """Starts `merlax` as a user does."""

    def __init__(self, folder: Path, source: Path):
        flags = f"{os.environ.get('XLA_FLAGS', '')} {DEVICES}"
        own = {"XLA_FLAGS": flags, "XDG_CACHE_HOME": str(folder / "cache"), "PYTHONPATH": str(source / "src")}
        self._environment = os.environ | own
        self._processes: dict[int, subprocess.Popen[bytes]] = {}

    def start(self, *args: object, log: Path) -> int:
        """Begin `merlax ARGS`; its output goes to the file."""
        command = [Path(sys.executable).with_name("merlax"), *map(str, args)]
        with log.open("ab") as output:
            process = subprocess.Popen(command, stdout=output, stderr=output, env=self._environment)
        self._processes[process.pid] = process
        return process.pid

    def wait(self, process: int) -> int:
        """Its exit code, minus the signal that killed it."""
        return self._processes.pop(process).wait()


def copy_source(folder: Path) -> tuple[Path, str]:
    """The package as it is now, in a folder of its own, and a name for it and for what is done with it here."""
    files = [*sorted((ROOT / "src").rglob("*.py")), Path(__file__), Path(lives.__file__)]
    name = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]
    copy = folder / name
    if not copy.exists():
        new = Path(tempfile.mkdtemp(dir=folder))
        shutil.copytree(ROOT / "src", new / "src", ignore=shutil.ignore_patterns("__pycache__"))
        new.replace(copy)
    return copy, name


def go_on(out: Path | None, settings: dict[str, Any]) -> dict[str, Any]:
    """The report so far, if it was made with the same settings; else an empty one."""
    try:
        found = json.loads(out.read_text()) if out else {}
    except (OSError, ValueError):
        found = {}
    if all(found.get(name) == value for name, value in settings.items()):
        return found
    empty: dict[str, Any] = {"runs": 0, "kills": 0, "commands": {}, "aims": {}, "phases": {}, "equal": 0, "seconds": 0}
    cases = {name: {"command": f"merlax train {CASES[name]}", **empty, "failures": []} for name in CASES}
    return settings | {"kills": 0, "failures": 0, "seconds": 0, "cases": cases}


def add(case: dict[str, Any], fate: Fate, seconds: float) -> None:
    """One more run."""
    case["runs"] += 1
    case["kills"] += len(fate.kills)
    case["equal"] += not fate.faults
    case["seconds"] = round(case["seconds"] + seconds)
    for what in ("command", "aim", "phase"):
        counts = Counter(case[f"{what}s"]) + Counter(getattr(kill, what) for kill in fate.kills)
        case[f"{what}s"] = {name: counts[name] for name in (PHASES if what == "phase" else sorted(counts))}
    case["failures"] += fate.faults


def summary(result: dict[str, Any]) -> dict[str, Any]:
    """The same with its sums brought up to date."""
    cases = result["cases"].values()
    phases = {phase: sum(case["phases"].get(phase, 0) for case in cases) for phase in PHASES}
    sums = {name: sum(case[name] for case in cases) for name in ("kills", "runs", "equal", "seconds")}
    rest = {name: value for name, value in result.items() if name != "cases"}
    return rest | sums | {"failures": sum(len(case["failures"]) for case in cases), "phases": phases,
                          "cases": result["cases"]}  # fmt: skip


def whole(processes: CommandLine, folder: Path, options: list[str]) -> Pace:
    """Make a run that is left alone, and see how another one goes, which finds its programs compiled."""
    reference, log = folder / WHOLE, folder / "log"
    with fresh(folder) as new:
        if not reference.exists():
            leave_alone(processes, new / "first", options, log)
            (new / "first").replace(reference)
        pace = leave_alone(processes, new / "again", options, log)
        different = differences(new / "again", reference)
    assert not different, f"two runs that were left alone differ: {different}"
    return pace


def one_run(processes: CommandLine, folder: Path, options: list[str], moments: str, pace: Pace, kills: int) -> Fate:
    """Kill a run again and again, and compare its end; what failed is kept."""
    with fresh(folder) as new:
        chance = random.Random(moments)
        fate = kill_and_resume(processes, new / "run", options, chance, draw_aims(chance, kills), pace)
        if not fate.faults:
            fate.faults += differences(new / "run", folder / WHOLE)
        if fate.faults:
            (new / "run").replace(folder / f"failed-{moments}")
    return fate


@contextlib.contextmanager
def fresh(folder: Path) -> Iterator[Path]:
    """A folder that no process knows which an earlier start of this program may have left."""
    with tempfile.TemporaryDirectory(dir=folder) as new:
        yield Path(new)


def main() -> None:
    """Kill, resume, compare; the case with the fewest kills comes next."""
    arguments = parser(__doc__)
    arguments.add_argument("--kills", type=int, default=500)
    arguments.add_argument("--seed", type=int, default=12, help="of the moments")
    where = Path(tempfile.gettempdir()) / "merlax-kills"
    arguments.add_argument("--folder", type=Path, default=where, help="for the runs; in memory, it goes faster")
    options = arguments.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    source, name = copy_source(options.folder)
    processes, paces = CommandLine(options.folder, source), {}
    result = go_on(options.out, {"seed": options.seed, "source": name})
    while result["kills"] < options.kills and result["failures"] < TOO_MANY:
        number, title = min(enumerate(CASES), key=lambda each: result["cases"][each[1]]["kills"])
        folder, words, start = source / str(number), CASES[title].split(), time.monotonic()
        if title not in paces:
            folder.mkdir(exist_ok=True)
            paces[title] = whole(processes, folder, words)
            used = json.loads((folder / WHOLE / "config.json").read_text())
            result |= {key: used[key] for key in ("versions", "devices")}
        case = result["cases"][title]
        kills = min(KILLS_PER_RUN, options.kills - result["kills"], math.ceil(options.kills / len(CASES)))
        moments = f"{options.seed}-{number}-{case['runs']}"
        fate = one_run(processes, folder, words, moments, paces[title], kills)
        add(case, fate, time.monotonic() - start)
        result = summary(result)
        if options.out:
            write(result, options.out)
        print(f"{result['kills']} kills, {result['failures']} failures, {result['seconds']} s", file=sys.stderr)
    report(result, options.out)
    sys.exit(bool(result["failures"]))


if __name__ == "__main__":
    main()
