"""The words after `merlax train`: what is understood, what is helped with, and one sentence for whatever is not."""

import dataclasses
import json
from pathlib import Path

import pytest

import merlax
from merlax import cli
from merlax.algorithms import presets

pytestmark = pytest.mark.slow  # tracing a generation, to know its frames, takes a second


def helped(capsys: pytest.CaptureFixture[str], *args: str) -> str:
    with pytest.raises(SystemExit) as ended:
        cli.main(["train", *args, "--help"])
    assert ended.value.code == 0
    return " ".join(capsys.readouterr().out.split())


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


def test_help_shows_the_options_of_a_world_of_the_users_own(own_module, capsys):
    shown = helped(capsys, f"{own_module}:MyWorld", "--algorithm", f"{own_module}:MyAlgorithm")
    assert "--env.patience INT Steps that nobody minds. (default: 3)" in shown
    assert "--mutation.factor" in shown
