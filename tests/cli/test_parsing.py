"""Options from dataclasses, and back."""

import dataclasses
import json

import pytest

import merlax
from merlax import config
from merlax.algorithms import presets
from merlax.cli.parsing import Form, named_env, open_run, parse
from merlax.core.networks import TeamPolicy
from merlax.core.td3 import Td3
from merlax.runs import policies
from tests.probes.rendezvous import Rendezvous
from tests.support.weights import weights

SIDE = Rendezvous().sides[0]


def filled(algorithm, *args):
    """The algorithm after these options."""
    form = Form(algorithm)
    return form.read(parse(form.type, "train", args, None, form.default))


@pytest.mark.parametrize("name", presets.names())
def test_without_options_an_algorithm_stays_as_it_is(name):
    for preset in presets.PRESETS:
        algorithm = presets.preset(preset, None, name)
        assert filled(algorithm) == algorithm


@pytest.mark.parametrize("name", ["merl", "td3", "matd3"])
def test_a_single_learner_is_called_td3_whatever_field_holds_it(name):
    algorithm = presets.preset("fast", None, name)
    changes = {"learners": [{"discount": 0.8}]} if name == "merl" else {"learner": {"discount": 0.8}}
    assert filled(algorithm, "--td3.discount", "0.8") == config.merge(algorithm, changes)


def test_several_learners_are_called_by_their_places():
    merl = merlax.Merl(learners=(Td3(discount=0.5), Td3(discount=0.9)))
    changed = filled(merl, "--learners.1.discount", "0.8")
    assert [learner.discount for learner in changed.learners] == [0.5, 0.8]


@dataclasses.dataclass(frozen=True)
class Crowded(merlax.Ea):
    """An algorithm whose `learners` are a number."""

    learners: int = 3


def test_a_field_that_only_sounds_like_learners_is_an_option_like_others():
    assert filled(Crowded(), "--learners", "5") == Crowded(learners=5)


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        ("--population x", "Error parsing --population: invalid literal for int() with base 10: 'x'"),
        ("--population", "Missing value for argument '--population'. Expected 1 values"),
        ("--td3.order any", "invalid choice 'any' for argument '--td3.order'. Expected one of"),
        ("--popul 3 --actr-hidden 3", "Unrecognized options: --popul, 3, --actr-hidden, 3 (did you mean --"),
    ],
)
def test_what_cannot_be_parsed_is_said_in_one_sentence(args, sentence, capsys):
    with pytest.raises(merlax.UserError) as refused:
        filled(merlax.Merl(), *args.split())
    assert str(refused.value).startswith(sentence)
    assert str(refused.value).endswith("; `merlax train --help` explains every option.")
    assert "\n" not in str(refused.value)
    assert capsys.readouterr().err == ""


def test_options_do_not_change_what_files_call_an_algorithm():
    Form(merlax.Merl())
    assert config.name_of(merlax.Merl) == "Merl"


def test_a_named_world_has_the_parameters_of_the_run(tmp_path):
    recorded = {"world": None, "env": {"horizon": 7}, "algorithm": "merl", "seed": 1}
    (tmp_path / "config.json").write_text(json.dumps(recorded))
    env = named_env("tests.probes.rendezvous:Rendezvous", tmp_path)
    assert env == Rendezvous(horizon=7)
    assert named_env(None, tmp_path) is None


def test_every_run_has_its_own_parameters_of_the_world_that_is_named(tmp_path):
    for horizon in (3, 5):
        recorded = {"world": None, "env": {"horizon": horizon}, "algorithm": "merl", "seed": 1}
        policies.save(tmp_path / str(horizon) / "champion", weights(lambda key: TeamPolicy(key, SIDE, (4,))))
        (tmp_path / str(horizon) / "config.json").write_text(json.dumps(recorded))
    opened = [open_run(tmp_path / str(horizon), "tests.probes.rendezvous:Rendezvous") for horizon in (3, 5)]
    assert [run.env for run in opened] == [Rendezvous(horizon=3), Rendezvous(horizon=5)]


def test_another_world_than_the_runs_is_refused(tmp_path):
    recorded = {"world": "two-rovers", "env": {"coupling": 3}, "algorithm": "merl", "seed": 1}
    (tmp_path / "config.json").write_text(json.dumps(recorded))
    with pytest.raises(merlax.UserError, match="class was 'TwoRovers' and is 'Rendezvous'"):
        named_env("tests.probes.rendezvous:Rendezvous", tmp_path)
    (tmp_path / "config.json").write_text(json.dumps(recorded | {"world": None}))
    with pytest.raises(merlax.UserError, match=r"no option 'env\.coupling'"):
        named_env("tests.probes.rendezvous:Rendezvous", tmp_path)
