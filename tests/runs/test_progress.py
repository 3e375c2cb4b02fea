"""`progress.csv` from whoever wrote it: columns of numbers, or one sentence."""

import os

import numpy as np
import pytest

from merlax.runs import progress
from merlax.runs.recorders import ALWAYS
from merlax.types import UserError

HEADER = ",".join(ALWAYS)
ROW = "1,100,0.5,0.25,,,,elite"


def columns(path, text: str) -> dict[str, np.ndarray]:
    (path / "progress.csv").write_text(text)
    return progress.columns(path / "progress.csv")


def test_numbers_come_as_numbers_and_text_as_text(tmp_path):
    found = columns(tmp_path, f"{HEADER},own\n{ROW},a\n2,200,1.0,inf,,,,,b\n3,300")
    assert found["frames"].tolist() == [100.0, 200.0]
    assert found["champion_score"].tolist() == [0.25, np.inf]
    assert np.isnan(found["best_fitness"]).all()
    assert (found["migrant_fate"] == "elite").tolist() == [True, False]
    assert found["own"].tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "rows"), [("", 0), (HEADER, 0), (f"{HEADER}\n{ROW}\n", 1), (f"{HEADER}\n{ROW}\n2,2", 1)]
)
def test_only_complete_rows_are_counted(text, rows, tmp_path):
    assert progress.number(tmp_path / "progress.csv") == 0
    (tmp_path / "progress.csv").write_text(text)
    assert progress.number(tmp_path / "progress.csv") == rows


def test_a_long_cell_does_not_make_the_others_long(tmp_path):
    found = columns(tmp_path, f"{HEADER},own\n{ROW},{'x ' * 200_000}\n" + f"{ROW},a\n" * 1000)
    assert found["own"].nbytes < 100_000


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"{HEADER}\n1,100\n", "line 2 has 2 cells instead of 8"),
        (f"{HEADER}\n{ROW}\n\n", "line 3 has 0 cells"),
        ("generation,seconds\n1,2\n", "it has no column frames"),
        ("generation,frames,frames\n1,2,3\n", "a name twice"),
        ("generation,frames,\x1b\n1,2,3\n", "cannot be printed"),
        (f"{HEADER}\n{ROW.replace('100', 'x')}\n", "frames is no number"),
        (f"{HEADER}\n{ROW.replace('100', '')}\n", "frames is nan in a row"),
        (f"{HEADER}\n{ROW.replace('100', '1e300')}\n", r"frames is 1e\+300 in a row"),
        (f"{HEADER}\n{ROW.replace('100', '-5')}\n", "frames is -5 in a row"),
        (f"{HEADER}\n{ROW.replace('0.25', 'high')}\n", "champion_score is no number"),
        (f"{HEADER}\n{ROW.replace('0.25', '1e300')}\n", r"champion_score is 1e\+300"),
        (f'{HEADER}\n"open', "not valid CSV|no column"),
    ],
)
def test_what_no_run_writes_is_refused_in_one_sentence(tmp_path, text, reason):
    with pytest.raises(UserError, match=reason) as error:
        columns(tmp_path, text + ("\n" if text.endswith("open") else ""))
    assert str(error.value).startswith(f"'{tmp_path / 'progress.csv'}' cannot be read: ")
    assert "\n" not in str(error.value)


def test_the_newest_row_is_the_last_complete_one(tmp_path):
    path = tmp_path / "progress.csv"
    assert progress.newest(path) is None
    path.write_text(HEADER + "\n")
    assert progress.newest(path) is None
    path.write_text(f"{HEADER}\n" + f"{ROW}\n" * 10_000 + ROW.replace("100", "777") + "\n9,9")
    newest = progress.newest(path)
    assert newest is not None
    assert newest["frames"] == "777"


def test_a_row_without_a_test_has_the_newest_score(tmp_path):
    path = tmp_path / "progress.csv"
    path.write_text("generation,frames,champion_score\n1,10,0.5\n2,20,0.7\n3,30,\n4,40,\n")
    assert progress.newest(path) == {"generation": "4", "frames": "40", "champion_score": "0.7"}
    path.write_text("generation,frames,champion_score\n1,10,\n2,20,\n")
    assert progress.newest(path) == {"generation": "2", "frames": "20", "champion_score": ""}


def test_there_is_no_newest_row_in_what_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "progress.csv")
    assert progress.newest(tmp_path / "progress.csv") is None
