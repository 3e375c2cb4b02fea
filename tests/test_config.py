"""Configurations: bounds at the fields, to plain data and back."""

import dataclasses
import json
import math
import sys

import pytest

import merlax
from merlax import config
from merlax.algorithms import presets
from merlax.config import Checked, Count, Layers, NotNegative, Positive, Range, Share
from merlax.envs import Rover, two_rovers
from merlax.types import UserError


@dataclasses.dataclass(frozen=True)
class Shrink(Checked):
    """An operator of a user's own."""

    factor: Share = 0.5

    def __call__(self, key, genome):
        return genome


@dataclasses.dataclass(frozen=True)
class Bounded(Checked):
    """One field of every kind."""

    count: Count = 1
    share: Share = 0.5
    positive: Positive = 1.0
    size: NotNegative = 0.0
    layers: Layers = (8,)
    word: str = ""
    flag: bool = False


def test_a_configuration_survives_the_way_to_plain_data_and_back():
    changed = dataclasses.replace(presets.FAST_ROVER, noise=0.25, actor_hidden=(7, 8, 9))
    assert config.merge(presets.PAPER_ROVER, json.loads(json.dumps(config.to_dict(changed)))) == changed


def test_a_world_with_fixed_positions_survives_too():
    env = Rover(num_agents=2, num_poi=2, coupling=1, rover_start=((9.0, 10.0), (14.0, 17.0)))
    assert config.merge(Rover(), config.to_dict(env)) == env
    assert config.merge(two_rovers(), config.to_dict(two_rovers(nearer=2.0))) == two_rovers(nearer=2.0)


def test_a_part_of_the_users_own_survives_where_it_is_given_again():
    merl = dataclasses.replace(presets.FAST_ROVER, mutation=Shrink(0.25))
    data = config.to_dict(merl)
    assert data["mutation"] == {"type": f"{__name__}:Shrink", "factor": 0.25}
    assert config.merge(dataclasses.replace(merl, mutation=Shrink()), data) == merl
    with pytest.raises(UserError, match="no file is allowed to import code"):
        config.merge(presets.FAST_ROVER, data)


def test_a_file_names_a_class_of_merlax_without_its_module():
    assert config.to_dict(presets.FAST_ROVER)["mutation"]["type"] == "GaussianMutation"
    data = {"mutation": {"type": "GaussianMutation", "strength": 0.05}}
    merl = dataclasses.replace(presets.FAST_ROVER, mutation=Shrink())
    assert config.merge(merl, data).mutation == merlax.GaussianMutation(strength=0.05)


def test_several_learners_start_from_the_last_one():
    merl = config.merge(presets.FAST_ROVER, {"learners": [{"discount": 0.3}, {"reward": "mixed"}]})
    (first,) = presets.FAST_ROVER.learners
    assert merl.learners == (dataclasses.replace(first, discount=0.3), dataclasses.replace(first, reward="mixed"))


def test_a_whole_number_serves_as_a_float():
    noise = config.merge(presets.FAST_ROVER, {"noise": 1}).noise
    assert noise == 1.0
    assert isinstance(noise, float)


@pytest.mark.usefixtures("unchecked")
def test_an_object_holds_what_a_file_would_give_it():
    made = merlax.Merl(noise=1, actor_hidden=[8, 8])  # type: ignore[arg-type]
    assert made == config.merge(merlax.Merl(), {"noise": 1, "actor_hidden": [8, 8]})
    assert made.actor_hidden == (8, 8)
    assert isinstance(made.noise, float)


