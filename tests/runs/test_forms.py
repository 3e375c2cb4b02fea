"""JSON by forms: each wrong field is named in half a sentence, wherever it stands."""

import json

import pytest

from merlax.files import Unreadable
from merlax.runs import forms

CONFIG = {
    "format": 2, "world": "rover-3", "env": {"num_poi": 4}, "shape": {}, "algorithm": "merl", "preset": "fast",
    "settings": {}, "opponent": {"kind": "ddpg", "settings": {}}, "start": {"run": "runs/first", "weights": "0a"},
    "frames": 100, "seed": 1, "versions": {"jax": "1.0"}, "devices": 2, "processes": 1,
}  # fmt: skip
FINAL = {"mean": 0.5, "interval95": None, "episodes": 200, "finished": True, "peak_memory_mb": 300}
SIZES = {
    "format": 1, "num_agents": 3, "obs_size": 5, "act_size": 2, "hidden": [4, 6], "tuned": False,
    "obs_sizes": [5, 5, 5], "act_sizes": [2, 2, 2], "choose": [True, True, True], "masked": False,
}  # fmt: skip
PLACE = {"generation": 3, "frames": 30, "seconds": 0.5, "rounds": 0}
MANIFEST = {
    "format": 3, "run": {"world": "x"}, "position": PLACE, "arrays": {"a": [[4, 5], "float32", 7]}, "checksum": "abc",
}  # fmt: skip
FULL = [(forms.Config, CONFIG), (forms.Final, FINAL), (forms.Sizes, SIZES), (forms.Manifest, MANIFEST)]


@pytest.mark.parametrize(("form", "data"), FULL)
def test_what_merlax_writes_fits_and_has_every_field(form, data):
    assert json.loads(json.dumps(forms.fill(form, data, forms.names(form)))) == data
    assert set(forms.names(form)) == set(data)


@pytest.mark.parametrize(("form", "data"), FULL)
def test_a_field_that_is_needed_is_missed(form, data):
    for name in data:
        with pytest.raises(Unreadable, match=f"it lacks '{name}'"):
            forms.fill(form, {key: value for key, value in data.items() if key != name}, forms.names(form))


WRONG = [
    (forms.Config, {"world": ["rover-3"]}, "world is ['rover-3']; give a value of type str"),
    (forms.Config, {"world": ""}, "world is ''; give at least one"),
    (forms.Config, {"world": "\x1b[31m"}, r"world is '\x1b[31m'; use only characters that can be printed"),
    (forms.Config, {"env": None}, "env is None; give an object with named fields"),
    (forms.Config, {"algorithm": 3}, "algorithm is 3; give a value of type str"),
    (forms.Config, {"settings": []}, "settings is []; give an object with named fields"),
    (forms.Config, {"opponent": 3}, "opponent is 3; give an object with named fields"),
    (forms.Config, {"opponent": {"kind": []}}, "opponent.kind is []; give a value of type str"),
    (forms.Config, {"opponent": {"settings": 1}}, "opponent.settings is 1; give an object with named fields"),
    (forms.Config, {"start": "runs/first"}, "start is 'runs/first'; give an object with named fields"),
    (forms.Config, {"start": {"run": 3}}, "start.run is 3; give a value of type str"),
    (forms.Config, {"start": {"run": "x" * 5000}}, "with 5,000 items; give at most 4,096"),
    (forms.Config, {"frames": "x"}, "frames is 'x'; give a whole number"),
    (forms.Config, {"frames": 10**30}, "frames is 1" + "0" * 30 + "; make it a whole number of at most"),
    (forms.Config, {"seed": None}, "seed is None; give a whole number"),
    (forms.Config, {"seed": True}, "seed is True; give a whole number"),
    (forms.Config, {"seed": 1.5}, "seed is 1.5; make it a whole number"),
    (forms.Config, {"seed": float("nan")}, "seed is nan; give a finite number"),
    (forms.Config, {"seed": -1}, "seed is -1; make it a whole number of at least 0"),
    (forms.Config, {"seed": 2**32}, "seed is 4294967296; make it a whole number of at most 4,294,967,295"),
    (forms.Config, {"versions": [1]}, "versions is [1]; give an object with named fields"),
    (forms.Config, {"versions": {"jax": 1}}, "versions.jax is 1; give a value of type str"),
    (forms.Config, {"devices": 0}, "devices is 0; make it a whole number of at least 1"),
    (forms.Config, {"format": "2"}, "format is '2'; give a whole number"),
    (forms.Final, {"mean": "high"}, "mean is 'high'; give a number"),
    (forms.Final, {"mean": float("inf")}, "mean is inf; give a finite number"),
    (forms.Final, {"finished": 1}, "finished is 1; give a value of type bool"),
    (forms.Sizes, {"hidden": 3}, "hidden is 3; give a list"),
    (forms.Sizes, {"hidden": []}, "hidden is (); give at least one"),
    (forms.Sizes, {"hidden": [8] * 33}, "with 33 items; give at most 32"),
    (forms.Sizes, {"hidden": [10**10]}, "hidden is 10000000000; make it a whole number of at most 2,147,483,647"),
    (forms.Sizes, {"num_agents": {}}, "num_agents is {}; give a whole number"),
    (forms.Manifest, {"position": {"generation": -1}}, "position.generation is -1; make it a whole number"),
    (forms.Manifest, {"arrays": {"a": [[4], "float32"]}}, "arrays.a is [[4], 'float32']; give 3 values"),
    (forms.Manifest, {"arrays": {"a": [[-4], "float32", 7]}}, "arrays.a is -4; make it a whole number of at least 0"),
    (forms.Manifest, {"run": "x"}, "run is 'x'; give an object with named fields"),
]


@pytest.mark.parametrize(("form", "data", "reason"), WRONG, ids=[str(data)[:40] for _, data, _ in WRONG])
def test_a_wrong_field_is_named(form, data, reason):
    with pytest.raises(Unreadable) as error:
        forms.fill(form, data)
    assert reason in str(error.value)


@pytest.mark.parametrize("data", [[], 3, None, "text"])
def test_what_is_no_object_is_refused(data):
    with pytest.raises(Unreadable, match="give an object with named fields"):
        forms.fill(forms.Config, data)


def test_a_long_value_is_not_repeated_whole():
    with pytest.raises(Unreadable) as error:
        forms.fill(forms.Config, {"seed": "x" * 10_000})
    assert len(str(error.value)) < 200


def test_names_that_a_form_does_not_have_are_left_alone(tmp_path):
    (tmp_path / "final.json").write_text('{"finished": true, "by": "a later version"}')
    assert forms.read(tmp_path / "final.json", forms.Final) == {"finished": True, "by": "a later version"}
