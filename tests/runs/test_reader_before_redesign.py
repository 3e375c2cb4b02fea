"""Run folders that were made before the redesign of November 2026: their teams still play; they are not continued."""

import shutil
from pathlib import Path

import pytest
from PIL import Image

import merlax
from merlax import cli
from merlax.runs import reader
from merlax.runs.checkpoints import load as load_checkpoint

OLD = Path(__file__).parents[1] / "data" / "before-redesign"


@pytest.mark.slow
def test_a_champion_scores_what_it_scored_then():
    assert merlax.evaluate(OLD / "rover", episodes=50, seed=0).mean == pytest.approx(0.333, abs=5e-4)


@pytest.mark.slow
def test_a_champion_meets_its_old_opponent_and_scores_what_it_scored_then():
    assert merlax.evaluate(OLD / "prey", episodes=50, seed=0).mean == pytest.approx(0.520, abs=5e-4)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rover", "prey"])
def test_a_champion_is_drawn(name, tmp_path):
    for picture in (merlax.render(OLD / name, tmp_path / "team.png"), merlax.plot(OLD / name, tmp_path / "curve.png")):
        with Image.open(picture) as image:
            assert image.size[0] > 300


def test_its_progress_is_read_by_the_same_names():
    progress = merlax.load(OLD / "rover").progress
    assert progress["champion_score"].tolist() == [0.4, 0.4]
    assert progress["migrant_fate"].tolist() == ["discarded", "discarded"]


def test_an_interrupted_run_is_refused_in_one_sentence(tmp_path, capsys):
    run = shutil.copytree(OLD / "stopped", tmp_path / "run")
    before = sorted(run.rglob("*"))
    assert cli.main(["resume", str(run), "--quiet"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "was made by another version of merlax" in said
    assert "can still be evaluated and drawn" in said
    assert sorted(run.rglob("*")) == before


def test_a_run_that_had_ended_has_nothing_to_resume():
    with pytest.raises(merlax.UserError, match="nothing to resume"):
        merlax.resume(OLD / "rover", quiet=True)
    assert reader.is_finished(OLD / "rover")


def test_an_old_checkpoint_is_refused_in_one_sentence():
    with pytest.raises(merlax.UserError, match=r"'.*51' was made by an older version of merlax; .* that one\.$"):
        load_checkpoint(OLD / "stopped" / "checkpoints" / "51", {}, {})
