"""What becomes of a finished team."""

import json

import pytest

import merlax
from merlax import cli
from tests.probes.tag import Tag
from tests.support.settings import TINY

pytestmark = pytest.mark.slow  # the runs are trained

TAG = "tests.probes.tag:Tag"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    out = tmp_path_factory.mktemp("runs") / "tiny"
    return merlax.train("two-rovers", settings=TINY, frames=(6 * 2 + 2) * 30, out=out, quiet=True).path


@pytest.fixture(scope="module")
def contest(tmp_path_factory):
    out = tmp_path_factory.mktemp("runs") / "contest"
    frames = (6 * 2 + 2) * 3
    return merlax.train(Tag(horizon=3), settings=TINY, frames=frames, out=out, opponent="scripted", quiet=True).path


def test_evaluate_prints_json(run, capsys):
    assert cli.main(["evaluate", str(run), "--episodes", "3", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["episodes"] == 3
    assert result["mean"] in (0.0, 0.5, 1.0)  # two-rovers is deterministic


def test_evaluate_prints_the_same_as_a_sentence(run, capsys):
    assert cli.main(["evaluate", str(run), "--episodes", "3"]) == 0
    assert capsys.readouterr().out == f"{merlax.evaluate(run, 3)} (mean of 3 episodes, 95% interval)\n"


def test_render_writes_a_picture(run, tmp_path):
    assert cli.main(["render", str(run), "--out", str(tmp_path / "deep" / "team.png")]) == 0
    assert (tmp_path / "deep" / "team.png").exists()


def test_a_world_named_again_has_the_parameters_of_the_run(contest, capsys):
    assert cli.main(["evaluate", str(contest), "--episodes", "2", "--json", "--env", TAG]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["mean"] == merlax.evaluate(contest, 2, env=Tag(horizon=3)).mean
    assert shown["mean"] != merlax.evaluate(contest, 2, env=Tag(horizon=2)).mean


def test_crossplay_prints_a_table_and_writes_a_heat_map(contest, tmp_path, capsys):
    out = tmp_path / "map.png"
    assert cli.main(["crossplay", str(contest), "--episodes", "2", "--env", TAG, "--out", str(out)]) == 0
    assert "team \\ opponent" in capsys.readouterr().out
    assert out.exists()
    assert out.with_suffix(".csv").exists()


def test_crossplay_prints_json(contest, capsys):
    assert cli.main(["crossplay", str(contest), "--episodes", "2", "--env", TAG, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert "scripted" in shown["opponents"]
    assert shown["scores"][0][0]["episodes"] == 2


def test_what_is_no_finished_team_is_refused(refuses):
    refuses(["evaluate", "/nowhere"], "not a run folder")
    refuses(["evaluate", "/nowhere", "--env", "rover-3"], "not a run folder")
    refuses(["render", "/nowhere", "--out", "team.png"], "not a run folder")
    refuses(["crossplay"], "at least one run")