@pytest.mark.parametrize(
    "changes",
    [
        {"learners": [{"batch": 1.5}]},
        {"learners": [{"batch": True}]},
        {"learners": [{"order": "random"}]},
        {"learners": []},
        {"learners": {"batch": 8}},
        {"actor_hidden": 100},
        {"actor_hidden": [100, None]},
        {"fitness": {"same_instances": 1}},
        {"fitness": 3},
        {"noise": float("inf")},
        {"noise": 10**400},
    ],
    ids=lambda changes: str(changes)[:40],
)
def test_a_value_of_the_wrong_type_is_refused(changes):
    with pytest.raises(UserError):
        config.merge(presets.FAST_ROVER, changes)


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("count", 0, "count is 0; make it a whole number of at least 1."),
        ("count", 1.5, "count is 1.5; make it a whole number."),
        ("count", True, "count is True; give a whole number."),
        ("share", 1.5, "share is 1.5; make it a number from 0 to 1."),
        ("positive", 0.0, "positive is 0.0; make it a number above 0."),
        ("size", -0.5, "size is -0.5; make it a number of at least 0."),
        ("size", float("nan"), "size is nan; give a finite number."),
        ("layers", (), "layers is (); give at least one."),
        ("layers", (8, 0), "layers is 0; make it a whole number of at least 1."),
        ("word", 3, "word is 3; give a value of type str."),
        ("flag", 1, "flag is 1; give a value of type bool."),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_a_field_refuses_what_it_does_not_declare(field, value, sentence):
    with pytest.raises(UserError) as error:
        Bounded(**{field: value})
    assert str(error.value) == sentence
    with pytest.raises(UserError) as error:
        config.merge(Bounded(), {field: value}, "settings")
    assert str(error.value) == f"settings.{sentence}"


def test_a_range_knows_its_ends():
    assert 0 in Range(0, 1)
    assert 1 in Range(0, 1)
    assert 0 not in Range(0, above=True)
    assert float("nan") not in Range(0, 1)


@pytest.mark.parametrize(
    "operator", [0.5, lambda key, genome: genome, merlax.GaussianMutation], ids=["number", "function", "class"]
)
@pytest.mark.usefixtures("unchecked")
def test_what_is_no_object_of_a_dataclass_is_no_operator(operator):
    with pytest.raises(
        UserError, match=r"mutation is .*; give an object of a frozen dataclass that serves as Mutation"
    ):
        merlax.Merl(mutation=operator)


def test_an_unknown_field_is_refused_with_its_place_and_a_suggestion():
    with pytest.raises(UserError, match=r"no option 'settings.fitness.episode' \(did you mean 'episodes'\?\)"):
        config.merge(presets.FAST_ROVER, {"fitness": {"episode": 3}}, "settings")


def test_fields_that_do_not_fit_each_other_are_refused_with_their_place():
    with pytest.raises(UserError, match=r"In 'settings\.learners\.0': batch is 200000 but a buffer keeps only 100000"):
        config.merge(presets.FAST_ROVER, {"learners": [{"batch": 200_000}]}, "settings")


def test_a_difference_is_told_with_its_place():
    assert config.difference({"a": {"b": 1}, "c": 2}, {"a": {"b": 3}, "c": 2}) == "a.b was 1 and is 3"
    assert config.difference({"a": 1}, {"a": 1, "b": 2}) == "b was None and is 2"
    assert config.difference({"a": [1, float("nan")]}, {"a": [1, 2]}) == "a was [1, nan] and is [1, 2]"
    assert config.difference({"a": float("nan")}, {"a": float("nan")}) == ""


def test_a_file_is_read_by_its_ending(tmp_path):
    (tmp_path / "a.toml").write_text("seed = 3\n[settings]\nactor_hidden = [8]\nfitness.episodes = 2")
    (tmp_path / "a.json").write_text('{"seed": 3, "settings": {"actor_hidden": [8], "fitness": {"episodes": 2}}}')
    assert config.read(tmp_path / "a.toml") == config.read(tmp_path / "a.json")


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("a.json", "{", "not valid JSON"),
        ("a.json", "[" * 100_000, "not valid JSON"),
        ("a.toml", "{", "not valid TOML"),
        ("a.json", "3", "must hold an object"),
    ],
    ids=["half", "deep", "toml", "number"],
)
def test_what_is_no_configuration_is_refused(name, text, sentence, tmp_path):
    (tmp_path / name).write_text(text)
    with pytest.raises(UserError, match=sentence):
        config.read(tmp_path / name)
    with pytest.raises(UserError, match="cannot be read"):
        config.read(tmp_path / "nowhere.json")


