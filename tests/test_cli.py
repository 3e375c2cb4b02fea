"""The command line as a user meets it: what works, and one sentence for everything that does not."""

import csv
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from PIL import Image

from merlax import cli

TINY = (
    "--evolution.population 6 --explore-episodes 2 --actor-hidden 8 --critic-hidden 8 --td3.batch 8 --td3.buffer 2000"
).split()
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


def test_a_run_folder_holds_what_the_design_promises(run):
    settings = json.loads((run / "config.json").read_text())
    assert settings["world"] == "two-rovers"
    assert settings["config"]["evolution"]["population"] == 6
    assert "jax" in settings["versions"]
    columns = "generation frames seconds champion_score best_fitness mean_fitness learner_score migrant_fate".split()
    assert list(rows(run)[0])[:8] == columns
    assert [row["generation"] for row in rows(run)] == ["1", "2"]
    assert rows(run)[-1]["frames"] == str(2 * GENERATION)
    assert all(len(row["fitness"].split()) == 6 for row in rows(run))
    assert list((run / "events").iterdir())
    assert Image.open(run / "learning_curve.png").size[0] > 300
    assert Image.open(run / "champion.gif").n_frames == 31


def test_the_same_seed_gives_the_same_rows(run, tmp_path):
    assert train(tmp_path / "again") == 0
    without_clock = [{k: v for k, v in row.items() if k != "seconds"} for row in rows(tmp_path / "again")]
    assert without_clock == [{k: v for k, v in row.items() if k != "seconds"} for row in rows(run)]


def test_evaluate_prints_json(run, capsys):
    assert cli.main(["evaluate", str(run), "--episodes", "3", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["episodes"] == 3
    assert result["mean"] in (0.0, 0.5, 1.0)  # two-rovers is deterministic


def test_render_writes_a_picture(run, tmp_path):
    assert cli.main(["render", str(run), "--out", str(tmp_path / "deep" / "team.png")]) == 0
    assert (tmp_path / "deep" / "team.png").exists()


def test_envs_lists_every_world(capsys):
    assert cli.main(["envs"]) == 0
    shown = capsys.readouterr().out
    assert all(f"rover-{coupling} " in shown for coupling in range(1, 8))
    assert "two-rovers" in shown


def test_selection_rate_prints_the_papers_number(capsys):
    assert cli.main(["selection-rate", "--trials", "100000"]) == 0
    assert capsys.readouterr().out.strip() == "0.47"


def test_a_log_file_gets_plain_lines(run, tmp_path, capsys):
    assert train(tmp_path / "lines") == 0
    shown = capsys.readouterr().out
    assert "generation 2" in shown
    assert "\x1b" not in shown
    assert "published  1.00" in shown


def test_help_names_default_and_symbol(capsys):
    with pytest.raises(SystemExit) as exit_:
        cli.main(["train", "rover-3", "--help"])
    assert exit_.value.code == 0
    shown = capsys.readouterr().out
    assert "(M)" in shown
    assert "(default: 10)" in shown


BAD = {
    "unknown world": (["train", "rovr-3"], "did you mean 'rover-3'"),
    "no world": (["train"], "Name a world"),
    "unknown algorithm": (["train", "rover-3", "--algorithm", "mrl"], "did you mean 'merl'"),
    "unknown command": (["trian", "rover-3"], "did you mean 'train'"),
    "coupling above agents": (["train", "rover-3", "--env.coupling", "7"], "coupling is 7"),
    "zero agents": (["train", "rover-3", "--env.num-agents", "0"], "num_agents is 0"),
    "negative POIs": (["train", "rover-3", "--env.num-poi", "-2"], "num_poi is -2"),
    "zero episodes": (["train", "rover-3", "--evolution.fitness-episodes", "0"], "fitness_episodes is 0"),
    "population below elites": (["train", "rover-3", "--evolution.population", "3"], "population is 3"),
    "frames below a generation": (["train", "rover-3", "--frames", "100"], "frames is 100"),
    "negative frames": (["train", "rover-3", "--frames", "-1"], "frames is -1"),
    "batch above buffer": (["train", "rover-3", "--td3.batch", "200000"], "batch is 200000"),
    "NaN rate": (["train", "rover-3", "--td3.actor-rate", "nan"], "actor_rate is nan"),
    "negative seed": (["train", "rover-3", "--seed", "-1"], "seed is -1"),
    "seed too large": (["train", "rover-3", "--seed", "99999999999999999999"], "seed is 9999"),
    "unknown preset": (["train", "rover-3", "--preset=slow"], "no preset 'slow'"),
    "not a run": (["evaluate", "/nowhere"], "not a run folder"),
}


@pytest.mark.parametrize("case", BAD, ids=str)
def test_bad_input_gets_one_sentence_and_code_2(case, refuses):
    refuses(*BAD[case])


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"td3": {"discount": NaN}}', "'td3.discount' is nan"),
        ('{"td3": {"discont": 0.5}}', "did you mean 'discount'"),
        ('{"td3": 3}', "must be an object"),
        ('{"noise": "loud"}', "give a value of type float"),
        ("{", "not valid JSON"),
    ],
)
def test_a_bad_config_file_is_refused(text, sentence, tmp_path, capsys):
    (tmp_path / "config.json").write_text(text)
    assert train(tmp_path / "run", "--config", str(tmp_path / "config.json")) == 2
    assert sentence in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_a_config_file_changes_the_preset_and_options_change_both(tmp_path):
    (tmp_path / "config.json").write_text('{"noise": 0.3, "td3": {"discount": 0.25, "batch": 4}}')
    assert train(tmp_path / "run", "--config", str(tmp_path / "config.json"), "--td3.discount", "0.75") == 0
    used = json.loads((tmp_path / "run" / "config.json").read_text())["config"]
    assert (used["noise"], used["td3"]["discount"], used["td3"]["batch"]) == (0.3, 0.75, 8)


def test_an_option_with_an_equals_sign_is_understood_too(tmp_path):
    frames = f"--frames={2 * 6 * 30 + 50 * 30}"
    args = ["train", "two-rovers", frames, "--preset=paper", "--evolution.population=6", "--quiet"]
    assert cli.main([*args, f"--out={tmp_path / 'run'}", "--td3.updates-per-frame=0"]) == 0
    used = json.loads((tmp_path / "run" / "config.json").read_text())
    assert (used["preset"], used["config"]["td3"]["order"]) == ("paper", "sequential")


def test_a_run_is_never_overwritten_without_force(run, capsys):
    before = (run / "progress.csv").read_bytes()
    assert train(run) == 2
    assert "--force" in capsys.readouterr().err
    assert (run / "progress.csv").read_bytes() == before


def test_force_replaces_a_run(tmp_path):
    assert train(tmp_path / "run") == 0
    assert train(tmp_path / "run", "--force", "--seed", "7") == 0
    assert json.loads((tmp_path / "run" / "config.json").read_text())["seed"] == 7


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
