"""How large a report of many runs is, and how soon a browser shows it.

    python benchmarks/pages.py --out results/benchmarks/pages.json

Trains a few small runs, copies their folders under other seeds and with noise until there are enough, makes one report
of them all and opens it in headless Chromium, several times: from the command to open it until every curve is drawn and
the page has painted twice more. Needs Chromium.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from reporting import parser, report

sys.path.insert(0, str(Path(__file__).parent.parent))
import merlax
from tests.support.browser import Browser

MADE = (("merl", 20_000), ("ea", 20_000))  # algorithms and frames of the real runs
ROWS = 400  # that a copy has: those of its run again and again, at later frames


def train(folder: Path) -> list[Path]:
    """The real runs."""
    return [
        merlax.train("rover-3", name, frames=frames, seed=1, out=folder / name, quiet=True).path
        for name, frames in MADE
    ]


def copy(run: Path, out: Path, seed: int) -> None:
    """The same run under another seed, and long."""
    shutil.copytree(run, out, ignore=shutil.ignore_patterns("checkpoints", "events", "*.gif", "*.png"))
    config = json.loads((out / "config.json").read_text())
    (out / "config.json").write_text(json.dumps(config | {"seed": seed}))
    head, *rows = (out / "progress.csv").read_text().splitlines()
    names = head.split(",")
    frames, seconds = names.index("frames"), names.index("seconds")
    last = [float(cell) for cell in (rows[-1].split(",")[frames], rows[-1].split(",")[seconds])]
    lines, random = [head], np.random.default_rng(seed)
    for number in range(ROWS):
        cells, times = rows[number % len(rows)].split(","), number // len(rows)
        cells[0] = str(number + 1)
        cells[frames] = str(int(float(cells[frames]) + times * last[0]))
        cells[seconds] = str(float(cells[seconds]) + times * last[1])
        told = [shaken(cell, random) for cell in cells[3:]]
        lines.append(",".join([*cells[:3], *told]))
    (out / "progress.csv").write_text("\n".join(lines) + "\n")


def shaken(cell: str, random: np.random.Generator) -> str:
    """The same numbers with some noise: what repeats itself would be packed to nothing."""
    if "." not in cell:
        return cell
    return " ".join(f"{float(one) * random.normal(1.0, 0.05):.6g}" if "." in one else one for one in cell.split())


def opened(page: Path, times: int) -> list[float]:
    """Seconds until a page shows all its curves and answers again, each time in a page that is new."""
    found = []
    with Browser() as browser:
        for _ in range(times):
            browser.open("about:blank")
            start = time.perf_counter()
            browser.open(page)
            browser.wait("[...document.querySelectorAll('[data-chart]')].every((one) => one.querySelector('canvas'))")
            browser.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")
            found.append(time.perf_counter() - start)
        assert not browser.problems, browser.problems
    return found


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--runs", type=int, default=50, help="how many runs the report has")
    arguments.add_argument("--times", type=int, default=5, help="how often it is opened")
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made = train(folder / "made")
        for number in range(options.runs):
            copy(made[number % len(made)], folder / "runs" / str(number), number)
        start = time.perf_counter()
        merlax.report([folder / "runs"], folder / "report.html")
        writing = time.perf_counter() - start
        seconds = opened(folder / "report.html", options.times)
        result: dict[str, Any] = {
            "runs": options.runs,
            "rows_of_a_run": ROWS,
            "megabytes": round((folder / "report.html").stat().st_size / 1e6, 2),
            "seconds_to_write": round(writing, 1),
            "seconds_to_open": [round(each, 2) for each in seconds],
            "median_seconds_to_open": round(statistics.median(seconds), 2),
            "load_at_end": [round(load, 1) for load in os.getloadavg()],
        }
    report(result, options.out)


if __name__ == "__main__":
    main()