def test_a_name_with_a_module_is_found_in_the_current_folder(own_module):
    found = config.import_object(f"{own_module}:MyWorld")
    assert found is sys.modules[own_module].MyWorld
    with pytest.raises(UserError, match="did you mean 'MyWorld'"):
        config.import_object(f"{own_module}:MyWrld")


def test_whatever_a_module_throws_is_told_in_one_line(tmp_path, monkeypatch):
    (tmp_path / "throws_when_imported.py").write_text("raise RuntimeError('two\\nlines')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    with pytest.raises(UserError, match=r"cannot be imported \(two lines\)"):
        config.import_object("throws_when_imported:World")


def test_an_operator_of_merlax_serves_only_as_what_it_is():
    for field, other in (("mutation", "SinglePointCrossover"), ("crossover", "TournamentSelection")):
        with pytest.raises(UserError, match=f"'settings.{field}' is of type '{other}', which cannot serve there"):
            config.merge(presets.FAST_ROVER, {field: {"type": other}}, "settings")


@dataclasses.dataclass(frozen=True)
class Pair:
    """A crossover of a user's own, which says so by its arguments alone."""

    def __call__(self, key, one, other):
        return one


@pytest.mark.usefixtures("unchecked")
def test_an_operator_of_a_users_own_must_take_the_arguments_that_it_gets():
    assert merlax.Merl(crossover=Pair()).crossover == Pair()  # type: ignore[arg-type]
    for wrong in (Pair(), merlax.SinglePointCrossover()):
        with pytest.raises(UserError, match="serves as Mutation"):
            merlax.Merl(mutation=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("world", "field", "value"),
    [
        ("rover-3", "num_poi", 10**9),
        ("rover-3", "num_agents", 10**9),
        ("rover-3", "sectors", 10**9),
        ("rover-3", "side", 10**9),
        ("rover-3", "horizon", 10**12),
        ("predator-prey", "num_predators", 10**9),
        ("predator-prey", "num_landmarks", 10**9),
        ("keep-away", "num_landmarks", 10**9),
        ("physical-deception", "num_agents", 10**9),
    ],
)
def test_a_world_with_more_than_it_can_have_is_refused_at_once(world, field, value):
    with pytest.raises(
        UserError, match=rf"{field} is {value}; make it a whole number (from \d+ to|of at most) [\d,]+\."
    ):
        merlax.make(world, **{field: value})


@pytest.mark.parametrize(
    "changes",
    [
        {"learners": [{"delay": 10**12}]},
        {"learners": [{}] * 100},
        {"fitness": {"memory": 10**12}},
        {"actor_hidden": [4] * 100},
    ],
    ids=str,
)
def test_settings_that_no_program_could_hold_are_refused_at_once(changes):
    with pytest.raises(UserError, match="at most"):
        config.merge(presets.FAST_ROVER, changes)


def test_a_long_value_is_not_repeated_whole():
    with pytest.raises(UserError) as error:
        config.merge(presets.FAST_ROVER, {"noise": ["x" * 1000] * 1000})
    assert len(str(error.value)) < 1000
    with pytest.raises(UserError):
        config.merge(presets.FAST_ROVER, {"noise": 10**5000})


def test_json_is_what_every_parser_reads():
    broken = {"score": math.nan, "range": (-math.inf, 1.5), "rows": [{"high": math.inf, "name": "NaN"}]}
    text = config.to_json(broken)
    assert text == '{"score": null, "range": [null, 1.5], "rows": [{"high": null, "name": "NaN"}]}'


def test_a_world_with_an_infinite_field_is_written_in_words():
    @dataclasses.dataclass(frozen=True)
    class Endless:
        limits: tuple[float, float] = (-math.inf, math.inf)
        size: float = math.nan

    assert config.to_dict(Endless()) == {"limits": ["-inf", "inf"], "size": "nan"}
