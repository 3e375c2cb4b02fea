"""What a user sees of a run while it goes on."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from merlax.runs import terminal
from merlax.runs.recorders import Beginning, Midway
from merlax.runs.terminal import Bar, Lines, Rate

RUN = Beginning(Path("run"), "ea on a world", {}, 3_000_000)


def row(generation, seconds=None, score=0.5):
    seconds = float(generation) if seconds is None else seconds
    return {"generation": generation, "frames": 1_000_000 * generation, "seconds": seconds, "champion_score": score}


@pytest.mark.parametrize(("seconds", "shown"), [(0.0, "0:00"), (125.4, "2:05"), (3725.0, "1:02:05")])
def test_a_time_is_shown_with_hours_only_where_there_are_any(seconds, shown):
    assert terminal.clock(seconds) == shown


def test_the_rate_is_that_of_the_newest_generations_without_compiling():
    rate = Rate(3_000_000)
    rate.update(row(1, seconds=60.0))
    assert rate.status(row(1)) == "score 0.500"  # one generation, most of which was compiling
    rate.update(row(2, seconds=61.0))
    assert rate.status(row(2)) == "score 0.500 · 1,000,000 frames/s · 0:01 left"


def test_the_score_is_the_mean_of_the_last_ten_that_are_numbers():
    rate = Rate(1)
    rate.update(row(1, score=float("nan")))
    assert rate.status(row(1)) == "score –"
    for generation in range(1, 13):
        rate.update(row(generation, 0.0, score=float(generation)))
    assert rate.status(row(12)) == "score 7.500"


def test_a_log_gets_a_line_now_and_then_and_the_last_one_always(capsys):
    lines = Lines()
    lines.start(RUN)
    for generation in (1, 2, 3):
        lines.record(row(generation))
    lines.stop()
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == "ea on a world: compiling …"
    assert [line.split(",")[0] for line in shown[1:]] == [
        "ea on a world: generation 1",
        "ea on a world: generation 3",
    ]


def test_a_terminal_gets_a_bar_with_frames_and_score():
    shown = io.StringIO()
    bar = Bar(Console(file=shown, force_terminal=True, width=150))
    bar.start(RUN)
    bar.record(row(1))
    bar.record(row(2))
    bar.stop()
    assert "2.00 / 3.00 M frames" in shown.getvalue()
    assert "score 0.500" in shown.getvalue()


def test_lines_go_to_a_pipe_and_nothing_where_it_shall_be_quiet(capsys):
    del capsys  # standard output is no terminal
    assert [type(each) for each in terminal.display()] == [Lines]
    assert terminal.display(quiet=True) == []


def test_a_generation_that_takes_long_is_shown_and_how_long_it_takes(capsys):
    lines, shown = Lines(), io.StringIO()
    bar = Bar(Console(file=shown, force_terminal=True, width=150))
    for display in (lines, bar):
        display.start(RUN)
        display.midway(Midway(1, 10, 0.5, 0.3))  # one that is over in a moment
        display.midway(Midway(1, 500_000, 0.25, 330.0))
        display.stop()
    words = "generation 1: 25% learnt, it takes about 5:30"
    assert capsys.readouterr().out.splitlines() == ["ea on a world: compiling …", f"ea on a world: {words}"]
    assert words in shown.getvalue()
    assert "50%" not in shown.getvalue()
    assert "0.50 / 3.00 M frames" in shown.getvalue()


class Screen(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("errors", "total", "shows"),
    [(Screen(), 3, True), (Screen(), 1, False), (io.StringIO(), 3, False)],
    ids=["a terminal", "one part", "a file"],
)
def test_the_parts_of_a_long_work_come_with_a_bar_where_a_terminal_shows_it(errors, total, shows, monkeypatch, capsys):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("sys.stderr", errors)
    assert list(terminal.bar(iter("abc"[:total]), total, "long work")) == list("abc"[:total])
    assert ("long work" in errors.getvalue()) is shows
    assert capsys.readouterr().out == ""  # which others may read


@pytest.mark.parametrize(("errors", "shows"), [(Screen(), True), (io.StringIO(), False)], ids=["a terminal", "a file"])
def test_long_work_shows_a_sign_of_life_where_a_terminal_shows_it(errors, shows, monkeypatch, capsys):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("sys.stderr", errors)
    with terminal.busy("long work"):
        pass
    assert ("long work" in errors.getvalue()) is shows
    assert capsys.readouterr().out == ""
