"""`merlax train` and `merlax resume` as a user meets them: what works, and one sentence for whatever does not."""

import csv
import dataclasses
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
from merlax.algorithms import presets

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


def helped(capsys: pytest.CaptureFixture[str], *args: str) -> str:
    with pytest.raises(SystemExit) as ended:
        cli.main(["train", *args, "--help"])
    assert ended.value.code == 0
    return " ".join(capsys.readouterr().out.split())


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


@pytest.mark.parametrize(
    "args",
    [
        "--out rover-3 two-rovers --frames 1",
        "--frames 1 two-rovers --out rover-3",
        "--td3.discount 0.8 two-rovers --frames 1",
        "--td3.discount=0.8 two-rovers --frames=1",
        "--frames 1 --env.speed free two-rovers",
        "--fitness.same-instances two-rovers --frames 1",
        "--env.speed free --quiet two-rovers --td3.order joint --frames 1",
        "two-rovers --actor-hidden 100 100 --frames 1",
    ],
)
def test_the_world_is_found_wherever_it_stands(args, refuses):
    refuses(["train", *args.split()], f"one generation alone takes up to {(20 * 2 + 5) * 30:,}")


@pytest.mark.slow
def test_options_before_the_world_count(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = "--td3.discount 0.8 --env.speed free --out rover-3".split()
    assert cli.main(["train", *TINY, *before, "two-rovers", "--frames", str(GENERATION), "--quiet"]) == 0
    used = config_of(tmp_path / "rover-3")
    assert (used["world"], used["env"]["speed"]) == ("two-rovers", "free")
    assert used["settings"]["learners"][0]["discount"] == 0.8


def test_an_option_is_checked_with_the_settings_of_its_own_world(refuses):
    args = "train keep-away --td3.batch 15000 --frames 1".split()  # rover-3's buffer would be too small
    refuses(args, "frames is 1")


def test_help_names_default_and_symbol(capsys):
    shown = helped(capsys, "rover-3")
    assert "(M)" in shown
    assert "(default: 10)" in shown


def test_help_shows_the_world_whether_it_is_given_or_not(capsys):
    assert "[OPTIONS] WORLD" in helped(capsys)
    assert "[OPTIONS] WORLD" in helped(capsys, "two-rovers")


def test_help_shows_the_options_of_the_world_the_algorithm_and_the_opponent(capsys):
    assert "--env.coupling" in helped(capsys)
    assert "--opponent." not in helped(capsys)
    assert "--opponent.td3.discount" in helped(capsys, "predator-prey")
    assert "--td3." not in helped(capsys, "rover-3", "--algorithm", "ea")
    assert "--sigma" in helped(capsys, "--algorithm", "es", "rover-3")


BAD = {
    "unknown world": ("rovr-3", "did you mean 'rover-3'"),
    "no world": ("", "Name a world"),
    "no world, but options": ("--population 8 --actor-hidden 8 8", "Name a world"),
    "no algorithm": ("rover-3 --algorithm mrl", "did you mean 'merl'"),
    "coupling above agents": ("rover-3 --env.coupling 7", "coupling is 7"),
    "zero agents": ("rover-3 --env.num-agents 0", "num_agents is 0"),
    "negative POIs": ("rover-3 --env.num-poi -2", "num_poi is -2"),
    "zero episodes": ("rover-3 --fitness.episodes 0", "episodes is 0"),
    "population below elites": ("rover-3 --population 3", "population is 3"),
    "elites above population": ("rover-3 --selection.elites 9", "it needs at least 12"),
    "odd population of ES": ("rover-3 --algorithm es --population 7", "mirrored pairs"),
    "frames below a generation": ("rover-3 --frames 100", "frames is 100"),
    "negative frames": ("rover-3 --frames -1", "frames is -1"),
    "batch above buffer": ("rover-3 --td3.batch 200000", "batch is 200000"),
    "NaN rate": ("rover-3 --td3.actor-rate nan", "actor_rate is nan"),
    "infinite noise": ("rover-3 --noise 1e999", "noise is inf"),
    "negative seed": ("rover-3 --seed -1", "seed is -1"),
    "seed too large": ("rover-3 --seed 99999999999999999999", "seed is 9999"),
    "unknown preset": ("rover-3 --preset=slow", "no preset 'slow'"),
    "opponent where there is none": ("rover-3 --opponent scripted", "has no opponent"),
    "opponent that is nowhere": ("predator-prey --opponent nowhere", "no opponent 'nowhere'"),
    "settings of one that does not learn": (
        "predator-prey --opponent scripted --opponent.td3.discount 0.3",
        "does not learn",
    ),
    "setting of the opponent": ("keep-away --td3.discount 0.6 --opponent.td3.discount 3", "discount is 3.0"),
    "module that is nowhere": ("nowhere_at_all:World", "cannot be imported"),
    "not in its module": ("merlax:Rovr", "did you mean 'Rover'"),
    "not a world": ("os:path", "is no world"),
    "not an algorithm": ("rover-3 --algorithm os:path", "is no algorithm"),
    "interval below zero": ("two-rovers --checkpoint-every -1", "checkpoint"),
}


@pytest.mark.parametrize("case", BAD, ids=str)
def test_bad_input_gets_one_sentence_and_code_2(case, refuses):
    args, sentence = BAD[case]
    refuses(["train", *args.split()], sentence)


@pytest.mark.parametrize(("args", "near"), [("--popluation 3", "--population"), ("--td3.discont 3", "--td3.discount")])
def test_an_unknown_option_is_refused_with_a_suggestion(args, near, refuses):
    refuses(
        ["train", "rover-3", *args.split()], f"Unrecognized options: {args.replace(' ', ', ')} (did you mean {near}?)"
    )


@pytest.mark.parametrize("place", [0, 3, 6])
def test_the_world_may_stand_anywhere_even_after_a_list(place, refuses):
    words = "--actor-hidden 8 8 --population 6 --quiet".split()
    refuses(
        ["train", *words[:place], "two-rovers", *words[place:], "--frames", "1"], "generation alone takes up to 510;"
    )


def test_an_option_with_an_equals_sign_is_understood_too(refuses):
    args = "train two-rovers --preset=paper --population=6 --frames=1".split()
    refuses(args, f"one generation alone takes up to {(6 * 2 + 50) * 30:,}")


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


@pytest.mark.slow
def test_options_count_more_than_the_file_and_the_file_more_than_the_preset(run, tmp_path):
    more = {"settings": {"noise": 0.3, "learners": [{"discount": 0.25, "batch": 4}]}, "seed": 4, "frames": GENERATION}
    (tmp_path / "config.json").write_text(json.dumps(more))
    args = ["--config", str(tmp_path / "config.json"), "--td3.discount", "0.75", "--seed", "5"]
    assert train(tmp_path / "run", *args) == 0
    used = config_of(tmp_path / "run")
    learner = used["settings"]["learners"][0]
    assert (used["settings"]["noise"], learner["discount"], learner["batch"]) == (0.3, 0.75, 8)
    assert (used["seed"], used["frames"]) == (5, 2 * GENERATION)


def test_the_world_in_the_file_is_as_good_as_the_word(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("config.json").write_text('{"world": "two-rovers", "frames": 1}')
    assert cli.main(["train", "--config", "config.json", "--population", "8", "--actor-hidden", "8", "8"]) == 2
    assert f"takes up to {(8 * 2 + 5) * 30}" in capsys.readouterr().err
    assert cli.main(["train", "rover-3", "--config", "config.json"]) == 2
    assert "takes up to 14,350" in capsys.readouterr().err
    assert cli.main(["train", "--config", "config.json", "--noise", "0.3", "rovr-3"]) == 2
    assert "Unrecognized options: rovr-3" in capsys.readouterr().err


def test_two_learners_in_a_file_have_options_of_their_own(tmp_path, capsys):
    (tmp_path / "config.json").write_text('{"settings": {"learners": [{"discount": 0.3}, {"discount": 0.9}]}}')
    args = ["train", "two-rovers", "--config", str(tmp_path / "config.json"), "--learners.1.discount", "7"]
    assert cli.main(args) == 2
    assert "discount is 7.0; make it a number from 0 to 1" in capsys.readouterr().err


FAST = presets.preset("fast", "rover-3")
SENTENCES = {
    "settings.population": (
        "--population 3",
        lambda: dataclasses.replace(FAST, population=3),
    ),
    "settings.learners.0.discount": ("--td3.discount 3", lambda: merlax.Td3(discount=3.0)),
    "settings.fitness.episodes": ("--fitness.episodes 0", lambda: merlax.Fitness(episodes=0)),
    "settings.noise": ("--noise -0.5", lambda: merlax.Merl(noise=-0.5)),
    "settings.actor_hidden": ("--actor-hidden 0", lambda: merlax.Merl(actor_hidden=(0,))),
    "env.coupling": ("--env.coupling 7", lambda: merlax.Rover(coupling=7)),
    "env.side": ("--env.side 3", lambda: merlax.Rover(side=3)),
}


@pytest.mark.parametrize("path", SENTENCES)
def test_a_bound_gives_the_same_sentence_from_python_a_file_and_the_command_line(path, tmp_path, capsys):
    option, make = SENTENCES[path]
    with pytest.raises(merlax.UserError) as error:
        make()
    sentence = str(error.value)
    assert cli.main(["train", "rover-3", *option.split()]) == 2
    assert capsys.readouterr().err == f"merlax: {sentence}\n"
    value: object = json.loads(option.split()[1])
    for name in reversed(path.split(".")):
        value = {name: [value] if name == "actor_hidden" else value} if name != "0" else [value]
    (tmp_path / "config.json").write_text(json.dumps(value))
    assert cli.main(["train", "rover-3", "--config", str(tmp_path / "config.json")]) == 2
    assert capsys.readouterr().err.endswith(f"{sentence}\n")


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


@pytest.mark.slow
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


@pytest.mark.slow
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


def test_help_shows_the_options_of_a_world_of_the_users_own(own_module, capsys):
    shown = helped(capsys, f"{own_module}:MyWorld", "--algorithm", f"{own_module}:MyAlgorithm")
    assert "--env.patience INT Steps that nobody minds. (default: 3)" in shown
    assert "--mutation.factor" in shown


@pytest.mark.slow
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


@pytest.mark.slow
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
