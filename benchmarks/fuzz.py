"""Does anything mislead merlax? Command lines, config files, run folders and champions, mutated from valid ones.

python benchmarks/fuzz.py --cases 100000 --out results/benchmarks/fuzz.json
python benchmarks/fuzz.py --case 4711          one case again, alone, with what it says

One process plays them all (--processes 2: two, a half each), with little memory; `tests/support/fuzz.py` makes and
judges the cases. This one watches: where a case takes longer than ten seconds, or kills the process, that is counted,
and another process goes on.
"""

from __future__ import annotations

import collections
import ctypes
import faulthandler
import gc
import json
import os
import queue
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from reporting import parser, report

SECONDS = 10.0  # that a case may take, without those in which others kept it from a core
GIVE_UP = 60.0  # seconds after which it will not end
MEMORY_MB = 2_000  # that the process may take in a case
LIMIT = 4 * 2**30  # bytes of data at which the system refuses more
BOMB = 2_200_000_000  # bytes that one array of a small champion has when it is unpacked
CLEAR_MB = 1_200  # at which JAX forgets what it has compiled
FAST = "/dev/shm" if Path("/dev/shm").is_dir() else None  # no disk: many small files come and go
BAD = ("fault", "misused", "abort", "hang", "memory")
_QUICK = "--xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false"


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--cases", type=int, default=1000)
    arguments.add_argument("--first", type=int, default=0, help="number of the first case")
    arguments.add_argument("--case", type=int, help="play this one alone, and say what it does")
    arguments.add_argument("--kind", help="play only cases of this kind")
    arguments.add_argument("--seed", type=int, default=12)
    arguments.add_argument(
        "--base", type=Path, help="folder for the valid things to begin with; kept for the next time"
    )
    arguments.add_argument("--processes", type=int, default=1, help="how many share the cases")
    arguments.add_argument("--serve", action="store_true", help="be the process that plays")
    options = arguments.parse_args()
    if options.serve:
        serve(options.seed, options.base, options.kind)
        return
    with tempfile.TemporaryDirectory(prefix="merlax-fuzz-") as folder:
        base = options.base or Path(folder) / "base"
        if options.case is not None:
            show(options.seed, options.case, base, Path(folder) / "scratch")
            return
        numbers = range(options.first, options.first + options.cases)
        result = watch(options.seed, numbers, base, options.kind, options.processes)
    report(result, options.out)
    sys.exit(1 if result["bad"] else 0)


class Tally:
    """What came of all cases."""

    def __init__(self, seed: int):
        self.seed = seed
        self.start = time.monotonic()
        self.counts: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
        self.seconds: collections.Counter[str] = collections.Counter()
        self.slowest: dict[str, Any] = {"case": 0, "seconds": 0.0}
        self.bad: list[dict[str, Any]] = []
        self.again: list[int] = []
        self.peak = self.ended = 0
        self._lock = threading.Lock()

    def add(self, number: int, answer: dict[str, Any]) -> None:
        with self._lock:
            self._add(number, answer)

    def _add(self, number: int, answer: dict[str, Any]) -> None:
        kind, outcome, seconds = answer["kind"], answer["outcome"], answer["seconds"]
        self.counts[kind][outcome] += 1
        self.seconds[kind] += seconds
        self.peak = max(self.peak, answer["memory_mb"])
        self.ended += "ended" in answer
        if seconds > self.slowest["seconds"]:
            self.slowest = {"case": number, "kind": kind, "seconds": round(seconds, 2)}
        if outcome in BAD:
            said = answer["said"][-600:]
            self.bad.append({"case": number, "kind": kind, "outcome": outcome, "said": said})
            print(f"case {number}: {kind}: {outcome}: {said}", flush=True)
        if self.total().total() % 1000 == 0:
            took = time.monotonic() - self.start
            print(f"{self.total().total()} cases, {took:.0f} s, {len(self.bad)} bad, {self.peak} MB", flush=True)

    def total(self) -> collections.Counter[str]:
        return sum(self.counts.values(), collections.Counter())

    def report(self) -> dict[str, Any]:
        total, kinds = self.total(), sorted(self.counts)
        return {
            "cases": total.total(),
            "seed": self.seed,
            "outcomes": {name: total[name] for name in ("ok", "refused", *BAD)},
            "by_kind": {kind: dict(self.counts[kind]) for kind in kinds},
            "seconds": round(time.monotonic() - self.start),
            "ms_per_case": {kind: round(1000 * self.seconds[kind] / self.counts[kind].total(), 1) for kind in kinds},
            "slowest": self.slowest,
            "peak_memory_mb": self.peak,
            "played_again": sorted(self.again),
            "processes_that_ended": self.ended,
            "bad": sorted(self.bad, key=lambda each: each["case"])[:100],
        }


