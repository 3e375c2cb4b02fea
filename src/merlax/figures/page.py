"""One page in one file: its parts from `assets/`, its data packed, and nothing that it could load from elsewhere."""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from merlax.figures import style
from merlax.figures.pack import packed

SUFFIX = ".html"
REPLAY = ("base.css", "replay.css", "unpack.js", "theme.js", "paint.js", "inspect.js", "track.js", "player.js")
REPORT = (
    *("uPlot.min.css", *REPLAY, "report.css", "uPlot.LICENSE", "uPlot.iife.min.js"),
    *("charts.js", "tree.js", "sections.js", "report.js"),
)


def page(title: str, data: Any, parts: Sequence[str], start: str, *, live: bool = False) -> str:
    """A page with these styles and scripts.

    Args:
        title: Of the window.
        data: What the page shows, of dicts, lists, texts, numbers and arrays.
        parts: Names of files in `assets/`, in their order.
        start: The script that begins.
        live: Whether the page may ask the server that it came from for newer data.
    """
    styles = "\n".join(asset(name) for name in parts if name.endswith(".css"))
    licences = [f"/*\n{asset(name)}\n*/" for name in parts if name.endswith(".LICENSE")]
    script = "\n".join([*licences, *(asset(name) for name in parts if name.endswith(".js")), asset(start)])
    # Only these scripts and styles run, whatever names the data hold, and nothing is asked of any network.
    policy = f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(styles)}'; img-src data:" + (
        "; connect-src 'self'" if live else ""
    )
    filled = asset("page.html")
    parts_of_it = {
        "TITLE": html.escape(title),
        "POLICY": policy,
        "STYLE": styles,
        "DATA": packed(data),
        "SCRIPT": script,
    }
    for name, text in parts_of_it.items():
        before, _, after = filled.partition(f"%{name}%")
        filled = before + text + after
    return filled


def write(text: str, out: Path) -> None:
    """Write a page; missing folders are made."""
    style.check_suffix(out, (SUFFIX,))
    with style.writing(out):
        out.write_text(text, encoding="utf-8")


@cache
def asset(name: str) -> str:
    """A file that belongs to the pages."""
    return resources.files("merlax.figures").joinpath("assets", name).read_text(encoding="utf-8").strip()


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
