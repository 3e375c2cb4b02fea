"""The tidy CSV: everything that was measured, and nothing else."""

from pathlib import Path

import numpy as np
import pytest

from merlax.experiments import results
from merlax.types import UserError
from tests.support import fakes


@pytest.fixture
def collected(tmp_path):
    experiment = fakes.experiment()
    for job in experiment.jobs():
        fakes.write_run(job, tmp_path)
    return results.collect(experiment, experiment.jobs(), tmp_path)


def test_a_run_becomes_rows(collected):
    own = [r for r in collected.rows if (r.method, r.seed) == ("MERL", 1)]
    assert [(r.frames, r.value) for r in own if r.measure == "champion_score"] == [(100, 0.5), (300, 1.0)]
    assert [(r.frames, r.value) for r in own if r.measure == "migrant_selected"] == [(100, 0), (200, 1), (300, 1)]
    assert [(r.frames, r.value) for r in own if r.measure == "final_score"] == [(300, 0.75)]
    assert {r.measure: r.value for r in own}["seconds"] == 1.5
    assert (collected.worlds, collected.methods("two-rovers")) == (["two-rovers"], ["MERL", "EA"])


def test_what_does_not_apply_to_a_method_gives_no_row(tmp_path):
    experiment = fakes.experiment(methods=("EA",), seeds=(1,))
    (job,) = experiment.jobs()
    folder = fakes.write_run(job, tmp_path)
    header, *rows = fakes.PROGRESS.splitlines()
    cells = [row.split(",") for row in rows]
    emptied = [",".join([*row[:6], "", "", row[8]]) for row in cells]
    (folder / "progress.csv").write_text("\n".join([header, *emptied]) + "\n")
    measures = {row.measure for row in results.collect(experiment, [job], tmp_path).rows}
    assert not {"learner_score", "migrant_selected"} & measures
    assert {"champion_score", "final_score"} <= measures


def test_a_run_whose_rows_lack_the_seconds_is_refused(tmp_path):
    experiment = fakes.experiment(methods=("EA",), seeds=(1,))
    (job,) = experiment.jobs()
    folder = fakes.write_run(job, tmp_path)
    (folder / "progress.csv").write_text(fakes.PROGRESS.replace("seconds", "minutes"))
    with pytest.raises(UserError, match="has no column seconds"):
        results.collect(experiment, [job], tmp_path)


def test_what_an_experiment_measures_stands_beside_the_final_score_of_its_run(tmp_path):
    def count(jobs, root):
        assert root == tmp_path
        for number, job in enumerate(jobs):
            yield job, "place", float(number)

    experiment = fakes.experiment(measure=count)
    for job in experiment.jobs():
        fakes.write_run(job, tmp_path)
    found = results.collect(experiment, experiment.jobs(), tmp_path)
    measured = [(r.method, r.seed, r.frames, r.value) for r in found.rows if r.measure == "place"]
    assert measured == [("MERL", 1, 300, 0.0), ("MERL", 2, 300, 1.0), ("EA", 1, 300, 2.0), ("EA", 2, 300, 3.0)]


def test_results_come_back_as_they_were(collected, tmp_path):
    results.write(collected, tmp_path / "results.csv")
    assert results.read(tmp_path / "results.csv") == collected
    assert not list(tmp_path.glob("*.new"))


def test_long_curves_are_thinned_to_means_that_keep_the_total():
    frames, values = np.arange(1.0, 1001.0), np.random.default_rng(0).normal(size=1000)
    points = list(results.thin(frames, values))
    assert len(points) == 200
    assert points[-1][0] == 1000
    assert np.mean([value for _, value in points]) == pytest.approx(values.mean())
    assert list(results.thin(frames[:3], values[:3])) == list(zip(frames[:3], values[:3], strict=True))
    assert list(results.thin(frames, np.full(1000, np.nan))) == []


GOOD = "motivating,two-rovers,MERL,1,100,final_score,0.5"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "its first line must be experiment,world"),
        ("a,b,c\n", "its first line must be experiment,world"),
        ("HEADER\n", "holds no results yet"),
        (f"HEADER\n{GOOD},9\n", "line 2 has 8 cells instead of 7"),
        (f"HEADER\n{GOOD}\n\n", "line 3 has 0 cells"),
        (f"HEADER\n{GOOD}\n{GOOD.replace(',1,', ',one,')}\n", "line 3 has no number where one belongs"),
        (f"HEADER\n{GOOD.replace('0.5', 'nan')}\n", "line 2 has an impossible number"),
        (f"HEADER\n{GOOD.replace('100', '-100')}\n", "line 2 has an impossible number"),
        (f"HEADER\n{GOOD.replace('MERL', '')}\n", "line 2 has an empty name"),
        (f"HEADER\n{GOOD.replace('MERL', chr(27))}\n", "line 2 has an empty name, or one that is none"),
        (f"HEADER\n{GOOD.replace('100', '9' * 400)}\n", "line 2 has an impossible number"),
        (f"HEADER\n{GOOD.replace('100', '9' * 5000)}\n", "line 2 has no number where one belongs"),
        (f"HEADER\n{GOOD.replace(',1,', ',-1,')}\n", "line 2 has an impossible number"),
        (f"HEADER\n{GOOD.replace('0.5', '1e300')}\n", "line 2 has an impossible number"),
        (f"HEADER\n{GOOD}\n{GOOD.replace('motivating', 'other')}\n", "mix several experiments"),
        (f"HEADER\n{GOOD}\n{GOOD.replace('0.5', '0.6')}\n", "a number twice"),
        ('HEADER\n"unclosed', "cannot be read"),
        ("HEADER\n\udcff", "cannot be read"),
    ],
)
def test_a_broken_file_is_refused_in_one_sentence(tmp_path, text, sentence):
    text = text.replace("HEADER", ",".join(results.COLUMNS))
    (tmp_path / "results.csv").write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(UserError, match=sentence) as error:
        results.read(tmp_path / "results.csv")
    assert "\n" not in str(error.value)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(UserError, match="cannot be read"):
        results.read(tmp_path / "results.csv")


@pytest.mark.slow
def test_the_committed_results_keep_the_one_schema():
    files = list((Path(__file__).parents[2] / "results").rglob("*.csv"))
    assert len(files) >= 6
    for path in files:
        assert results.read(path).experiment == path.stem
