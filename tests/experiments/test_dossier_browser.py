"""The report in a browser: nothing fails, a curve can be switched off, and a page that is watched renews itself."""

from __future__ import annotations

import threading
import time

import pytest

from merlax.experiments import dossier, watch
from tests.support import browser
from tests.support.runs import write_run

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(browser.PROGRAM is None, reason="there is no Chromium here to open pages with"),
]


@pytest.fixture(scope="module")
def shown():
    with browser.Browser() as opened:
        yield opened


def test_fifty_runs_open_soon_and_a_curve_can_be_switched_off_and_another_run_chosen(shown, tmp_path):
    for number in range(50):
        write_run(tmp_path / "runs" / str(number), ("merl", "ea")[number % 2], seed=number, rows=200)
    dossier.write([tmp_path / "runs"], tmp_path / "report.html")
    started = time.monotonic()
    shown.open(tmp_path / "report.html")
    shown.wait("!!document.querySelector('[data-chart] canvas')")
    assert time.monotonic() - started < 20  # two seconds on a machine that does nothing else
    chart = "document.querySelector('[data-chart^=curves]')"
    picture = f"{chart}.querySelector('canvas').toDataURL()"
    before = shown.run(picture)
    shown.run("document.querySelector('[data-line=merl]').click()")
    shown.wait(f"{picture} !== {before!r}")
    assert shown.run(f"{chart}.plot.series.filter((s) => s.show).length") < shown.run(f"{chart}.plot.series.length")
    headline = "document.querySelector('.facts').parentElement.querySelector('h2').textContent"
    name = shown.run(headline)
    shown.run("document.querySelector('select.run').selectedIndex = 3")
    shown.run("document.querySelector('select.run').dispatchEvent(new Event('change'))")
    assert shown.run(headline) != name
    assert shown.run("!!document.querySelector('svg.tree')")
    shown.resize(390, 844, touch=True)
    shown.wait("document.documentElement.scrollWidth <= 390")
    shown.resize(1280, 860)
    assert shown.problems == []


def test_a_page_that_is_watched_shows_a_new_row(shown, tmp_path):
    run = write_run(tmp_path / "run", finished=False)
    server = watch.server([run])
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        shown.open(f"http://127.0.0.1:{server.server_address[1]}/")
        told = "[...document.querySelectorAll('.facts dd')].map((e) => e.textContent)"
        assert "30" in shown.run(told)
        lines = (run / "progress.csv").read_text().splitlines()
        more = ",".join(["31", "31000", "16", *lines[-1].split(",")[3:]])
        (run / "progress.csv").write_text("\n".join([*lines, more]) + "\n")
        shown.wait(f"{told}.includes('31')")
    finally:
        server.shutdown()
        server.server_close()
    assert shown.problems == []
