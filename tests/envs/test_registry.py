"""Worlds by name: merlax's own, registered ones, and those in a module of the user's."""

import sys

import pytest

from merlax.envs import Rover, ids, make, register, registry
from merlax.types import UserError
from tests.probes.episodes import Countdown
from tests.support.worlds import rover

OWN = """
from tests.probes.episodes import Countdown

made = Countdown(horizon=9)
number = 3


class Worlds:
    Inner = Countdown


def short(last=1):
    return Countdown(last=last)
"""


def is_one_sentence(error):
    message = str(error.value)
    return message.endswith(".") and "\n" not in message and ". " not in message


@pytest.fixture
def names(monkeypatch):
    """What is registered here is forgotten afterwards."""
    monkeypatch.setattr(registry, "_WORLDS", dict(registry._WORLDS))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder to stand in, from which modules are imported; they are forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    (tmp_path / "own_worlds.py").write_text(OWN)
    return tmp_path


def test_all_of_merlaxs_worlds_have_names():
    particles = {"predator-prey", "predator-prey-hard", "physical-deception", "keep-away"}
    assert {"two-rovers", *(f"rover-{coupling}" for coupling in range(1, 8)), *particles} <= set(ids())


@pytest.mark.usefixtures("names")
def test_a_registered_world_is_listed_and_made_with_options():
    register("countdown", Countdown)
    assert "countdown" in ids()
    assert ids() == sorted(ids())
    assert make("countdown") == Countdown()
    assert make("countdown", last=2) == Countdown(last=2)


def test_options_change_only_what_they_name():
    env = rover("rover-2", speed="pinned")
    assert env == Rover(num_agents=4, num_poi=4, coupling=2, speed="pinned")


@pytest.mark.parametrize("name", ["rover-3", "a:b"])
def test_a_name_is_given_only_once_and_has_no_colon(name):
    with pytest.raises(UserError, match=f"'{name}' is taken already, or has a colon"):
        register(name, Rover)


@pytest.mark.parametrize("name", ["rovr-3", "rover3", "Rover-3"])
def test_a_name_that_is_nearly_right_gets_a_suggestion(name):
    with pytest.raises(UserError, match=f"There is no world '{name}'.*did you mean 'rover-3'"):
        make(name)


def test_a_name_that_no_world_has_is_refused():
    with pytest.raises(UserError, match="There is no world 'rover-33'") as error:
        make("rover-33")
    assert is_one_sentence(error)
    with pytest.raises(UserError, match="There is no world 'xyz'; `merlax envs` lists them all"):
        make("xyz")


def test_an_option_that_no_world_has_is_refused():
    with pytest.raises(UserError, match=r"'rover-3' does not take these options.*colour"):
        make("rover-3", colour="red")


@pytest.mark.usefixtures("folder")
def test_a_world_is_found_in_a_module_of_the_current_folder():
    assert make("own_worlds:Countdown", last=3) == Countdown(last=3)
    assert make("own_worlds:Worlds.Inner") == Countdown()
    assert make("own_worlds:short", last=5) == Countdown(last=5)


@pytest.mark.usefixtures("folder")
def test_a_world_already_made_takes_no_options():
    assert make("own_worlds:made") == Countdown(horizon=9)
    with pytest.raises(UserError, match="already made, so it takes no options"):
        make("own_worlds:made", last=3)


@pytest.mark.usefixtures("folder", "unchecked")
@pytest.mark.parametrize("name", ["own_worlds:number", "own_worlds:Worlds"])
def test_what_is_no_world_is_refused_in_one_sentence(name):
    with pytest.raises(UserError, match=f"'{name}' is no world") as error:
        make(name)
    assert is_one_sentence(error)


@pytest.mark.usefixtures("folder")
def test_an_option_that_an_imported_world_lacks_is_refused():
    with pytest.raises(UserError, match=r"'own_worlds:Countdown' does not take these options.*colour"):
        make("own_worlds:Countdown", colour="red")


@pytest.mark.parametrize(
    ("text", "reason"),
    [(None, "No module named 'broken'"), ("import nothing_like_this", "nothing_like_this"), ("1 +", "invalid syntax")],
)
def test_a_module_that_does_not_import_is_a_sentence_with_the_reason(folder, text, reason):
    if text is not None:
        (folder / "broken.py").write_text(text)
    with pytest.raises(UserError, match="'broken' of 'broken:World' cannot be imported") as error:
        make("broken:World")
    assert reason in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.usefixtures("folder")
def test_a_name_that_the_module_does_not_hold_gets_a_suggestion():
    with pytest.raises(UserError, match=r"'own_worlds' holds no 'Countdwn' \(did you mean 'Countdown'\?\)\."):
        make("own_worlds:Countdwn")
    with pytest.raises(UserError, match=r"'own_worlds' holds no 'Worlds\.Outer'"):
        make("own_worlds:Worlds.Outer")
