"""How long a user waits: MERL on rover-3, speed free, as a new process with nothing compiled before.

    python benchmarks/cold_start.py --out results/benchmarks/cold_start.json

Each seed is trained twice. A short run is timed from its command to its last picture, and its champion's final score
counts, over 200 fresh episodes; a run of two million frames is timed in the same way. Let nothing else run meanwhile.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from reporting import parser, report


def timed(seed: int, frames: int) -> dict[str, Any]:
    """The seconds and the final score of one run that finds no compiled program."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        command = [sys.executable, "-m", "merlax.cli", "train", "rover-3", "--env.speed", "free"]
        start = time.perf_counter()
        subprocess.run(
            [*command, "--frames", str(frames), "--seed", str(seed), "--out", str(out)],
            env=os.environ | {"XDG_CACHE_HOME": folder, "JAX_COMPILATION_CACHE_DIR": f"{folder}/jax"},
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        seconds = time.perf_counter() - start
        score = json.loads((out / "final.json").read_text())["mean"]
    return {"seed": seed, "frames": frames, "seconds": round(seconds, 1), "score": round(score, 3)}


def main() -> None:
    command = parser(__doc__)
    command.add_argument("--seeds", type=int, nargs="+", default=[111, 112])
    command.add_argument("--short", type=int, default=400_000, help="frames of the short run")
    command.add_argument("--long", type=int, default=2_000_000, help="frames of the long run")
    chosen = command.parse_args()
    runs = [timed(seed, frames) for seed in chosen.seeds for frames in (chosen.short, chosen.long)]
    report({"world": "rover-3", "speed": "free", "cores": os.cpu_count(), "runs": runs}, chosen.out)


if __name__ == "__main__":
    main()
