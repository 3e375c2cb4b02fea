"""`merlax train` and `merlax resume` as a user meets them: what a run leaves, and how it is repeated and resumed."""

import csv
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from PIL import Image

import merlax
from merlax import cli

pytestmark = pytest.mark.slow  # the runs are trained

TINY_EA = "--population 6 --fitness.episodes 1 --actor-hidden 8".split()
TINY = [*TINY_EA, *"--explore-episodes 2 --td3.critic-hidden 8 --td3.batch 8 --td3.buffer 2000".split()]
GENERATION = (6 * 2 + 2) * 30


def train(out: Path, *more: str) -> int:
    return cli.main(["train", "two-rovers", "--frames", str(2 * GENERATION), "--out", str(out), *TINY, *more])


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "tiny"
    assert train(out) == 0
    return out


def rows(run: Path) -> list[dict[str, str]]:
    with (run / "progress.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def without_clock(run: Path) -> list[dict[str, str]]:
    return [{name: value for name, value in row.items() if name != "seconds"} for row in rows(run)]


def config_of(run: Path) -> dict:
    return json.loads((run / "config.json").read_text())


def test_a_run_folder_holds_what_the_design_promises(run):
    settings = config_of(run)
    assert settings["world"] == "two-rovers"
    assert settings["settings"]["population"] == 6
    assert "jax" in settings["versions"]
    columns = "generation frames seconds champion_score best_fitness mean_fitness learner_score migrant_fate".split()
    assert list(rows(run)[0])[:8] == columns
    assert [row["generation"] for row in rows(run)] == ["1", "2"]
    assert rows(run)[-1]["frames"] == str(2 * GENERATION)
    assert all(len(row["fitness"].split()) == 6 for row in rows(run))
    assert list((run / "events").iterdir())
    with Image.open(run / "learning_curve.png") as curve:
        assert curve.size[0] > 300
    with Image.open(run / "champion.gif") as film:
        assert getattr(film, "n_frames", 1) == 31


def test_the_same_seed_gives_the_same_rows(run, tmp_path):
    assert train(tmp_path / "again") == 0
    assert without_clock(tmp_path / "again") == without_clock(run)


def test_a_log_file_gets_plain_lines(run, tmp_path, capsys):
    assert train(tmp_path / "lines") == 0
    shown = capsys.readouterr().out
    assert "generation 2" in shown
    assert "\x1b" not in shown
    assert "published  1.00" in shown


def test_options_before_the_world_count(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = "--td3.discount 0.8 --env.speed free --out rover-3".split()
    assert cli.main(["train", *TINY, *before, "two-rovers", "--frames", str(GENERATION), "--quiet"]) == 0
    used = config_of(tmp_path / "rover-3")
    assert (used["world"], used["env"]["speed"]) == ("two-rovers", "free")
    assert used["settings"]["learners"][0]["discount"] == 0.8


def test_the_config_of_a_run_repeats_the_run(run, tmp_path):
    assert cli.main(["train", "--config", str(run / "config.json"), "--out", str(tmp_path / "again")]) == 0
    assert without_clock(tmp_path / "again") == without_clock(run)
    assert config_of(tmp_path / "again") == config_of(run)


TOML = f"""
world = "two-rovers"
frames = {2 * GENERATION}

[settings]
population = 6
explore_episodes = 2
actor_hidden = [8]
fitness = {{ episodes = 1 }}

[[settings.learners]]
batch = 8
buffer = 2000
critic_hidden = [8]
"""


def test_a_config_in_toml_repeats_the_run(run, tmp_path):
    (tmp_path / "config.toml").write_text(TOML)
    assert cli.main(["train", "--config", str(tmp_path / "config.toml"), "--out", str(tmp_path / "again")]) == 0
    assert without_clock(tmp_path / "again") == without_clock(run)


def test_options_count_more_than_the_file_and_the_file_more_than_the_preset(run, tmp_path):
    more = {"settings": {"noise": 0.3, "learners": [{"discount": 0.25, "batch": 4}]}, "seed": 4, "frames": GENERATION}
    (tmp_path / "config.json").write_text(json.dumps(more))
    args = ["--config", str(tmp_path / "config.json"), "--td3.discount", "0.75", "--seed", "5"]
    assert train(tmp_path / "run", *args) == 0
    used = config_of(tmp_path / "run")
    learner = used["settings"]["learners"][0]
    assert (used["settings"]["noise"], learner["discount"], learner["batch"]) == (0.3, 0.75, 8)
    assert (used["seed"], used["frames"]) == (5, 2 * GENERATION)


def test_a_dry_run_says_what_a_run_would_take_and_makes_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["train", "rover-1", "--dry-run", "--frames", "1000000", "--seed", "3"]) == 0
    title, *rest = capsys.readouterr().out.splitlines()
    assert title.startswith("merl on rover-1")
    assert [line.split()[0] for line in rest] == ["budget", "memory", "run"]
    assert rest[0].startswith("budget     1,000,000 frames, at least ")
    assert rest[2].endswith("runs/rover-1-merl-seed3")
    assert not list(tmp_path.iterdir())


def test_a_dry_run_refuses_what_a_run_would_refuse(run, refuses):
    refuses(["train", "rover-1", "--dry-run", "--frames", "1"], "one generation alone takes")
    refuses(["train", "rover-1", "--dry-run", "--seed", "-1"], "seed is -1")
    refuses(["train", "rover-1", "--dry-run", "--checkpoint-every", "nan"], "checkpoint_every is nan")
    refuses(["train", "rover-1", "--dry-run", "--out", str(run)], "holds a run already")


def test_a_run_is_never_overwritten_without_force(run, capsys):
    before = (run / "progress.csv").read_bytes()
    assert train(run) == 2
    assert "--force" in capsys.readouterr().err
    assert (run / "progress.csv").read_bytes() == before


def test_force_replaces_a_run(tmp_path):
    assert train(tmp_path / "run") == 0
    assert train(tmp_path / "run", "--force", "--seed", "7") == 0
    assert config_of(tmp_path / "run")["seed"] == 7


def test_an_unwritable_folder_is_refused(tmp_path, capsys):
    (tmp_path / "file").write_text("in the way")
    assert train(tmp_path / "file" / "run") == 2
    assert "cannot be written" in capsys.readouterr().err


def test_without_out_every_run_gets_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        assert cli.main(["train", "two-rovers", "--frames", str(GENERATION), "--quiet", *TINY]) == 0
    assert sorted(p.name for p in (tmp_path / "runs").iterdir()) == [
        "two-rovers-merl-seed2019",
        "two-rovers-merl-seed2019-2",
    ]


def test_ctrl_c_leaves_a_usable_run_folder(tmp_path):
    command = [sys.executable, "-m", "merlax.cli", "train", "two-rovers", "--frames", "100000000", *TINY]
    process = subprocess.Popen([*command, "--out", str(tmp_path / "run")], stdout=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 120
    while not (tmp_path / "run" / "progress.csv").exists() or len(rows(tmp_path / "run")) < 3:
        assert time.monotonic() < deadline
        time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    shown, _ = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "Interrupted" in shown
    assert (tmp_path / "run" / "learning_curve.png").exists()
    assert cli.main(["evaluate", str(tmp_path / "run"), "--episodes", "2"]) == 0


OWN_GENERATION = 6 * 3


def test_a_world_and_an_algorithm_of_the_users_own_train_by_their_names(own_module, tmp_path):
    world, algorithm = f"{own_module}:MyWorld", f"{own_module}:MyAlgorithm"
    args = ["train", world, "--algorithm", algorithm, "--out", "run", "--quiet"]
    changes = "--env.patience 4 --mutation.factor 0.25".split()
    assert cli.main([*args, *changes, "--frames", str(2 * OWN_GENERATION)]) == 0
    used = config_of(tmp_path / "run")
    assert (used["world"], used["algorithm"]) == (world, algorithm)
    assert used["env"]["patience"] == 4
    assert used["settings"]["mutation"] == {"factor": 0.25}
    assert cli.main(["evaluate", "run", "--episodes", "2"]) == 2
    assert cli.main(["evaluate", "run", "--episodes", "2", "--env", world]) == 0


def test_the_config_of_a_run_of_the_users_own_repeats_it_if_both_are_named_again(own_module, tmp_path, capsys):
    world, algorithm = f"{own_module}:MyWorld", f"{own_module}:MyAlgorithm"
    args = ["train", world, "--algorithm", algorithm, "--quiet"]
    changes = f"--frames {2 * OWN_GENERATION} --env.patience 4 --mutation.factor 0.25 --out run".split()
    assert cli.main([*args, *changes]) == 0
    assert cli.main([*args, "--config", "run/config.json", "--out", "again"]) == 0
    assert without_clock(tmp_path / "again") == without_clock(tmp_path / "run")
    assert cli.main(["train", world, "--config", "run/config.json"]) == 2
    assert "give it again as --algorithm" in capsys.readouterr().err


def test_an_interrupted_run_of_the_users_own_is_resumed_by_its_names(own_module, tmp_path):
    world, algorithm = f"{own_module}:MyWorld", f"{own_module}:MyAlgorithm"
    args = ["train", world, "--algorithm", algorithm, "--population", "7", "--env.horizon", "2", "--quiet"]
    frames = 2 * 7 * 2
    assert cli.main([*args, "--frames", str(frames), "--out", "whole"]) == 0
    env = merlax.make(world, horizon=2)
    merlax.train(
        env, algorithm, settings={"population": 7}, frames=frames, out="cut", quiet=True, callbacks=[lambda row: True]
    )
    assert cli.main(["resume", "cut", "--quiet", "--algorithm", algorithm]) == 2
    assert len(rows(tmp_path / "cut")) == 1
    assert cli.main(["resume", "cut", "--quiet", "--algorithm", algorithm, "--env", world]) == 0
    assert without_clock(tmp_path / "cut") == without_clock(tmp_path / "whole")


CONTEST = "train tests.probes.tag:Tag --algorithm ea --frames 12 --quiet".split() + TINY_EA


def test_the_settings_of_an_opponent_that_learns_are_options(tmp_path):
    own = "--opponent.td3.discount 0.3 --opponent.td3.batch 8 --opponent.actor-hidden 4".split()
    assert cli.main([*CONTEST, *own, "--out", str(tmp_path / "run")]) == 0
    used = config_of(tmp_path / "run")
    opponent = used["opponent"]["settings"]
    assert (used["opponent"]["kind"], opponent["learner"]["discount"], opponent["actor_hidden"]) == ("ddpg", 0.3, [4])
    assert used["settings"]["actor_hidden"] == [8]


def test_a_file_chooses_the_opponent_and_the_command_line_another(tmp_path):
    (tmp_path / "config.json").write_text('{"opponent": {"kind": "ddpg", "settings": {"actor_hidden": [4]}}}')
    args = ["--config", str(tmp_path / "config.json"), "--out", str(tmp_path / "run"), "--opponent", "scripted"]
    assert cli.main([*CONTEST, *args]) == 0
    assert config_of(tmp_path / "run")["opponent"] == {"kind": "scripted"}


def test_a_finished_run_is_not_resumed(run, capsys):
    assert cli.main(["resume", str(run)]) == 2
    assert "nothing to resume" in capsys.readouterr().err
