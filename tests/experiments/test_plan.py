"""What is left and how long it takes: by rates of runs that are there, and else by runs that are begun for it."""

import pytest

from merlax.experiments import plan, runner, whole
from merlax.experiments.backends import Local
from merlax.experiments.spec import Method
from tests.support import fakes
from tests.support.settings import TINY

MERL = Method("MERL", "merl", TINY)


@pytest.fixture
def parts():
    figures = [fakes.experiment(methods=(MERL,), seeds=(1, 2), frames=3600), fakes.experiment(name="scores",
               methods=(MERL, Method("EA", "ea")), seeds=(1,), frames=3600)]  # fmt: skip
    return whole.share(figures)


def write_rows(folder, generations=80, seconds_each=1.0, start=100.0):
    """Generations of 10 frames; the first takes long, for it compiles."""
    header, *_ = fakes.PROGRESS.splitlines()
    rows = [f"{g},{10 * g},{start + seconds_each * g},0.5,,,,," for g in range(1, generations + 1)]
    (folder / "progress.csv").write_text("\n".join([header, *rows]) + "\n")


def test_runs_are_grouped_by_all_but_their_seed_and_name_who_asks_for_them(parts):
    merl, ea = plan.kinds(parts)
    assert [job.seed for job in merl.jobs] == [1, 2]
    assert merl.figures == ("motivating", "scores")
    assert ea.figures == ("scores",)


def test_the_rate_is_that_of_a_run_once_it_is_compiled_and_tells_the_hours(parts, tmp_path):
    merl, ea = parts[0].jobs[0], parts[1].jobs[1]
    write_rows(fakes.write_run(merl, tmp_path))
    first, second = plan.lines(parts, tmp_path)
    assert first.finished == 1
    assert first.rate == pytest.approx(10.0)
    assert first.hours == pytest.approx(3600 / 10 / 3600)
    assert second.rate is None
    assert "1 of 3 runs are finished; 0.1 hours left with 2 at a time, and what 1 kinds" in plan.summary(
        [first, second], 2
    )
    assert ea.folder.parent == second.kind.folder


def test_a_run_that_has_just_begun_tells_no_rate(parts, tmp_path):
    folder = fakes.write_run(parts[0].jobs[0], tmp_path)
    (folder / "final.json").unlink()
    (folder / "checkpoints" / "3").mkdir(parents=True)
    write_rows(folder, generations=4, start=100.0)  # what was compiled does not count
    kind = plan.kinds(parts)[0]
    assert plan.rate(kind, tmp_path) is None
    write_rows(folder, generations=80, start=0.0)
    assert plan.rate(kind, tmp_path) == pytest.approx(10.0)
    assert plan.lines(parts, tmp_path)[0].frames_left == 2 * 3600 - 800


@pytest.mark.slow
def test_what_is_not_known_is_measured_by_a_run_that_goes_on_later(tmp_path, monkeypatch, capsys):
    """Trains for real: one run of two kinds, each stopped once its rate is known."""
    monkeypatch.setattr(plan, "ENOUGH", ((5, 0.1),))
    monkeypatch.setattr(runner, "POLL_SECONDS", 0.1)
    frames = 5000 * fakes.GENERATION
    parts = whole.share([fakes.experiment(methods=(MERL,), seeds=(1,), frames=frames)])
    assert plan.print_plan(parts, tmp_path, Local(workers=1)) == 0
    shown = capsys.readouterr().out
    assert "0 of 1 runs are finished" in shown
    (line,) = plan.lines(parts, tmp_path)
    assert line.rate is not None
    assert line.rate > 100
    assert 0 < line.frames_left < frames  # what was played counts
