"""report and watch, on the command line."""

from __future__ import annotations

from merlax import cli
from tests.support.runs import write_run


def test_report_writes_one_page_and_says_what_it_could_not_show(tmp_path, capsys):
    run, out = write_run(tmp_path / "run"), tmp_path / "new" / "report.html"
    assert cli.main(["report", str(run), "--out", str(out)]) == 0
    shown = capsys.readouterr()
    assert shown.out == f"{out}\n"
    assert "There is no replay of rover-1" in shown.err
    assert out.read_text().startswith("<!doctype html>")


def test_what_is_no_run_is_refused(refuses, tmp_path):
    refuses(["report", "/nowhere", "--out", "a.html"], "is no folder")
    refuses(["report", "--out", "a.html"], "name run folders")
    refuses(["report", "/nowhere", "--out", "a.pdf"], "end in .html")
    refuses(["watch", "/nowhere"], "is no folder")
    refuses(["watch"], "name run folders")
