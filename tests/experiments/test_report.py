"""What the results say: bands, summaries, tables."""

import numpy as np
import pytest

from merlax.experiments import report
from merlax.experiments.results import Results, Row
from merlax.experiments.spec import Claim
from merlax.runs.published import Published
from tests.support import fakes


def made(finals: dict[tuple[str, str], list[float]]) -> Results:
    """Results with these final scores, by world and method."""
    return Results(
        tuple(
            Row("motivating", world, method, seed, 300, "final_score", score)
            for (world, method), scores in finals.items()
            for seed, score in enumerate(scores)
        )
    )


def test_the_table_compares_with_merl_and_with_the_paper():
    found = made({("rover-3 (speed pinned)", "MERL"): [0.6, 0.7], ("rover-3 (speed pinned)", "EA"): [0.2, 0.65]})
    experiment = fakes.experiment(claims=(Claim("rover-3", "MERL", Published(0.48, "")),))
    merl, ea = report.summarise(found, experiment)
    assert (merl.published, merl.reference_better, ea.published) == (0.48, None, None)
    assert ea.reference_better is not None
    assert ea.reference_better.value == 0.75
    assert merl.mean.value == pytest.approx(0.65)
    (table,) = report.tables(found, experiment)
    assert "| rover-3 (speed pinned) | MERL | 2 | 0.650 ± 0.635 |" in report.markdown(table)


def test_several_worlds_get_a_row_over_all_of_them_by_seed():
    worlds = {"rover-1": 0.9, "rover-3": 0.5}
    found = made({(world, "MERL"): [score, score + 0.1] for world, score in worlds.items()})
    *_, everywhere = report.summarise(found, fakes.experiment())
    assert everywhere.world == "all 2 worlds"
    assert everywhere.scores == (0.9, 1.0, 0.5, 0.6)
    assert everywhere.mean.value == pytest.approx(0.75)
    assert everywhere.mean.half_width == pytest.approx(12.706 * 0.05, rel=1e-3)  # of the seeds' means 0.7 and 0.8


def test_touches_and_distances_have_no_mean_over_worlds_but_a_winner():
    scores = {"predator-prey": (2.0, 1.0), "keep-away": (-12.0, -11.0)}
    found = made(
        {(world, name): [own] for world, two in scores.items() for name, own in zip(("MERL", "EA"), two, strict=True)}
    )
    *_, everywhere = report.summarise(found, fakes.experiment())
    assert everywhere.cells() == ("all 2 worlds", "EA", "2", "–", "–", "–", "0.50")


def test_worlds_without_a_common_seed_have_no_mean_over_them():
    rows = [("rover-1", 1, 0.9), ("rover-3", 2, 0.5)]
    made_apart = Results(tuple(Row("x", world, "MERL", seed, 300, "final_score", v) for world, seed, v in rows))
    *_, everywhere = report.summarise(made_apart, fakes.experiment())
    assert everywhere.cells()[:4] == ("all 2 worlds", "MERL", "2", "–")


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


def test_what_else_was_measured_is_a_table_of_its_own():
    scores = made({("w", "MERL"): [0.5, 0.7], ("w", "EA"): [0.1, 0.1]})
    (only,) = report.tables(scores, fakes.experiment())
    assert only[0] == report.HEADER
    more = [Row("motivating", "w", "MERL", seed, 300, "score_against_all", 2.0) for seed in (0, 1)]
    _, further = report.tables(Results((*scores.rows, *more)), fakes.experiment())
    assert further == [
        ("world", "method", "score against all"),
        ("w", "MERL", "2.000 ± 0.000"),
        ("w", "EA", "–"),
    ]
