"""Several figures at once: no run is made twice, all figures grow together, and each is there as soon as it can be."""

import dataclasses

import pytest

from merlax import cli
from merlax.experiments import drawing, jobs, paper, reproduce, results, runner, whole
from merlax.experiments.spec import Method, Task
from tests.support import fakes
from tests.support.settings import TINY

SAME = Method("MERL", "merl", TINY)
OTHER = Method("EA", "ea")


@pytest.fixture
def two():
    """Two figures of which the second asks, under other names, for runs of the first, and has a seed less."""
    first = fakes.experiment(methods=(SAME, OTHER), seeds=(1, 2, 3))
    renamed = dataclasses.replace(SAME, label="MERL, population 6")
    second = fakes.experiment(name="two-rovers-ea", figure="finals", methods=(renamed,), seeds=(2, 1))
    return whole.share([first, second])


@pytest.fixture
def fake(monkeypatch):
    """Jobs write their files at once."""
    monkeypatch.setattr(jobs, "command", fakes.command)
    monkeypatch.setattr(runner, "POLL_SECONDS", 0.02)
    monkeypatch.setattr(drawing, "YARDSTICK_EPISODES", 2)


def test_figures_that_ask_for_the_same_run_share_it(two):
    first, second = two
    assert {job.folder for job in second.jobs} < {job.folder for job in first.jobs}
    longer = dataclasses.replace(second.experiment, frames=301)
    assert not {job.folder for job in whole.share([longer])[0].jobs} & {job.folder for job in first.jobs}


def test_every_figure_has_its_first_seed_before_any_has_its_second(two):
    order = [(job.seed, job.method.label) for job in whole.in_turns(two)]
    assert order == [(1, "MERL"), (1, "EA"), (2, "MERL, population 6"), (2, "EA"), (3, "MERL"), (3, "EA")]


@pytest.mark.slow
def test_the_papers_figures_share_what_they_have_in_common():
    parts, folder = whole.choose(["all"])
    assert [part.experiment for part in parts] == list(paper.EXPERIMENTS)
    assert folder.name == "all"
    wanted = whole.in_turns(parts)
    assert len({job.folder for job in wanted}) == len(wanted) < sum(len(part.jobs) for part in parts)
    by_name = {part.name: {job.folder for job in part.jobs} for part in parts}
    assert by_name["trajectories"] < by_name["rover-coupling"]
    assert len(by_name["es-population"] & by_name["es-sigma"]) == 10  # MERL, and ES with both defaults
    assert len(by_name["selection-rate"] & by_name["predator-prey"]) == 4  # seeds 2019 to 2022


@pytest.mark.slow
def test_short_figures_keep_their_methods_and_seeds_but_not_the_longest_budgets():
    parts, folder = whole.choose(["all"], short=True)
    assert folder.name == "all-short"
    frames = {part.name: {job.frames for job in part.jobs} for part in parts}
    assert frames["motivating"] == {400_000}
    assert frames["predator-prey"] == {3_000_000}
    assert frames["selection-rate"] == {2_000_000, 3_000_000}
    assert frames["es-sigma"] == {2_000_000, 30_000_000}
    assert [len(part.jobs) for part in parts] == [len(list(each.jobs())) for each in paper.EXPERIMENTS]


@pytest.mark.slow
def test_a_figure_is_written_whenever_it_gains_a_seed_and_of_whole_seeds_alone(tmp_path, fake, two, monkeypatch):
    first = two[0]
    seen = []
    write = reproduce.write

    def noting(experiment, done, root, out):
        seen.append((experiment.name, sorted({job.seed for job in done})))
        return write(experiment, done, root, out)

    monkeypatch.setattr(reproduce, "write", noting)
    writer = whole.Writer(two, tmp_path, set())
    for job in whole.in_turns(two)[:4]:
        fakes.write_run(job, tmp_path / "runs")
        writer.hear(job)
    assert seen == [
        ("two-rovers-ea", [1]),
        ("motivating", [1]),
        ("two-rovers-ea", [1, 2]),
        ("motivating", [1, 2]),
    ]
    found = results.read(tmp_path / "two-rovers-ea" / "results.csv")
    assert found.methods("two-rovers") == ["MERL, population 6"]
    linked = tmp_path / "motivating" / "runs" / "two-rovers" / "merl" / "1"
    assert linked.resolve() == (tmp_path / "runs" / first.jobs[0].folder).resolve()
    seen.clear()
    whole.Writer(two, tmp_path, writer.finished)
    assert seen == []  # what is written is not written again
    (tmp_path / "motivating" / "results.csv").unlink()
    whole.Writer(two, tmp_path, writer.finished)
    assert seen == [("motivating", [1, 2])]


@pytest.mark.slow
def test_all_figures_in_one_command_which_goes_on_where_it_was(tmp_path, fake, two, capsys):
    assert whole.run_and_print(two, tmp_path) == 0
    shown = capsys.readouterr().out
    assert "motivating: 3 of 3 seeds" in shown
    assert (tmp_path / "motivating" / "motivating.png").exists()
    assert (tmp_path / "two-rovers-ea" / "table.md").exists()
    assert whole.run_and_print(two, tmp_path) == 0
    assert "6 runs, 6 finished already" in capsys.readouterr().out


def test_a_figure_that_cannot_be_drawn_ends_nothing(tmp_path, capsys):
    tasks = (Task("rover-3", {"speed": "pinned"}),)
    drawn = fakes.experiment(name="trajectories", tasks=tasks, methods=(SAME,), seeds=(1,))
    (part,) = whole.share([dataclasses.replace(drawn, figure="trajectories")])
    fakes.write_run(part.jobs[0], tmp_path / "runs")
    whole.Writer([part], tmp_path, {part.jobs[0].folder})  # a run without a champion
    error = capsys.readouterr().err
    assert "the figure trajectories cannot be written now" in error
    assert error.count("\n") == 1


@pytest.mark.slow
def test_what_cannot_be_chosen_is_refused(refuses):
    refuses(["reproduce", "all", "motivating"], "name it alone")
    refuses(["reproduce", "motivating", "motivating"], "hold one twice")
    refuses(["reproduce", "motivating", "motivatng"], "did you mean 'motivating'")
    refuses(["reproduce", "all", "--plan", "--on", "ray"], "leave out --on")


@pytest.mark.slow
def test_several_names_on_the_command_line_are_one_piece_of_work(tmp_path, fake, capsys):
    args = ["reproduce", "motivating", "two-rovers-ea", "--quick", "--seeds", "1", "--out", str(tmp_path)]
    assert cli.main(args) == 0
    shown = capsys.readouterr().out
    assert "2 figures: motivating, two-rovers-ea" in shown
    assert "two-rovers-ea: 1 of 1 seeds" in shown
    assert cli.main(["plot", str(tmp_path / "motivating"), "--out", str(tmp_path / "again.png")]) == 0
    assert (tmp_path / "again.png").read_bytes() == (tmp_path / "motivating" / "motivating.png").read_bytes()
