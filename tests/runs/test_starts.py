"""A run that begins with another's champion: it keeps it, goes on exactly, and is refused where it does not fit."""

import json
import logging
import shutil
from typing import Any

import jax.numpy as jnp
import pytest

import merlax
from merlax import cli
from merlax.core.networks import tuned
from merlax.runs import policies, reader, starts
from merlax.types import UserError
from tests.probes.choices import Choices
from tests.probes.rendezvous import Rendezvous
from tests.support import lives, short
from tests.support.trees import same

OWN = ["tests.probes.rendezvous:Rendezvous", *"--algorithm ea --population 6 --fitness.episodes 1 --quiet".split()]


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """A run whose champion others begin with."""
    return short.train(tmp_path_factory.mktemp("runs") / "source", 2)


@pytest.fixture
def begun(source, tmp_path):
    """A run of four generations that began with that champion."""
    return short.train(tmp_path / "begun", 4, start=source)


@pytest.mark.slow
def test_a_run_keeps_what_it_began_with_and_says_so(begun, source):
    said = reader.read_config(begun.path)["start"]
    assert said == {"run": str(source.path), "weights": starts.digest(source.champion)}
    assert same(policies.load(begun.path / "start"), source.champion)
    assert not same(begun.champion, short.train(begun.path.parent / "other", 4).champion)


@pytest.mark.slow
def test_it_goes_on_exactly_when_the_other_run_is_gone(begun, source, tmp_path):
    copy = shutil.copytree(source.path, tmp_path / "copy")
    ended = short.train(tmp_path / "cut", 4, start=copy, callbacks=[lambda row: row["generation"] == 1]).path
    shutil.rmtree(copy)
    short.resume(ended)
    assert not lives.differences(ended, begun.path)
    shutil.rmtree(ended / "checkpoints")
    (ended / "final.json").unlink()
    short.resume(ended, restart=True)  # from the policy in the run folder
    assert same(policies.load(ended / "champion"), begun.champion)


@pytest.mark.slow
def test_what_it_began_with_must_be_what_it_was(begun, tmp_path):
    cut = short.train(tmp_path / "cut", 4, start=begun, callbacks=[lambda row: row["generation"] == 1]).path
    policies.save(cut / "start", short.train(tmp_path / "other", 2, seed=1).champion)
    with pytest.raises(UserError, match=r"cut/start' holds another policy than the run began with"):
        short.resume(cut)
    shutil.rmtree(cut / "start")
    with pytest.raises(UserError, match=r"cut/start' holds no champion"):
        short.resume(cut)


@pytest.mark.slow
def test_more_agents_begin_with_copies(source, tmp_path):
    run = merlax.train(
        Rendezvous(num_agents=5), "ea", frames=90, start=source.path, settings=short.SETTINGS,
        out=tmp_path / "run", quiet=True,
    )  # fmt: skip
    assert policies.load(run.path / "start").num_agents == 5


def test_a_champion_that_does_not_fit_is_refused_and_nothing_is_written(source, tmp_path):
    asked: dict[str, Any] = {"frames": 1000, "out": tmp_path / "run", "quiet": True, "start": source.path}
    with pytest.raises(UserError, match=r"champion' does not fit this world: its agents see 2 numbers and act by 1"):
        merlax.train(Choices(), "ea", settings=short.SETTINGS, **asked)
    with pytest.raises(UserError, match=r"has hidden layers of 8, this run's have 16; add --actor-hidden 8\.$"):
        merlax.train(short.WORLD, "ea", settings=short.SETTINGS | {"actor_hidden": [16]}, **asked)
    with pytest.raises(UserError, match="There is no run folder 'nowhere' whose champion to begin with"):
        short.train(tmp_path / "run", start="nowhere")
    with pytest.raises(UserError, match="is not a run folder"):
        short.train(tmp_path / "run", start=tmp_path)
    assert not (tmp_path / "run").exists()


def test_a_sentence_says_that_gains_are_left_out(source, tmp_path, caplog):
    copy = shutil.copytree(source.path, tmp_path / "copy")
    policies.save(copy / "champion", tuned(source.champion, jnp.ones((2, 2))))
    with caplog.at_level(logging.WARNING, "merlax"):
        starts.choose(copy, short.WORLD.sides[0], merlax.Ea(actor_hidden=(8,)))
        assert not caplog.messages
        starts.choose(copy, short.WORLD.sides[0], merlax.Merl(actor_hidden=(8,)))
    assert "heeds its inputs by gains, which Merl does not tune: the run begins without them" in caplog.messages[0]


@pytest.mark.slow
def test_the_command_line_and_a_config_file_begin_with_it_too(source, begun, tmp_path, capsys):
    frames = ["--frames", str(4 * short.GENERATION), "--actor-hidden", "8"]
    assert cli.main(["train", *OWN, *frames, "--from", str(source.path), "--out", str(tmp_path / "typed")]) == 0
    assert same(policies.load(tmp_path / "typed" / "champion"), begun.champion)
    data = json.loads((begun.path / "config.json").read_text())
    (tmp_path / "file.json").write_text(json.dumps({"start": data["start"]}))
    words = ["train", *OWN, *frames, "--config", str(tmp_path / "file.json"), "--out", str(tmp_path / "read")]
    assert cli.main(words) == 0
    assert same(policies.load(tmp_path / "read" / "champion"), begun.champion)
    (tmp_path / "file.json").write_text(json.dumps({"start": data["start"] | {"weights": "0"}}))
    assert cli.main([*words, "--force"]) == 2
    assert "is not the one that the config file names" in capsys.readouterr().err
