"""`merlax reproduce` and `merlax plot` as a user meets them."""

from typing import Any

import pytest

from merlax import cli
from merlax.experiments import reproduce, results, runner
from merlax.experiments.runner import Failure, Outcome
from tests.support import fakes
from tests.support.drawing import size_of


@pytest.mark.slow
def test_a_figure_end_to_end(tmp_path, capsys):
    """Trains for real, one small run for each method."""
    out = tmp_path / "out"
    assert cli.main(["reproduce", "motivating", "--quick", "--out", str(out)]) == 0
    shown = capsys.readouterr().out
    for words in ("TD3-global", "P(MERL better)", "4 runs", str(out / "results.csv"), str(out / "motivating.png")):
        assert words in shown
    found = results.read(out / "results.csv")
    assert found.methods("two-rovers") == ["MERL", "EA", "TD3-global", "TD3-mixed"]
    assert size_of(out / "motivating.png")[0] == 1050
    assert cli.main(["plot", str(out), "--out", str(tmp_path / "again.png")]) == 0
    assert (tmp_path / "again.png").read_bytes() == (out / "motivating.png").read_bytes()


def test_the_list_names_every_figure_the_papers_apart_from_ours(capsys):
    assert cli.main(["reproduce", "--list"]) == 0
    shown = capsys.readouterr().out
    papers, rest = shown.split("ours: what it tells")
    ours, tuning = rest.split("tuning: what was tried")
    for name in ("motivating", "rover-coupling", "scalarisation", "selection-rate", "es-population", "trajectories"):
        assert name in papers
    for name in ("scores", "two-rovers-ea", "hand-rules"):
        assert f"\n{name} " in ours
    for name in ("tune-baselines", "joint-updates"):
        assert f"\n{name} " in tuning


BAD = {
    "unknown figure": (["reproduce", "motivting"], "did you mean 'motivating'"),
    "no figure": (["reproduce"], "Name a figure: motivating"),
    "no workers": (["reproduce", "motivating", "--workers", "0"], "workers is 0"),
    "negative frames": (["reproduce", "motivating", "--frames", "-5"], "frames is -5"),
    "negative seed": (["reproduce", "motivating", "--seeds", "1", "-1"], "seed is -1"),
    "a seed twice": (["reproduce", "motivating", "--seeds", "7", "7"], "hold one twice"),
    "no such world": (["reproduce", "beyond", "--worlds", "rover-9"], "has no world 'rover-9'; choose from rover-1 ("),
    "no such method": (["reproduce", "motivating", "--methods", "merl"], "has no method 'merl'; choose from MERL; EA;"),
    "a part of two": (["reproduce", "motivating", "beyond", "--methods", "MERL"], "choose a part of one figure"),
    "no speed": (["reproduce", "motivating", "--speed", "free"], "no speed to choose"),
    "no results": (["plot", "nowhere.csv"], "cannot be read"),
    "no file": (["plot"], "Name a results.csv"),
    "empty folder": (["plot", "."], "holds no results.csv"),
}


@pytest.mark.parametrize("case", BAD, ids=str)
def test_bad_input_gets_one_sentence_and_code_2(case, refuses):
    refuses(*BAD[case])


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ("motivating,two-rovers,MERL,1,x,final_score,0.5", "no number where one belongs"),
        ("motivatin,two-rovers,MERL,1,9,final_score,0.5", "did you mean 'motivating'"),
        ("motivating,two-rovers,MERL,1,9,final_score,0.5", "nothing to draw"),
        ("es-sigma,rover-3,ES,1,9,final_score,0.5", "nothing to draw"),
        ("selection-rate,rover-3,EA,1,9,final_score,0.5", "nothing to draw"),
        ("trajectories,rover-3,MERL,1,9,final_score,0.5", "not a run folder"),
    ],
)
def test_plot_refuses_results_that_it_cannot_draw(row, sentence, tmp_path, capsys):
    (tmp_path / "results.csv").write_text(f"{','.join(results.COLUMNS)}\n{row}\n")
    assert cli.main(["plot", str(tmp_path / "results.csv")]) == 2
    error = capsys.readouterr().err
    assert sentence in error
    assert error.count("\n") == 1


def test_other_settings_get_another_folder():
    cases: list[dict[str, Any]] = [{}, {"quick": True}, {"speed": "free"}, {"frames": 5000}, {"seeds": (7,)}]
    folders = [reproduce.choose("scalarisation", **options)[1].name for options in cases]
    assert folders == [
        "scalarisation",
        "scalarisation-quick",
        "scalarisation-free",
        "scalarisation-5000",
        "scalarisation",
    ]


def test_failed_runs_are_named_with_code_2(monkeypatch, capsys, tmp_path):
    lost = [Failure(fakes.job(seed), "a reason") for seed in (1, 2)]
    monkeypatch.setattr(runner, "run", lambda *_: Outcome(failed=lost))
    assert reproduce.run_and_print(fakes.experiment(), tmp_path) == 2
    error = capsys.readouterr().err
    assert "failed: two-rovers, MERL, seed 2: a reason" in error
    assert "2 runs failed" in error


def test_an_interrupt_says_how_to_go_on(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(runner, "run", lambda *_: Outcome(interrupted=True))
    assert reproduce.run_and_print(fakes.experiment(), tmp_path) == 130
    shown = capsys.readouterr().out
    assert "0 of 4 runs are finished" in shown
    assert "The same command goes on" in shown


def motivating(path, seeds, method="MERL", experiment="motivating"):
    """A results file as `merlax reproduce` writes it, small."""
    lines = [
        f"{experiment},two-rovers,{method},{seed},{frames},{measure},0.5"
        for seed in seeds
        for frames, measure in ((50, "champion_score"), (99, "champion_score"), (99, "final_score"))
    ]
    path.write_text("\n".join([",".join(results.COLUMNS), *lines, ""]))
    return str(path)


def test_results_of_several_machines_make_one_figure_and_one_table(tmp_path, capsys):
    ea = motivating(tmp_path / "a.csv", [7], "EA")
    first, second = motivating(tmp_path / "b.csv", [9]), motivating(tmp_path / "c.csv", [8])
    merged = tmp_path / "merged.csv"
    assert cli.main(["plot", ea, first, second, "--out", str(tmp_path / "all.png"), "--merged", str(merged)]) == 0
    shown = capsys.readouterr().out
    assert "P(MERL better)" in shown
    assert str(tmp_path / "all.png") in shown
    found = results.read(merged)
    assert found.methods("two-rovers") == ["MERL", "EA"]  # in the experiment's order
    assert sorted(found.final("two-rovers", "MERL")) == [8, 9]


@pytest.mark.parametrize(
    ("seed", "experiment", "sentence"),
    [(7, "motivating", "give a number twice"), (8, "scores", "mix several experiments")],
)
def test_results_that_do_not_belong_together_are_refused(seed, experiment, sentence, tmp_path, capsys):
    one = motivating(tmp_path / "one.csv", [7])
    other = motivating(tmp_path / "other.csv", [seed], experiment=experiment)
    assert cli.main(["plot", one, other]) == 2
    assert sentence in capsys.readouterr().err
