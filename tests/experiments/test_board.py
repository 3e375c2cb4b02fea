"""What is shown of many runs: who ended, who failed, how long it will take."""

from pathlib import Path

import pytest
from rich.console import Console

from merlax.experiments import board
from merlax.experiments.board import Status
from merlax.experiments.jobs import Progress
from tests.support.fakes import SilentBoard, job


def test_the_time_left_knows_slow_methods():
    clock = board.Clock(workers=2)
    slow, fast = job(1, label="slow"), job(1, label="fast")
    assert clock.left([Status(slow, None, 3.0)], []) is None
    clock.finished(Status(slow, Progress(300, 99.0, 0.5), 100.0))
    clock.finished(Status(fast, Progress(300, 9.0, 0.5), 10.0))
    waiting = [job(2, label="slow"), job(2, label="slow"), job(2, label="fast")]
    assert clock.left([], waiting) == pytest.approx((100 + 100 + 10) / 2)
    half = Status(job(3, label="slow"), Progress(150, 50.0, 0.5), 50.0)
    assert clock.left([half], []) == pytest.approx(50.0)  # one run alone is not faster on two workers


def test_a_status_says_how_far_a_run_is():
    assert str(Status(job(), None, 1.0)) == "starting"
    assert str(Status(job(frames=2_000_000), Progress(500_000, 9.0, None), 9.0)) == "0.50 / 2.00 M frames, score –"
    assert Status(job(frames=300), Progress(330, 9.0, 0.5), 9.0).share == 1.0


def show(shown: board.Board) -> None:
    """One run ends, one goes on, one fails."""
    ended, active = Status(job(1), Progress(300, 1.5, 1.0), 2.0), Status(job(3), Progress(150, 1.0, 0.5), 1.0)
    shown.start(total=3, finished=0, workers=2)
    shown.update([ended, active], [])
    shown.finished(ended)
    shown.failed(job(2), "a [reason]")
    shown.update([active], [])
    shown.stop()


def test_plain_lines_name_what_ended(capsys):
    chosen = board.choose()
    assert isinstance(chosen, board.Lines)  # no terminal here
    show(chosen)
    shown = capsys.readouterr().out
    assert "3 runs; 2 at a time" in shown
    assert "[1/3] two-rovers, MERL, seed 1: 0.30 / 0.30 k frames, score 1.00, 0:02" in shown
    assert "failed: two-rovers, MERL, seed 2: a [reason]" in shown
    assert "\x1b" not in shown


def test_plain_lines_tell_of_active_runs_now_and_then(capsys, monkeypatch):
    active = [Status(job(3), Progress(150, 1.0, 0.5), 1.0)]
    lines = board.Lines()
    lines.start(3, 1, 2)
    lines.update(active, [])
    assert "seed 3" not in capsys.readouterr().out
    monkeypatch.setattr(board, "PLAIN_SECONDS", -1.0)
    lines.start(3, 1, 2)
    lines.update(active, [])
    shown = capsys.readouterr().out
    assert "3 runs, 1 finished already; 2 at a time" in shown
    assert "1 of 3 runs finished, 0:01 left" in shown
    assert "  two-rovers, MERL, seed 3: 0.15 / 0.30 k frames, score 0.50" in shown


def test_bars_show_a_line_for_each_run_and_one_for_all(tmp_path: Path):
    with (tmp_path / "screen").open("w") as screen:
        show(board.Bars(Console(file=screen, force_terminal=True, width=140)))
    shown = (tmp_path / "screen").read_text()
    for words in ("all runs", "two-rovers, MERL, seed 3", "failed: two-rovers, MERL, seed 2: a [reason]", "1 failed"):
        assert words in shown


@pytest.mark.parametrize("shown", [board.Lines(), board.Bars(Console()), SilentBoard()], ids=lambda b: type(b).__name__)
def test_every_board_keeps_the_contract(shown):
    assert isinstance(shown, board.Board)
