"""How it grows: with the population, with cores and processes, on an engine for many runs; and a model of more cores.

    python benchmarks/scaling.py population           # EA on rover-3, population 10 to 10,000: frames/s and memory
    python benchmarks/scaling.py sizes                # EA: a generation with other episodes, agents, observations
    python benchmarks/scaling.py processes            # EA: 1 and 2 cores, 1, 2 and 4 processes, strong and weak; MERL
    python benchmarks/scaling.py engines              # 8 short runs: local and Ray (pip install 'merlax[ray]')
    python benchmarks/scaling.py model --from results/benchmarks/scaling-processes.json
    … --out results/benchmarks/scaling-PART.json

Rates leave out starting and compiling: they are those of the rows after the second. The ways of a part alternate, and
the median over the rounds counts: what else the machine does then meets all of them. Needs a quiet machine, and Linux.
"""

from __future__ import annotations

import csv
import json
import math
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from reporting import parser, report

from merlax.experiments import cores, runner
from merlax.experiments.backends import Local, Resources, choose
from merlax.experiments.board import Silence
from merlax.experiments.spec import Job, Method, Task

ROUNDS = 3
GENERATIONS = 6
WARM = 2  # rows in which programs are compiled
HORIZON, EPISODES = 50, 10  # of rover-3, and of a team in a generation
POPULATIONS = (10, 100, 1_000, 10_000)
TEAMS = 1_000
SIZES = {  # what is changed of EA on rover-3 (10 episodes, 6 agents, 36 sectors), one thing at a time
    "as it is": {},
    "episodes 5": {"--fitness.episodes": 5},
    "episodes 20": {"--fitness.episodes": 20},
    "agents 3": {"--env.num-agents": 3},
    "agents 12": {"--env.num-agents": 12},
    "agents 24": {"--env.num-agents": 24},
    "sectors 9": {"--env.sectors": 9},
    "sectors 144": {"--env.sectors": 144},
}
MERL_FRAMES = 200_000


def main() -> None:
    made = parser(__doc__)
    made.add_argument("part", choices=("population", "sizes", "processes", "engines", "model"))
    made.add_argument("--rounds", type=int, default=ROUNDS)
    made.add_argument("--largest", type=int, default=POPULATIONS[-1], help="population to end with")
    made.add_argument("--from", dest="source", type=Path, help="what `processes` has measured, for the model")
    asked = made.parse_args()
    with tempfile.TemporaryDirectory(prefix="merlax-scaling-") as folder:
        if asked.part == "population":
            result = population(Path(folder), asked.rounds, asked.largest)
        elif asked.part == "sizes":
            result = sizes(Path(folder), asked.rounds)
        elif asked.part == "processes":
            result = processes(Path(folder), asked.rounds)
        elif asked.part == "engines":
            result = engines(Path(folder), asked.rounds)
        else:
            result = model(json.loads(asked.source.read_text()))
    if asked.part == "model" and asked.out:
        draw(result, asked.out.with_suffix(".png"))
    report({"part": asked.part, "cores": len(cores.available()), "load": os.getloadavg()[0]} | result, asked.out)


def population(folder: Path, rounds: int, largest: int) -> dict[str, Any]:
    """Frames/s and memory of EA with more and more teams, on all cores."""
    all_cores = cores.available()
    sizes = [size for size in POPULATIONS if size <= largest]
    found: dict[int, list[dict[str, float]]] = {size: [] for size in sizes}
    for number in range(rounds):
        for size in sizes:
            found[size].append(train(folder / f"{number}-{size}", size, [all_cores]))
    table = [{"population": size} | _medians(found[size]) for size in sizes]
    best = max(row["frames_per_s"] for row in table)
    return {"table": [row | {"of_best": round(row["frames_per_s"] / best, 3)} for row in table]}


