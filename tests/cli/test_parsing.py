"""Options from dataclasses, and back."""

import dataclasses
import json

import pytest

import merlax
from merlax import config
from merlax.algorithms import presets
from merlax.cli.parsing import Form, named_env, parse
from merlax.core.td3 import Td3
from tests.probes.rendezvous import Rendezvous


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


def test_options_do_not_change_what_files_call_an_algorithm():
    Form(merlax.Merl())
    assert config.name_of(merlax.Merl) == "Merl"


def test_a_named_world_has_the_parameters_of_the_run(tmp_path):
    recorded = {"world": "two-rovers", "env": {"horizon": 7}, "algorithm": "merl"}
    (tmp_path / "config.json").write_text(json.dumps(recorded))
    env = named_env("tests.probes.rendezvous:Rendezvous", tmp_path)
    assert env == Rendezvous(horizon=7)
    assert named_env(None, tmp_path) is None


def test_another_world_than_the_runs_is_refused(tmp_path):
    recorded = {"world": "two-rovers", "env": {"coupling": 3}, "algorithm": "merl"}
    (tmp_path / "config.json").write_text(json.dumps(recorded))
    with pytest.raises(merlax.UserError, match=r"no option 'env\.coupling'"):
        named_env("tests.probes.rendezvous:Rendezvous", tmp_path)
