"""A command never dies of not being heard, and whatever shows its words can show them."""

import contextlib
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from merlax import cli
from merlax.cli import streams
from tests.support.killing import options

FULL = "merlax: Standard output cannot be written (No space left on device); send it elsewhere, such as to a file.\n"
CLOSED = "merlax: Standard output cannot be written (it is closed); send it elsewhere, such as to a file.\n"

pytestmark = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")


def full():
    return open("/dev/full", "w")


@pytest.mark.parametrize("args", [["envs"], ["envs", "--json"], ["train", "--help"], ["--version"]], ids=" ".join)
def test_a_full_disk_is_said_in_one_sentence(args, capsys):
    with full() as stream, contextlib.redirect_stdout(stream):  # which closes without an error of its own
        assert cli.main(args) == 2
    assert capsys.readouterr().err == FULL


def test_a_closed_output_is_said_in_one_sentence(capsys):
    with contextlib.redirect_stdout(None):
        assert cli.main(["envs"]) == 2
    assert capsys.readouterr().err == CLOSED


def test_who_prints_nothing_does_not_mind():
    with contextlib.redirect_stdout(None), streams.guarded() as output:
        pass
    assert output.error is None


@pytest.mark.parametrize("stream", [None, full], ids=["closed", "full"])
def test_an_error_that_nobody_hears_is_still_in_the_exit_code(stream):
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.redirect_stderr(stream and stack.enter_context(stream())))
        assert cli.main(["trian"]) == 2


def printed(text, encoding):
    bytes_ = io.BytesIO()
    stream = io.TextIOWrapper(bytes_, encoding=encoding)
    with contextlib.redirect_stdout(stream), streams.guarded() as output:
        print(text, end="")
    assert output.error is None
    assert stream.errors == "strict"  # as it was
    return bytes_.getvalue()


def test_a_terminal_without_a_sign_shows_it_in_other_words():
    assert printed("⠸ 0.9 ± 0.1 → σ … é 漢", "ascii") == rb"* 0.9 +/- 0.1 -> sigma ... e \u6f22"
    assert printed("0.9 ± 0.1 → é", "latin-1") == b"0.9 \xb1 0.1 -> \xe9"
    assert printed("0.9 ± 0.1", "utf-8") == "0.9 ± 0.1".encode()


def test_the_name_of_a_file_that_is_no_text_is_printed_as_it_is():
    assert printed("runs/\udcff", "utf-8") == b"runs/\xff"


@pytest.mark.parametrize("args", [["envs"], ["reproduce", "--list"], ["evaluate", "--help"], ["envs", "--nix"]])
def test_tables_and_help_fit_an_ascii_terminal(args):
    bytes_ = io.BytesIO()
    stream = io.TextIOWrapper(bytes_, encoding="ascii")
    with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream):
        with contextlib.suppress(SystemExit):
            cli.main(args)
        stream.flush()
    assert bytes_.getvalue().isascii()
    assert b"fault of merlax" not in bytes_.getvalue()


@pytest.mark.slow
def test_a_run_that_nobody_hears_is_not_lost(tmp_path, capsys):
    args = ["train", *options("tests.probes.rendezvous:Rendezvous", "ea"), "--out", str(tmp_path / "run")]
    with full() as stream, contextlib.redirect_stdout(stream):
        assert cli.main(args) == 2
    assert capsys.readouterr().err == FULL
    assert json.loads((tmp_path / "run" / "final.json").read_text())["finished"] is True


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "said"),
    [("envs >/dev/full", FULL), ("envs <&- >&-", CLOSED), ("envs <&- >&- 2>&-", ""), ("trian 2>/dev/full", "")],
)
def test_a_process_ends_with_one_sentence_and_nothing_else(command, said):
    line = f"exec '{sys.executable}' -m merlax.cli {command}"
    ended = subprocess.run(["sh", "-c", line], capture_output=True, text=True)
    assert ended.stderr == said
    assert ended.returncode == 2