def sizes(folder: Path, rounds: int) -> dict[str, Any]:
    """Seconds of a generation of EA with 500 teams, when one thing is larger or smaller."""
    found: dict[str, list[dict[str, float]]] = {name: [] for name in SIZES}
    for number in range(rounds):
        for name, options in SIZES.items():
            out = folder / f"{number}-{name.replace(' ', '-')}"
            found[name].append(train(out, TEAMS // 2, [cores.available()], options))
    table = {name: _medians(each) for name, each in found.items()}
    base = table["as it is"]["generation_s"]
    rows = table.items()
    return {
        "table": [{"changed": name} | row | {"to_base": round(row["generation_s"] / base, 2)} for name, row in rows]
    }


def processes(folder: Path, rounds: int) -> dict[str, Any]:
    """EA: the same teams (strong) and as many for every core (weak), by processes on cores of their own.

    On fewer than four cores, four processes share them: that shows what an exchange costs, and nothing of growth.
    """
    available = cores.available()
    one, two = [available[0]], [available[1 % len(available)]]
    four = [[available[i % len(available)]] for i in range(4)]
    ways = {"1 process, 1 core": [one], "1 process, 2 cores": [one + two], "2 processes": [one, two]} | (
        {"4 processes": four} if len(available) > 1 else {}
    )
    cases = {(way, "strong"): TEAMS for way in ways}
    cases |= {(way, "weak"): TEAMS // 2 * min(sum(map(len, ways[way])), len(available)) for way in ways}
    found: dict[tuple[str, str], list[dict[str, float]]] = {case: [] for case in cases}
    for number in range(rounds):
        for case, teams in cases.items():
            name = f"{number}-{case[0].replace(' ', '').replace(',', '-')}-{case[1]}"
            found[case].append(train(folder / name, teams, ways[case[0]]))
    table = [
        {"way": way, "scaling": kind, "population": cases[way, kind]} | _medians(found[way, kind])
        for way, kind in cases
    ]
    rate = {row["way"]: row["frames_per_s"] for row in table if row["scaling"] == "strong"}
    ratio = round(rate["2 processes"] / rate["1 process, 2 cores"], 3)
    merl: dict[str, list[dict[str, float]]] = {way: [] for way in ("1 process, 1 core", "2 processes")}
    for number in range(rounds):
        for way, each in merl.items():
            out = folder / f"{number}-merl-{len(ways[way])}"
            each.append(_trained(out, ["--frames", str(MERL_FRAMES)], ways[way]))
    return {
        "table": table,
        "two_processes_to_one_on_both": ratio,
        "merl": [{"way": way} | _medians(each) for way, each in merl.items()],
    }


def train(
    out: Path, teams: int, places: list[list[int]], options: Mapping[str, object] | None = None
) -> dict[str, float]:
    """One run of EA, a process for each list of cores; its rate, the seconds of a generation, and the memory."""
    chosen = {"--fitness.episodes": EPISODES} | dict(options or {})
    frames = GENERATIONS * teams * int(str(chosen["--fitness.episodes"])) * HORIZON
    words = ["--algorithm", "ea", "--population", str(teams), "--frames", str(frames)]
    return _trained(out, [*words, *(str(word) for pair in chosen.items() for word in pair)], places)


def _trained(out: Path, words: list[str], places: list[list[int]]) -> dict[str, float]:
    command = [sys.executable, "-m", "merlax.cli", "train", "rover-3", "--ignore-memory", *words]
    command += ["--out", str(out), "--quiet", "--checkpoint-every", "1e6"]
    meeting = ["--coordinator", f"127.0.0.1:{_port()}", "--processes", str(len(places)), "--process"]
    started = []
    for number, own in enumerate(places):
        more = [*meeting, str(number)] if len(places) > 1 else []
        pinned = ["taskset", "--cpu-list", ",".join(map(str, own))]
        started.append(subprocess.Popen([*pinned, *command, *more]))
    codes = [process.wait() for process in started]
    if any(codes):
        sys.exit(f"{' '.join(words)}: the run ended with {codes}")
    with (out / "progress.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    first, last = rows[WARM - 1], rows[-1]
    seconds = float(last["seconds"]) - float(first["seconds"])
    memory = json.loads((out / "final.json").read_text())["peak_memory_mb"]
    generations = int(last["generation"]) - int(first["generation"])
    return {
        "frames_per_s": (int(last["frames"]) - int(first["frames"])) / seconds,
        "generation_s": seconds / generations,
        "peak_memory_mb": memory,
    }


def engines(folder: Path, rounds: int) -> dict[str, Any]:
    """The time of 8 short runs on this machine's cores, by its own processes and by Ray, whose start is apart."""
    resources = Resources(cpu=1)
    began = time.monotonic()
    ray = choose("ray", resources, folder / "probe")
    start = time.monotonic() - began
    took: dict[str, list[float]] = {"local": [], "ray": []}
    for number in range(rounds):
        for name, engine in (("local", Local(resources)), ("ray", ray)):
            wanted = [Job(Task("two-rovers"), Method("MERL", "merl"), seed, 40_000) for seed in range(8)]
            began = time.monotonic()
            outcome = runner.run(wanted, folder / f"{number}-{name}", Silence(), engine)
            took[name].append(time.monotonic() - began)
            if len(outcome.finished) < len(wanted):
                sys.exit(f"on {name}: {outcome.failed}")
    middle = {name: statistics.median(seconds) for name, seconds in took.items()}
    return {
        "seconds": {name: round(value, 1) for name, value in middle.items()},
        "ray_to_local": round(middle["ray"] / middle["local"], 3),
        "start_of_ray_s": round(start, 1),
    }


# What the model takes for granted, for machines in one room: docs/scaling.md says where it comes from.
LATENCY_S, BYTES_PER_S = 1e-3, 1e9  # of one exchange between two processes
EPISODE_BYTES = 4 * (HORIZON + 8)  # what comes back of an episode that nobody learns from
CORES = (1, 2, 10, 100, 1_000)


def model(measured: dict[str, Any], teams: int = 10_000) -> dict[str, Any]:
    """Simulated, not measured: EA with 10,000 teams, and MERL, on more cores than there are here.

    A generation is its rollouts, shared, and what every process does for itself: evolution, and one exchange in which
    everybody gets everybody's episodes. The rate of a core and the part that is not shared come from two populations on
    one core.
    """
    one = [row for row in measured["table"] if row["way"] == "1 process, 1 core"]
    (small, large) = sorted(one, key=lambda row: row["population"])
    slope = (large["generation_s"] - small["generation_s"]) / (large["population"] - small["population"])
    fixed = max(0.0, small["generation_s"] - slope * small["population"])
    two = next(row for row in measured["table"] if row["way"] == "2 processes" and row["scaling"] == "strong")
    alone = max(0.0, 2 * two["generation_s"] - two["population"] * slope - fixed)  # of all teams, what nobody shares
    own = alone / two["population"]
    curve = []
    for number in CORES:
        exchange = (
            0.0
            if number == 1
            else LATENCY_S * math.ceil(math.log2(number)) + (teams * EPISODES * EPISODE_BYTES / BYTES_PER_S)
        )
        seconds = fixed + own * teams + (slope - own) * teams / number + exchange
        curve.append({"cores": number, "generation_s": round(seconds, 4)})
    base = curve[0]["generation_s"]
    alone_s, both_s = (row["generation_s"] for row in measured["merl"])
    shared_s = min(alone_s, max(0.0, 2 * (alone_s - both_s)))  # of a generation of MERL, what two processes halve
    merl = [{"cores": number, "generation_s": round(alone_s - shared_s + shared_s / number, 4)} for number in CORES]
    return {
        "simulated": [row | {"speedup": round(base / row["generation_s"], 1)} for row in curve],
        "simulated_merl": [row | {"speedup": round(alone_s / row["generation_s"], 2)} for row in merl],
        "assumes": {
            "team_s": slope, "unshared_team_s": own, "fixed_s": fixed, "latency_s": LATENCY_S,
            "bytes_per_s": BYTES_PER_S, "bytes_per_generation": teams * EPISODES * EPISODE_BYTES,
        },
    }  # fmt: skip


def draw(simulated: dict[str, Any], out: Path) -> None:
    """The speed-up over cores, beside one that would lose nothing."""
    figure = Figure(figsize=(5, 3.4), dpi=200, layout="constrained")
    ax = figure.add_subplot()
    ax.plot(CORES, CORES, ":", color="0.6", label="nothing lost")
    for name, label in (("simulated", "EA, 10,000 teams"), ("simulated_merl", "MERL")):
        ax.plot(CORES, [row["speedup"] for row in simulated[name]], "o-", markersize=4, label=label)
    ax.set(xscale="log", yscale="log", xlabel="cores", ylabel="speed-up", ylim=(0.8, 100))
    ax.set_title("Simulated from what two cores did", fontsize=10, loc="left")
    ax.set_xticks(CORES, [f"{number:,}" for number in CORES])
    ax.set_yticks([1, 10, 100], ["1", "10", "100"])
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize=9)
    figure.savefig(out)


def _medians(found: list[dict[str, float]]) -> dict[str, float]:
    return {name: round(statistics.median(each[name] for each in found), 4) for name in found[0]}


def _port() -> int:
    with socket.socket() as free:
        free.bind(("", 0))
        return free.getsockname()[1]


if __name__ == "__main__":
    main()
