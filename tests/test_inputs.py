"""Whatever configuration is accepted trains; whatever is not is refused in one sentence before anything is written."""

import contextlib
import dataclasses
import io
import json
import math
import tempfile
from pathlib import Path

import hypothesis
import jax
from hypothesis import strategies as st
from tests.rendezvous import Rendezvous

import merlax
from merlax import algorithms, cli, config
from merlax.algorithms import presets

WORLD = Rendezvous(horizon=2)


def examples(number):
    """The same ones every time, however long they take."""
    every = list(hypothesis.HealthCheck)
    return hypothesis.settings(max_examples=number, deadline=None, derandomize=True, suppress_health_check=every)


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
    """All fields, nested ones included, as (path, value)."""
    for field in dataclasses.fields(default):
        value = getattr(default, field.name)
        if dataclasses.is_dataclass(value):
            yield from fields(value, *path, field.name)
        else:
            yield (*path, field.name), value


@st.composite
def changes(draw, default):
    """One, two or three changes to a configuration: with more, hardly any would be accepted."""
    found: dict = {}
    for path, value in draw(st.lists(st.sampled_from(list(fields(default))), min_size=1, max_size=3)):
        at = found
        for name in path[:-1]:
            at = at.setdefault(name, {})
        at[path[-1]] = draw(small(value))
    return found


SMALL = {
    "evolution": {"population": 6, "fitness_episodes": 1},
    "td3": {"batch": 4, "buffer": 100, "burn_in": 1, "updates_per_frame": 0.1},
    "explore_episodes": 1,
    "population": 4,
    "fitness_episodes": 1,
    "actor_hidden": [2],
    "critic_hidden": [2],
}


def tiny(algorithm):
    """A preset that trains in no time."""
    default = presets.preset("fast", None, algorithm)
    names = {field.name for field in dataclasses.fields(default)}
    return config.merge(default, {name: value for name, value in SMALL.items() if name in names})


@examples(5)
@hypothesis.given(st.data())
def test_an_accepted_configuration_trains_two_generations(data):
    algorithm = data.draw(st.sampled_from(algorithms.names()))
    default = tiny(algorithm)
    try:
        settings = config.merge(default, data.draw(changes(default)))
    except merlax.UserError:
        hypothesis.reject()  # before anything was made; only those that train are counted
    made = algorithms.make(algorithm, WORLD, settings)
    key = jax.random.key(0)
    state = made.init(key)
    for generation in (1, 2):
        state, metrics = made.step(jax.random.fold_in(key, generation), state)
        for name, value in metrics.items():
            assert jax.numpy.isfinite(value).all(), (name, settings)
    assert all(jax.numpy.isfinite(leaf).all() for leaf in jax.tree.leaves(made.champion(state)))


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@examples(150)
@hypothesis.given(st.sampled_from(algorithms.names()), st.data())
def test_a_config_file_of_anything_never_ends_in_a_traceback(algorithm, data):
    default = presets.preset("fast", "two-rovers", algorithm)
    text = data.draw(JUNK.map(json.dumps) | changes(default).map(json.dumps) | st.text(max_size=20))
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "config.json").write_text(text)
        args = ["train", "two-rovers", "--algorithm", algorithm, "--frames", "1", "--out", f"{folder}/run"]
        code, said = run([*args, "--config", f"{folder}/config.json"])
        assert code == 2, said
        assert not (Path(folder) / "run").exists()


WORDS = st.sampled_from(
    "train resume evaluate render envs plot reproduce selection-rate two-rovers rover-3 predator-prey nowhere --out "
    "--seed --frames 1 -1 nan 1e999 --episodes --json --help -h --list --preset fast paper --algorithm merl es "
    "--env.horizon 0 --td3.batch --opponent scripted --config /dev/null --force --quiet --trials --against "
    "--population --checkpoint-every --noise=x = -- --evolution.population=0 /etc/passwd .".split()
)


@examples(200)
@hypothesis.given(st.lists(WORDS | st.text(max_size=6), max_size=6))
def test_a_command_line_of_anything_never_ends_in_a_traceback(args):
    hypothesis.assume(not {"bench", "reproduce", "selection-rate"} & set(args) or "--help" in args)
    hypothesis.assume("train" not in args or "--frames" in args)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        code, said = run(args if "train" not in args else [*args, "--frames", "1"])
        assert code in (0, 2), said
        assert not list(Path(folder).glob("runs"))


def run(args: list[str]) -> tuple[int, str]:
    """Exit code and output; a traceback, or a fault that merlax admits, fails."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            code = cli.main(args)
        except SystemExit as ended:
            code = ended.code
    assert "fault of merlax" not in said.getvalue(), (args, said.getvalue())
    return code, said.getvalue()
