"""Whatever is typed: a command runs, or one sentence says what to change, before anything is written."""

import dataclasses
import importlib.metadata
import itertools
import math
import subprocess
import sys
from typing import Any

import hypothesis
import jax
import pytest
from hypothesis import HealthCheck
from hypothesis import strategies as st

import merlax
from merlax import algorithms, cli, config
from merlax.algorithms import Game, presets
from merlax.cli.main import COMMANDS, PIPE_CLOSED
from tests.probes.rendezvous import Rendezvous

WORLD = Rendezvous(horizon=2)


def test_help_lists_every_command_with_its_first_line(capsys):
    assert cli.main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert [line.split()[0] for line in shown.splitlines() if line.startswith("  ")] == list(COMMANDS)
    assert "List all worlds with their sizes." in shown


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command, capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main([command, "--help"])
    assert ended.value.code == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert f"usage: merlax {command} " in shown
    assert " ".join((COMMANDS[command].__doc__ or "?").split()) in shown


def test_without_a_command_the_help_comes_with_code_2(capsys):
    assert cli.main([]) == 2
    assert "usage: merlax COMMAND" in capsys.readouterr().out


@pytest.mark.parametrize("option", ["--version", "-V"])
def test_it_says_which_version_it_is(option, capsys):
    assert cli.main([option]) == 0
    assert capsys.readouterr().out == f"merlax {importlib.metadata.version('merlax')}\n"


def test_an_unknown_command_is_refused_with_a_suggestion(refuses):
    refuses(["trian", "rover-3"], "did you mean 'train'")


def test_debug_shows_the_traceback_of_a_mistake():
    with pytest.raises(merlax.UserError, match="rovr-3"):
        cli.main(["train", "rovr-3", "--debug"])


def test_a_fault_of_merlax_is_said_to_be_one_in_one_line(monkeypatch, capsys):
    def fails(args):
        raise RuntimeError("two\nlines")

    monkeypatch.setitem(COMMANDS, "envs", fails)
    assert cli.main(["envs"]) == 2
    assert capsys.readouterr().err == "merlax: two lines This looks like a fault of merlax: --debug shows where.\n"


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (OSError(36, "File name too long", "a/b"), "The system refuses what is to be done with 'a/b' (File name too"),
        (OSError(24, "Too many open files"), "The system refuses what is to be done (Too many open files)."),
        (MemoryError(), "This takes more memory than there is; choose smaller sizes."),
    ],
)
def test_what_the_system_refuses_is_no_fault_of_merlax(error, sentence, monkeypatch, refuses):
    def fails(args):
        raise error

    monkeypatch.setitem(COMMANDS, "envs", fails)
    refuses(["envs"], sentence)


def test_a_name_cannot_steer_the_terminal_nor_fill_it(refuses):
    refuses(["tr\x1b[2J\n\udcff"], r"There is no command 'tr\x1b[2J \udcff'")
    refuses(["train", "nowhere" * 1000], f"'{'nowhere' * 14}n … ")


@pytest.mark.slow
def test_a_reader_that_has_gone_ends_a_command_quietly():
    command = [sys.executable, "-u", "-m", "merlax.cli", "envs", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait(60) == PIPE_CLOSED


def examples(number):
    """The same ones every time, however long they take."""
    checks = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
    return hypothesis.settings(max_examples=number, deadline=None, derandomize=True, suppress_health_check=checks)


def small(default):
    """Values for a field, of its type: mostly sensible, some not."""
    if isinstance(default, bool):
        return st.booleans()
    if isinstance(default, int):
        return st.sampled_from([0, 1, 2, 3, 4, 6, 8, -1])
    if isinstance(default, float):
        return st.sampled_from([0.0, 0.01, 0.5, 0.9, 1.0, 10.0, -0.5, math.nan, math.inf, 1e-8])
    if isinstance(default, tuple):
        return st.lists(st.sampled_from([1, 2, 4, 0]), max_size=2)
    return st.sampled_from(["sequential", "joint", "own", "agent", "mixed", "global", "loud"])


def fields(default, *path):
    """All fields, those of its parts included, as (path, value); a number in a path is a place in a tuple."""
    for field in dataclasses.fields(default):
        value = getattr(default, field.name)
        if dataclasses.is_dataclass(value):
            yield from fields(value, *path, field.name)
        elif isinstance(value, tuple) and dataclasses.is_dataclass(value[0]):
            yield from fields(value[0], *path, field.name, 0)
        else:
            yield (*path, field.name), value


@st.composite
def changes(draw, default):
    """One, two or three changes to a configuration: with more, hardly any would be accepted."""
    found: dict = {}
    for path, value in draw(st.lists(st.sampled_from(list(fields(default))), min_size=1, max_size=3)):
        at: Any = found
        for name, after in itertools.pairwise(path):
            at = at[0] if name == 0 else at.setdefault(name, [{}] if after == 0 else {})
        at[path[-1]] = draw(small(value))
    return found


LEARNER = {"batch": 4, "buffer": 100, "burn_in": 1, "updates_per_frame": 0.1, "critic_hidden": [2]}
SMALL = {
    "population": 6,
    "fitness": {"episodes": 1},
    "fitness_episodes": 1,
    "learners": [LEARNER],
    "learner": LEARNER,
    "explore_episodes": 1,
    "actor_hidden": [2],
}


def tiny(algorithm):
    """A preset that trains in no time."""
    default = presets.preset("fast", None, algorithm)
    names = {field.name for field in dataclasses.fields(default)}
    return config.merge(default, {name: value for name, value in SMALL.items() if name in names})


@pytest.mark.slow
@examples(5)
@hypothesis.given(st.data())
def test_an_accepted_configuration_trains_two_generations(data):
    default = tiny(data.draw(st.sampled_from(algorithms.names())))
    try:
        settings = config.merge(default, data.draw(changes(default)))
    except merlax.UserError:
        hypothesis.reject()  # before anything was made; only those that train are counted
    game = Game(WORLD, settings)
    key = jax.random.key(0)
    state = game.init(key)
    for generation in (1, 2):
        state, played = game.step(jax.random.fold_in(key, generation), state)
        for leaf in jax.tree.leaves(played.team.info):
            assert jax.numpy.isfinite(leaf).all(), settings
        assert played.team.finite.all(), settings
    assert all(jax.numpy.isfinite(leaf).all() for leaf in jax.tree.leaves(game.champion(state)))