def watch(seed: int, numbers: range, base: Path, kind: str | None, processes: int) -> dict[str, Any]:
    """Play all cases and count what comes of them."""
    tally = Tally(seed)
    first = Player(seed, base, kind)  # makes the base
    players = [first, *(Player(seed, base, kind) for _ in range(processes - 1))]
    shares = [numbers[place::processes] for place in range(processes)]
    threads = [
        threading.Thread(target=_play_all, args=(player, share, tally))
        for player, share in zip(players, shares, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return tally.report() | {"processes": processes, "versions": first.versions}


def _play_all(player: Player, numbers: range, tally: Tally) -> None:
    for number in numbers:
        answer = player.play(number)
        if answer["outcome"] == "hang":  # unless it was others that kept the machine busy
            tally.again.append(number)
            player = player.successor()
            answer = player.play(number)
        if answer["outcome"] != "skipped":
            tally.add(number, answer)
        if "ended" in answer:
            player = player.successor()
    player.end()


class Player:
    """The process that plays, seen from here."""

    def __init__(self, *how: Any):
        self._how = how
        seed, base, kind = how
        command = [sys.executable, __file__, "--serve", "--seed", str(seed), "--base", str(base)]
        self._log = tempfile.TemporaryFile()  # noqa: SIM115
        pipe, quick = subprocess.PIPE, {"XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} {_QUICK}"}
        self._process = subprocess.Popen(
            command + (["--kind", kind] if kind else []),
            stdin=pipe, stdout=pipe, stderr=self._log, text=True, env=os.environ | quick,
        )  # fmt: skip
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._to, self._from = self._process.stdin, self._process.stdout
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()
        begun = self._answer(600.0)
        if "ended" in begun:
            sys.exit(begun["said"])
        self.versions = begun["versions"]

    def play(self, number: int) -> dict[str, Any]:
        """What came of a case; "ended" if the process did not survive it."""
        start = time.monotonic()
        print(number, file=self._to, flush=True)
        kind = self._answer(GIVE_UP)  # first what it is, before anything can happen
        found = self._answer(GIVE_UP) if "kind" in kind else kind
        if "ended" in found:
            found |= {"kind": kind.get("kind", "?"), "seconds": time.monotonic() - start, "memory_mb": 0}
        elif found["seconds"] > SECONDS:
            found["outcome"] = "hang"
        elif found["memory_mb"] > MEMORY_MB:
            found["outcome"] = "memory"
        return kind | found

    def _answer(self, seconds: float) -> dict[str, Any]:
        try:
            line = self._lines.get(timeout=seconds)
        except queue.Empty:
            return {"ended": True, "outcome": "hang", "said": self.end()}
        if not line:
            self._process.wait(60)
            return {"ended": True, "outcome": "abort", "said": self.end()}
        return json.loads(line)

    def _listen(self) -> None:
        for line in self._from:
            self._lines.put(line)
        self._lines.put("")

    def end(self) -> str:
        """Kill it, unless it has ended; its last words."""
        self._process.kill()
        code = self._process.wait(60)
        self._log.seek(0)
        return f"ended with {code}: {self._log.read().decode(errors='replace')[-3000:]}"

    def successor(self) -> Player:
        """Another one in its place."""
        self.end()
        return Player(*self._how)


def serve(seed: int, folder: Path, kind: str | None) -> None:
    """Play the cases whose numbers come, one line each, and answer in lines of JSON."""
    answers = os.fdopen(os.dup(1), "w")  # whatever else is printed goes to standard error
    os.dup2(2, 1)
    sys.path.insert(0, str(Path(__file__).parent.parent))
    import jax

    from merlax.runs import reader
    from tests.support import fuzz
    from tests.support.fuzz_base import Base

    def answer(**found: Any) -> None:
        print(json.dumps(found), file=answers, flush=True)

    base = Base(folder, trained=True, bomb_bytes=BOMB)
    resource.setrlimit(resource.RLIMIT_DATA, (LIMIT, LIMIT))
    answer(versions=reader.versions()["versions"])
    with tempfile.TemporaryDirectory(prefix="merlax-fuzz-", dir=FAST) as scratch:
        for line in sys.stdin:
            case = fuzz.case(seed, int(line), base)
            answer(kind=case.kind)
            if kind not in (None, case.kind):
                answer(outcome="skipped", seconds=0, memory_mb=0)
                continue
            if memory_mb("VmRSS") > CLEAR_MB:
                jax.clear_caches()
                gc.collect()
                ctypes.CDLL(None).malloc_trim(0)  # else what was freed stays the process' own, and it clears every time
            Path("/proc/self/clear_refs").write_text("5")  # forgets the peak
            watch = Stopwatch()
            faulthandler.dump_traceback_later(GIVE_UP - 5)  # for the one who looks for the cause
            found = fuzz.play(case, base, Path(scratch) / "scratch")
            faulthandler.cancel_dump_traceback_later()
            took = watch.seconds()
            said = found.said if found.outcome in BAD else ""
            answer(outcome=found.outcome, said=said, seconds=took, memory_mb=memory_mb("VmHWM"))


class Stopwatch:
    """The time that a case takes, on a machine that may be busy with others."""

    def __init__(self) -> None:
        self._start = self._now()

    def seconds(self) -> float:
        """By the clock, without what processes had to wait for a core; but no less than it computed."""
        clock, waited, computed = (now - then for now, then in zip(self._now(), self._start, strict=True))
        return max(computed, clock - waited)

    def _now(self) -> tuple[float, float, float]:
        return time.monotonic(), _waited(), time.process_time()


def _waited() -> float:
    """Seconds in which some process waited for a core, since the machine started; none where it does not tell."""
    try:
        return int(Path("/proc/pressure/cpu").read_text().split("total=")[1].split()[0]) / 1e6
    except OSError:
        return 0.0


def memory_mb(name: str) -> int:
    """What the system says of this process' memory."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith(f"{name}:"))


def show(seed: int, number: int, folder: Path, scratch: Path) -> None:
    """One case, with what it is made of."""
    sys.path.insert(0, str(Path(__file__).parent.parent))
    from tests.support import fuzz
    from tests.support.fuzz_base import Base

    base = Base(folder, trained=True, bomb_bytes=BOMB)
    case = fuzz.case(seed, number, base)
    print(f"{case.kind}: merlax {' '.join(map(repr, case.args))}\nwith {case.copies}")
    for name, content in case.files:
        print(f"{name}: {repr(content)[:3000]}")
    watch = Stopwatch()
    found = fuzz.play(case, base, scratch)
    print(f"{found.outcome} after {watch.seconds():.2f} s, {memory_mb('VmHWM')} MB\n{found.said}")


if __name__ == "__main__":
    main()
