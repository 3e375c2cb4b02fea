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


def strict(text):
    """JSON as other parsers read it, which know no NaN."""
    return json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))


def test_evaluate_prints_json(run, capsys):
    assert cli.main(["evaluate", str(run), "--episodes", "3", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["episodes"] == 3
    assert result["mean"] in (0.0, 0.5, 1.0)  # two-rovers is deterministic


def test_evaluate_prints_the_same_as_a_sentence(run, capsys):
    assert cli.main(["evaluate", str(run), "--episodes", "3"]) == 0
    assert capsys.readouterr().out == f"{merlax.evaluate(run, 3)} (mean of 3 episodes, 95% interval)\n"


def test_a_single_episode_has_no_interval_in_words_and_in_json(run, capsys):
    assert cli.main(["evaluate", str(run), "--episodes", "1"]) == 0
    assert capsys.readouterr().out == f"{merlax.evaluate(run, 1).mean:.3f} (1 episode, no interval)\n"
    assert cli.main(["evaluate", str(run), "--episodes", "1", "--json"]) == 0
    assert strict(capsys.readouterr().out)["interval95"] is None


def test_a_crossplay_of_single_episodes_has_no_intervals(contest, tmp_path, capsys):
    out = tmp_path / "map.png"
    command = ["crossplay", str(contest), "--episodes", "1", "--env", TAG]
    assert cli.main([*command, "--json", "--out", str(out)]) == 0
    assert strict(capsys.readouterr().out.splitlines()[0])["scores"][0][0]["interval95"] is None
    assert out.with_suffix(".csv").read_text().splitlines()[1].split(",")[-2:] == ["", "1"]
    assert cli.main(command) == 0
    assert "±" not in capsys.readouterr().out


def test_more_episodes_than_anybody_waits_for_are_refused(run, capsys):
    assert cli.main(["evaluate", str(run), "--episodes", "1000000000000"]) == 2
    assert "episodes is 1000000000000; choose a whole number from 1 to 10,000,000" in capsys.readouterr().err


def test_render_writes_a_picture(run, tmp_path):
    assert cli.main(["render", str(run), "--out", str(tmp_path / "deep" / "team.png")]) == 0
    assert (tmp_path / "deep" / "team.png").exists()


def test_a_world_named_again_has_the_parameters_of_the_run(contest, capsys):
    assert cli.main(["evaluate", str(contest), "--episodes", "2", "--json", "--env", TAG]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["mean"] == merlax.evaluate(contest, 2, env=Tag(horizon=3)).mean
    with pytest.raises(merlax.UserError, match="horizon was 3 and is 2"):
        merlax.evaluate(contest, 2, env=Tag(horizon=2))


def test_a_world_of_ones_own_is_asked_for_where_it_can_be_given(contest, refuses):
    sentence = (
        "made on Tag, which is not part of merlax; give that world again, in Python as `env`, on the command line"
    )
    refuses(["evaluate", str(contest)], f"{sentence} as --env module:World.")
    refuses(["crossplay", str(contest)], sentence)
    refuses(["render", str(contest), "--out", "team.png"], sentence)
    refuses(
        ["evaluate", str(contest), "--env", "tests.probes.rendezvous:Rendezvous"], "class was 'Tag' and is 'Rendezv"
    )


def test_in_python_it_can_be_given_to_all_of_them(contest, tmp_path):
    env, other = Tag(horizon=3), Tag(horizon=2)
    run = merlax.load(contest, env)
    for use in (
        lambda env: merlax.evaluate(contest, 2, env=env),
        lambda env: merlax.play_each_other([contest], 2, env=env),
        lambda env: merlax.plot(contest, tmp_path / "curve.png", env=env),
        lambda env: merlax.evaluate(run, 2, env=env),
    ):
        assert use(env)
        with pytest.raises(merlax.UserError, match="horizon was 3 and is 2"):
            use(other)
    with pytest.raises(merlax.UserError, match="horizon was 3 and is 2"):
        merlax.render(contest, tmp_path / "team.png", env=other)


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
