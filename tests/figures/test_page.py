"""One file that loads nothing and lets no name become markup."""

from __future__ import annotations

import re

import pytest

from merlax.figures import page
from merlax.types import UserError

NASTY = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"


@pytest.mark.parametrize(("parts", "start"), [(page.REPLAY, "start_replay.js"), (page.REPORT, "start_report.js")])
def test_a_page_names_no_address_to_load_from(parts, start):
    text = page.page("a title", {"title": "x"}, parts, start)
    assert not re.search(r"""<(script|link|img|iframe)[^>]*\s(src|href)=""", text)
    assert "@import" not in text
    assert "default-src 'none'" in text
    assert "connect-src" not in text
    assert "%" + "DATA%" not in text


def test_no_name_becomes_markup():
    text = page.page(NASTY, {"title": NASTY, "subtitle": NASTY, "%SCRIPT%": "%STYLE%"}, page.REPLAY, "start_replay.js")
    assert "alert(" not in text.replace("&lt;script&gt;alert(1)", "").replace("onerror=alert(2)&gt;", "")
    assert text.count("<script") == 2


def test_the_licence_of_what_is_not_ours_is_in_the_page():
    assert "Copyright (c) 2022 Leon Sorokin" in page.page("a", {}, page.REPORT, "start_report.js")


def test_only_the_page_of_a_server_may_ask_it_for_more():
    assert "connect-src 'self'" in page.page("a", {}, page.REPORT, "start_report.js", live=True)


def test_a_page_is_written_as_html_only(tmp_path):
    page.write("x", tmp_path / "new" / "a.html")
    assert (tmp_path / "new" / "a.html").read_text() == "x"
    with pytest.raises(UserError, match=r"end in \.html\."):
        page.write("x", tmp_path / "a.png")
