"""How near the estimate of a run's memory comes to what the run takes: every world, and several algorithms.

Each run is made twice, in processes of their own: the first compiles its programs, which takes memory, too, and the
second finds them in the cache.

python benchmarks/memory.py --out results/benchmarks/memory.json
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from reporting import parser, report

sys.path.insert(0, str(Path(__file__).parent.parent))
import merlax
from tests.support import peaks

OTHERS = [
    ("rover-3", "ea"),
    ("rover-3", "es"),
    ("rover-3", "td3"),
    ("rover-3", "matd3"),
    ("rover-3", "maddpg"),
    ("predator-prey", "ea"),
    ("predator-prey", "matd3"),
    ("predator-prey", "merl", "scripted"),
]


def measure(world: str, algorithm: str, opponent: str | None = None) -> dict[str, Any]:
    """One run, compiling and not."""
    with tempfile.TemporaryDirectory() as cache:
        cold, warm = (peaks.measure(world, algorithm, opponent, cache=Path(cache)) for _ in range(2))
    told = cold.estimated_mb
    found = {"estimated_mb": round(told), "peak_mb_compiling": cold.peak_mb, "peak_mb_from_cache": warm.peak_mb}
    return found | {"off": [round(told / peak - 1, 2) for peak in (cold.peak_mb, warm.peak_mb)]}


def main() -> None:
    options = parser(__doc__).parse_args()
    result = {}
    for run in [*((world, "merl") for world in merlax.ids()), *OTHERS]:
        name = " ".join(run)
        result[name] = measure(*run)
        print(name, result[name], file=sys.stderr, flush=True)
    worst = max(abs(off) for found in result.values() for off in found["off"])
    report({"worst": worst, "runs": result}, options.out)


if __name__ == "__main__":
    main()
