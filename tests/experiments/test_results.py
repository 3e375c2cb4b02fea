"""The tidy CSV: everything that was measured, and nothing else."""

import dataclasses

import numpy as np
import pytest
from tests.experiments import fakes

from merlax.experiments import report, results
from merlax.experiments.results import Results, Row
from merlax.experiments.spec import Claim
from merlax.runs.published import Published
from merlax.types import UserError


@pytest.fixture
def collected(tmp_path):
    experiment = fakes.experiment()
    for job in experiment.jobs():
        folder = tmp_path / job.folder
        folder.mkdir(parents=True)
        (folder / "progress.csv").write_text(fakes.PROGRESS)
        (folder / "final.json").write_text(fakes.FINAL)
    return results.collect(experiment, experiment.jobs(), tmp_path)


def made(finals: dict[tuple[str, str], list[float]]) -> Results:
    """Results with these final scores, by world and method."""
    return Results(
        tuple(
            Row("motivating", world, method, seed, 300, "final_score", score)
            for (world, method), scores in finals.items()
            for seed, score in enumerate(scores)
        )
    )


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
    (tmp_path / job.folder).mkdir(parents=True)
    header, *rows = fakes.PROGRESS.splitlines()
    cells = [row.split(",") for row in rows]
    emptied = [",".join([*row[:6], "", "", row[8]]) for row in cells]
    (tmp_path / job.folder / "progress.csv").write_text("\n".join([header, *emptied]) + "\n")
    (tmp_path / job.folder / "final.json").write_text(fakes.FINAL)
    measures = {row.measure for row in results.collect(experiment, [job], tmp_path).rows}
    assert not {"learner_score", "migrant_selected"} & measures
    assert {"champion_score", "final_score"} <= measures


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
        (f"HEADER\n{GOOD}\n{GOOD.replace('motivating', 'other')}\n", "mixes several experiments"),
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


def test_the_table_compares_with_merl_and_with_the_paper():
    found = made({("rover-3 (speed pinned)", "MERL"): [0.6, 0.7], ("rover-3 (speed pinned)", "EA"): [0.2, 0.65]})
    experiment = dataclasses.replace(fakes.experiment(), claims=(Claim("rover-3", "MERL", Published(0.48, "")),))
    merl, ea = report.summarise(found, experiment)
    assert (merl.published, merl.reference_better, ea.published) == (0.48, None, None)
    assert ea.reference_better is not None
    assert ea.reference_better.value == 0.75
    assert merl.mean.value == pytest.approx(0.65)
    assert "| rover-3 (speed pinned) | MERL | 2 | 0.650 ± 0.635 |" in report.markdown([merl, ea])


def test_several_worlds_get_a_row_over_all_of_them_by_seed():
    worlds = {"rover-1": 0.9, "rover-3": 0.5}
    found = made({(world, "MERL"): [score, score + 0.1] for world, score in worlds.items()})
    *_, everywhere = report.summarise(found, fakes.experiment())
    assert everywhere.world == "all 2 worlds"
    assert everywhere.scores == (0.9, 1.0, 0.5, 0.6)
    assert everywhere.mean.value == pytest.approx(0.75)
    assert everywhere.mean.half_width == pytest.approx(12.706 * 0.05, rel=1e-3)  # of the seeds' means 0.7 and 0.8


def test_a_table_of_one_seed_has_no_intervals():
    (row,) = report.summarise(made({("rover-3", "EA"): [0.5]}), fakes.experiment())
    assert row.cells() == ("rover-3", "EA", "1", "0.500", "0.500", "–", "–")


def test_bands_are_means_over_seeds_at_the_same_frames():
    """One run tests at 100, 200, 300, the other at 150 and 350: both are read where both were measured."""
    curves = {1: [(100, 0.0), (200, 1.0), (300, 1.0)], 2: [(150, 0.0), (350, 1.0)]}
    rows = [Row("x", "w", "m", s, f, "champion_score", v) for s, points in curves.items() for f, v in points]
    band = report.band(Results(tuple(rows)), "w", "m", "champion_score", smooth=0.0)
    assert band is not None
    frames, (mean, low, high) = band
    assert (frames[0], frames[-1]) == (150, 300)
    assert mean[0] == pytest.approx((0.5 + 0.0) / 2)
    assert mean[-1] == pytest.approx((1.0 + 0.75) / 2)
    assert np.all((low <= mean) & (mean <= high))
    assert report.band(Results(tuple(rows)), "w", "m", "learner_score", smooth=0.0) is None
