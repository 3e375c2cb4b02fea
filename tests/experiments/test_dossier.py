"""What a report tells of runs."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest

from merlax.core.evolution.selection import expected_selection_rate
from merlax.experiments import dossier
from merlax.types import UserError
from tests.support.runs import write_run


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    root = tmp_path_factory.mktemp("runs")
    for seed in (1, 2, 3):
        write_run(root / f"merl-{seed}", seed=seed)
        write_run(root / f"ea-{seed}", "ea", seed=seed, rows=20)
    write_run(root / "elsewhere", world="rover-2")
    return dossier.dossier([root])


def world(told, name="rover-1"):
    return next(own for own in told["worlds"] if own["title"].startswith(name))


def test_runs_on_different_worlds_are_grouped_not_refused(told):
    assert told["title"] == "2 worlds, 7 runs"
    assert [len(world(told, name)["runs"]) for name in ("rover-1", "rover-2")] == [6, 1]


def test_a_method_has_a_mean_with_its_interval_over_seeds(told):
    merl = next(method for method in world(told)["methods"] if method["label"] == "merl")
    assert merl["mean"][0] == pytest.approx(np.mean(merl["scores"]))
    assert merl["mean"][1] < merl["mean"][0] < merl["mean"][2]
    band = merl["band"]
    known = np.isfinite(band["mean"])
    assert known.sum() > 200
    assert (band["low"][known] <= band["mean"][known]).all()
    assert math.isnan(band["mean"][0])  # nothing is known before the first test


def test_who_beats_whom_adds_up_to_one(told):
    better = world(told)["better"]
    assert better[0][0] is None
    assert better[0][1][0] + better[1][0][0] == pytest.approx(1.0)


def test_a_single_method_beats_nobody(told):
    assert world(told, "rover-2")["better"] == []


def test_migrants_stand_beside_chance(told):
    run = world(told)["runs"][world(told)["best"]]
    assert run["selection"]["overall"] == {"learner": pytest.approx(2 / 3)}
    assert run["selection"]["chance"] == pytest.approx(expected_selection_rate(5, 2, 2))


def test_the_population_is_told_in_order_from_the_least_to_the_greatest(told):
    bands = np.array(world(told)["runs"][0]["population"])
    assert bands.shape[0] == 5
    assert (np.diff(bands, axis=0) >= 0).all()


def test_only_what_differs_is_marked_so(told):
    differing = {row["name"] for row in world(told)["config"] if row["differs"]}
    assert {"algorithm", "frames", "settings.learners.0.discount"} <= differing
    assert "settings.population" not in differing
    assert "seed" not in {row["name"] for row in world(told)["config"]}


def test_without_a_champion_there_is_no_replay_but_a_sentence(told):
    assert world(told)["replay"] is None
    assert any(note.startswith("There is no replay of rover-1") for note in told["notes"])


def test_a_curve_is_thinned_to_means_and_keeps_what_is_not_known():
    values = np.concatenate([np.full(500, np.nan), np.ones(500)])
    thin = dossier._thin(values, dossier._ends(1000))
    assert len(thin) == dossier.POINTS
    assert math.isnan(thin[0])
    assert thin[-1] == 1.0


@pytest.mark.slow
def test_fifty_runs_make_a_page_below_five_megabytes_soon(tmp_path):
    for number in range(50):
        write_run(tmp_path / "runs" / str(number), ("merl", "ea")[number % 2], seed=number, rows=400)
    started = time.monotonic()
    dossier.write([tmp_path / "runs"], tmp_path / "report.html")
    assert time.monotonic() - started < 60
    assert (tmp_path / "report.html").stat().st_size < 5_000_000


def test_a_report_of_nothing_is_refused_and_writes_nothing(tmp_path):
    with pytest.raises(UserError):
        dossier.write([tmp_path], tmp_path / "report.html")
    assert not list(tmp_path.iterdir())
