"""MERL, EA and TD3 on worlds that are not ours, beside untrained teams: three seeds each.

    pip install 'merlax[jaxmarl,jumanji,pettingzoo]' 'pettingzoo[sisl]'
    python benchmarks/real_worlds.py multiwalker --out results/benchmarks/real-multiwalker.json
    python benchmarks/real_worlds.py overcooked --out results/benchmarks/real-overcooked.json
    python benchmarks/real_worlds.py search-and-rescue --out results/benchmarks/real-search-and-rescue.json

Runs lie in runs/real; what is there is not run again. Beside the JSON goes a figure of the learning curves (`.png`).
The presets are those of any unknown world: nothing was tuned.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import jax
from reporting import parser, report

HERE = Path(__file__).parent
sys.path.append(str(HERE))  # for workers, which look for `package_progress` where this process does
os.environ["PYTHONPATH"] = os.pathsep.join([str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])])

from merlax.algorithms.evolutionary import random_teams  # noqa: E402
from merlax.core.players import PolicyPlayer  # noqa: E402
from merlax.core.rollout import Field  # noqa: E402
from merlax.experiments import drawing, reproduce, results  # noqa: E402
from merlax.experiments.backends import Local, Resources  # noqa: E402
from merlax.experiments.spec import Experiment, Method, Quick, Task  # noqa: E402
from merlax.runs import evaluation, reader  # noqa: E402

SEEDS = (1, 2, 3)
UNTRAINED, EPISODES = 10, 20  # teams, and episodes of each
METHODS = (Method("MERL", "merl"), Method("EA", "ea"), Method("TD3", "td3"))
TASKS = {
    # The team is paid for the package's way, a walker what the world itself pays it.
    "multiwalker": Task("pettingzoo:package_progress:make", {"team": "progress"}, frames=150_000),
    # The team is paid for soups that are delivered, a cook also for what leads to one.
    "overcooked": Task("jaxmarl:overcooked_v2", {"team": "mean", "agent": "shaped_reward"}, frames=300_000),
    # The team is paid for all targets that are found, a searcher for its own.
    "search-and-rescue": Task("jumanji:SearchAndRescue-v0", {"team": "sum", "num_searchers": 4}, frames=300_000),
}


def main() -> None:
    made = parser(__doc__)
    made.add_argument("world", choices=sorted(TASKS))
    made.add_argument("--workers", type=int, default=None, help="runs at a time")
    asked = made.parse_args()
    task = TASKS[asked.world]
    assert task.frames is not None
    experiment = Experiment(
        asked.world, asked.world, "How MERL, EA and TD3 learn there.", "curves", (task,), METHODS, task.frames,
        Quick(1_000, {}), SEEDS,
    )  # fmt: skip
    out = Path("runs", "real", asked.world)
    runs = out / reproduce.RUNS
    code = reproduce.run_and_print(experiment, out, lambda root: Local(Resources(), workers=asked.workers))
    if code:
        sys.exit(code)
    found = results.read(out / reproduce.RESULTS)
    jobs = list(experiment.jobs())
    final = {method.label: [] for method in METHODS}
    for job in jobs:
        final[job.method.label].append(round(reader.read_final(runs / job.folder)["mean"], 3))
    drawing.draw(
        found, out / reproduce.RUNS, asked.out.with_suffix(".png") if asked.out else out / "curves.png", experiment
    )
    report(
        {"world": task.label, "frames": task.frames, "seeds": SEEDS, "final": final, "untrained": untrained(task)},
        asked.out,
    )


def untrained(task: Task) -> float:
    """The mean score of random teams."""
    from merlax import envs, preset

    env: Any = envs.make(task.world, **task.options)
    teams = random_teams(jax.random.key(0), env.sides[0], preset("fast", None).actor_hidden, UNTRAINED)
    one = lambda team: PolicyPlayer(jax.tree.map(lambda leaf: leaf[team], teams))  # noqa: E731
    key = evaluation.evaluation_key(0)
    scores = [evaluation.evaluate(key, Field(env), one(team), EPISODES).mean for team in range(UNTRAINED)]
    return round(sum(scores) / len(scores), 3)


if __name__ == "__main__":
    main()
