"""Every example runs, as a user would run it: a process of its own, in an empty folder, without a change to merlax."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
# Arguments with which an example takes a moment.
SMALL = {
    "many_seeds_on_one_accelerator": ["2", "2"],
    "own_mutation": ["15000"],
    "own_rover_world": ["15000"],
    "stop_at_a_score": ["0.0"],
    "train_and_plot": ["15000"],
    "two_learners": ["17000"],
}
# Examples that are modules for the command line.
COMMANDS = {
    "own_world": "train own_world:Corners --env.size 3 --frames 4000".split(),
    "own_algorithm": [
        "train",
        "rover-1",
        "--algorithm",
        "own_algorithm:RandomSearch",
        "--teams",
        "4",
        "--frames",
        "2000",
    ],
}


def run(command: list[str], folder: Path) -> str:
    environment = os.environ | {"PYTHONPATH": str(EXAMPLES)}
    ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL)
def test_an_example_runs(name, tmp_path):
    assert run([sys.executable, str(EXAMPLES / f"{name}.py"), *SMALL[name]], tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_a_users_own_module_is_found_by_the_command_line(name, tmp_path):
    output = run([sys.executable, "-m", "merlax.cli", *COMMANDS[name], "--out", "run"], tmp_path)
    assert "champion" in output


@pytest.mark.slow
def test_a_champion_is_used_step_by_step(tmp_path):
    train = [sys.executable, "-m", "merlax.cli", "train", "keep-away", "--algorithm", "ea", "--frames", "3000"]
    run([*train, "--out", "run"], tmp_path)
    assert "score" in run([sys.executable, str(EXAMPLES / "use_a_champion.py"), "run"], tmp_path)


def test_every_example_is_tried_here():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == SMALL.keys() | COMMANDS.keys() | {"use_a_champion"}


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_an_example_is_short(path):
    assert len(path.read_text().splitlines()) <= 40
