"""A run that is extended ends as if it had been made for so many frames from the beginning."""

import json
import shutil
from pathlib import Path

import pytest

from merlax import cli
from merlax.runs import reader
from merlax.types import UserError
from tests.support import lives, short
from tests.support.killing import rows
from tests.support.short import GENERATION


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run of six generations."""
    return short.train(tmp_path_factory.mktemp("runs") / "whole", 6).path


@pytest.fixture(scope="module")
def half(tmp_path_factory):
    """The first three of them."""
    return short.train(tmp_path_factory.mktemp("runs") / "half", 3).path


@pytest.fixture
def copy(half, tmp_path):
    return Path(shutil.copytree(half, tmp_path / "copy"))


def without_versions(run: Path) -> dict[str, object]:
    return {name: value for name, value in reader.read_config(run).items() if name != "versions"}


@pytest.mark.slow
def test_a_finished_run_is_extended_exactly(copy, whole):
    short.resume(copy, frames=6 * GENERATION)
    assert not lives.differences(copy, whole)
    assert without_versions(copy) == without_versions(whole)
    with pytest.raises(UserError, match=r"nothing to resume; --frames \(in Python frames=\) with more extends it"):
        short.resume(copy, frames=6 * GENERATION)


def test_an_interrupted_run_is_extended_exactly(tmp_path, whole):
    run = short.train(tmp_path, 4, callbacks=[lambda row: row["generation"] == 2]).path
    short.resume(run, frames=6 * GENERATION)
    assert not lives.differences(run, whole)


def test_an_extension_that_was_interrupted_goes_on_with_the_same_command_or_without_frames(copy, whole):
    for last, frames in ((4, 6 * GENERATION), (5, 6 * GENERATION), (6, None)):
        short.resume(copy, frames=frames, callbacks=[lambda row, last=last: row["generation"] == last < 6])
        assert rows(copy) == rows(whole)[:last]
        assert reader.is_finished(copy) is (last == 6)
    assert not lives.differences(copy, whole)


def test_a_run_that_was_killed_before_its_new_budget_was_written_is_finished_again(copy, half):
    (copy / "final.json").unlink()
    short.resume(copy)
    assert not lives.differences(copy, half)


@pytest.mark.slow
def test_a_run_with_a_learner_and_its_buffer_is_extended_exactly(tmp_path):
    whole = short.learn(tmp_path / "whole").path
    frames = reader.read_config(whole)["frames"]
    part = short.learn(tmp_path / "part", frames=frames * 2 // 3).path
    assert len(rows(short.resume(part, frames=frames).path)) == 3
    assert not lives.differences(part, whole)


@pytest.mark.parametrize(
    ("frames", "sentence"),
    [
        (GENERATION, r"frames is 18 but the run in '.*copy' was made for 54; give more"),
        (3 * GENERATION + 1, r"frames is 55, which is too few for another generation .*; give 72 or more\.$"),
        (10**16, r"frames is 10000000000000000; make it a whole number of at most"),
        (0, r"frames is 0 but"),
    ],
)
def test_a_budget_that_extends_nothing_is_refused_and_nothing_is_touched(copy, half, frames, sentence):
    with pytest.raises(UserError, match=sentence):
        short.resume(copy, frames=frames)
    assert (copy / "config.json").read_bytes() == (half / "config.json").read_bytes()
    assert not lives.differences(copy, half)


def test_a_run_does_not_start_anew_with_another_budget(copy):
    with pytest.raises(UserError, match="leave out --frames, or train anew"):
        short.resume(copy, frames=6 * GENERATION, restart=True)


def test_a_run_that_kept_no_checkpoint_says_that_it_cannot_be_extended(tmp_path, capsys):
    run = short.train(tmp_path / "run", 2, keep_checkpoint=False).path
    assert not (run / "checkpoints").exists()
    assert cli.main(["resume", str(run), "--frames", "1000", "--env", "tests.probes.rendezvous:Rendezvous"]) == 2
    said = capsys.readouterr().err
    assert "kept no checkpoint when it was finished, so it cannot be extended; train one with 1,000 frames" in said
    assert json.loads((run / "final.json").read_text())["finished"]
