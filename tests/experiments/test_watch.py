"""A report that follows a run, served to this machine alone."""

from __future__ import annotations

import http.client
import threading

import pytest

from merlax.experiments import watch
from merlax.types import UserError
from tests.support.runs import write_run


@pytest.fixture
def served(tmp_path):
    run = write_run(tmp_path / "run", finished=False)
    server = watch.server([run])
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield run, server.server_address
    server.shutdown()
    server.server_close()
    thread.join()


def ask(address, path, **headers):
    connection = http.client.HTTPConnection(*address, timeout=60)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer, body


def test_it_serves_the_page_and_its_data_and_nothing_else(served):
    run, address = served
    assert address[0] == "127.0.0.1"
    answer, page = ask(address, "/")
    assert answer.status == 200
    assert b"connect-src 'self'" in page
    for path in ("/config.json", f"/{run.name}/progress.csv", "/../../etc/passwd", "/data/../config.json"):
        assert ask(address, path)[0].status == 404


def test_new_data_come_only_when_a_row_is_new(served):
    run, address = served
    answer, _ = ask(address, "/data")
    tag = answer.headers["ETag"]
    assert ask(address, "/data", **{"If-None-Match": tag})[0].status == 304
    lines = (run / "progress.csv").read_text().splitlines()
    row = lines[-1].split(",")
    (run / "progress.csv").write_text("\n".join([*lines, ",".join(["31", "31000", "16", *row[3:]])]) + "\n")
    answer, body = ask(address, "/data", **{"If-None-Match": tag})
    assert answer.status == 200
    assert answer.headers["ETag"] != tag
    assert body


def test_what_is_just_being_written_leaves_the_page_as_it_was(served):
    run, address = served
    _, before = ask(address, "/data")
    (run / "config.json").write_text("{")
    answer, after = ask(address, "/data")
    assert answer.status == 200
    assert after == before


def test_a_page_elsewhere_whose_name_leads_here_is_refused(served):
    _, address = served
    assert ask(address, "/", Host=f"evil.example:{address[1]}")[0].status == 403


def test_what_cannot_be_watched_is_refused(tmp_path):
    with pytest.raises(UserError, match="is no folder"):
        watch.server([tmp_path / "nowhere"])
    run = write_run(tmp_path / "run")
    with pytest.raises(UserError, match="port is 70000"):
        watch.server([run], port=70000)
    with watch.server([run]) as taken, pytest.raises(UserError, match="choose another --port"):
        watch.server([run], port=taken.server_address[1])
