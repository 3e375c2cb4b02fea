"""Every example runs as a user would run it, with JAX's own settings, in an empty folder; all share one process."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
# Arguments with which an example takes a moment.
SMALL = {
    "begin_with_a_champion": ["12000"],
    "change_settings": ["30000"],
    "compare_algorithms": ["1500", "ea,td3"],
    "cross_play": ["3000"],
    "frozen_opponent": ["3000"],
    "generations_by_hand": ["2"],
    "many_seeds_on_one_accelerator": ["2", "2"],
    "own_crossover": ["16000"],
    "own_mutation": ["15000"],
    "own_recorder": ["12000"],
    "own_rover_world": ["15000"],
    "read_a_run": ["1800"],
    "resume_a_run": ["12000"],
    "scripted_yardstick": ["100"],
    "stop_at_a_score": ["0.0"],
    "train_and_plot": ["15000"],
    "two_learners": ["17000"],
}
# Examples that are modules for the command line.
COMMANDS = {
    "own_world": "train own_world:Corners --env.size 3 --frames 4000 --out run",
    "own_contest": "train own_contest:Tag --opponent scripted --algorithm ea --frames 3000 --out run",
    "own_algorithm": "train rover-1 --algorithm own_algorithm:RandomSearch --teams 4 --frames 2000 --out run",
}


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """What every example printed, how long it took, and why it failed."""
    folder = tmp_path_factory.mktemp("examples")
    requests = [[name, str(EXAMPLES / f"{name}.py"), *arguments] for name, arguments in SMALL.items()]
    requests += [[name, "merlax", *words.split()] for name, words in COMMANDS.items()]
    champion = str(folder / "cross_play" / "runs" / "cross-1")
    requests.append(["use_a_champion", str(EXAMPLES / "use_a_champion.py"), champion])
    (folder / "requests.json").write_text(json.dumps(requests))
    command = [sys.executable, str(ROOT / "tests" / "support" / "run_examples.py"), "requests.json"]
    environment = os.environ | {"PYTHONPATH": str(EXAMPLES)}
    ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=900)
    assert ended.returncode == 0, ended.stderr
    told = json.loads(ended.stdout.splitlines()[-1])
    print({name: round(each["seconds"], 1) for name, each in told.items()})
    return told


@pytest.mark.slow
@pytest.mark.parametrize("name", [*SMALL, *COMMANDS, "use_a_champion"])
def test_an_example_runs(name, played):
    assert played[name]["error"] is None, played[name]["error"]
    assert played[name]["printed"]


def test_every_example_is_tried_here_and_has_its_line_in_the_docs():
    names = {path.stem for path in EXAMPLES.glob("*.py")}
    assert names == SMALL.keys() | COMMANDS.keys() | {"use_a_champion"}
    page = (ROOT / "docs" / "extend" / "examples.md").read_text()
    assert not [name for name in names if f"../../examples/{name}.py" not in page]


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_an_example_is_short(path):
    assert len(path.read_text().splitlines()) <= 45
