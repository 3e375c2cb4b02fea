"""Files from strangers: regular ones only, no more of them than their kind has, and sizes before memory."""

import io
import os
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from merlax import files
from merlax.files import Shape, Unreadable

LIMIT = 1000
READERS: dict[str, Callable[[Path], object]] = {
    "text": lambda path: files.read_text(path, LIMIT),
    "json": files.read_json,
    "toml": files.read_toml,
    "csv": lambda path: list(files.read_csv(path, LIMIT, cells=LIMIT)),
    "arrays": lambda path: files.read_arrays(path, {}),
    "tail": lambda path: files.read_tail(path, LIMIT),
}


def fifo(path: Path) -> None:
    os.mkfifo(path)


def endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def folder(path: Path) -> None:
    path.mkdir()


def nothing(path: Path) -> None:
    del path


def loop(path: Path) -> None:
    path.symlink_to(path)


@pytest.mark.parametrize("read", READERS.values(), ids=READERS.keys())
@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (fifo, "it is not a regular file"),
        (endless, "it is not a regular file"),
        (folder, "it is a folder"),
        (nothing, "No such file or directory"),
        (loop, "Too many levels of symbolic links"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_is_no_regular_file_is_not_opened(read, make, reason, tmp_path):
    make(tmp_path / "file")
    with pytest.raises(Unreadable) as error:
        read(tmp_path / "file")
    assert str(error.value) == reason


def test_a_link_to_a_regular_file_is_one(tmp_path):
    (tmp_path / "file").write_text("text")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    assert files.read_text(tmp_path / "link", LIMIT) == "text"


def peak_of(function: Callable[[], object]) -> int:
    """The most bytes that a call took at a time."""
    tracemalloc.start()
    try:
        function()
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return peak


@pytest.mark.parametrize("name", ["text", "json", "toml", "csv", "arrays"])
def test_a_file_that_is_too_long_is_not_read(name, tmp_path):
    with (tmp_path / "file").open("wb") as file:
        file.truncate(3_000_000_000)  # which takes no room on disk

    def refuse() -> None:
        with pytest.raises(Unreadable, match=r"it has 3,000,000,000 bytes, and no more than [\d,]+ are read"):
            READERS[name](tmp_path / "file")

    assert peak_of(refuse) < 1_000_000


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[" * 100_000, "nested too deeply"),
        ("[" * 30 + "]" * 30, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
        ("{", "not valid JSON"),
        ("1" * 5000, "not valid JSON"),
        (r'{"a": "\ud800"}', "surrogates not allowed"),
        (r'{"\ud800": 1}', "not printable"),
        (r'{"\u001b[31m": 1}', "not printable"),
        (f'{{"{"a" * 300}": 1}}', "too long"),
    ],
    ids=["lists", "few lists", "objects", "half", "long number", "surrogate", "surrogate name", "escape", "long name"],
)
def test_json_that_nothing_else_could_handle_is_refused(text, reason, tmp_path):
    (tmp_path / "file").write_text(text)
    with pytest.raises(Unreadable, match=reason) as error:
        files.read_json(tmp_path / "file")
    assert len(str(error.value)) < 300


@pytest.mark.parametrize("text", ["a = " + "[" * 10_000, "a." * 2_000 + "a = 1", "a = 1\na = 2"])
def test_toml_that_nothing_else_could_handle_is_refused(text, tmp_path):
    (tmp_path / "file").write_text(text)
    with pytest.raises(Unreadable, match="not valid TOML"):
        files.read_toml(tmp_path / "file")


def test_what_is_no_text_is_refused(tmp_path):
    (tmp_path / "file").write_bytes(b"\xff\xfe")
    for name in ("text", "json", "toml", "csv"):
        with pytest.raises(Unreadable, match="it is not text"):
            READERS[name](tmp_path / "file")


def rows(path: Path, text: str, cells: int = LIMIT, *, whole_lines: bool = False) -> list[list[str]]:
    path.write_text(text)
    return list(files.read_csv(path, LIMIT, cells=cells, whole_lines=whole_lines))


def test_a_table_comes_row_by_row_and_a_half_last_line_is_left_out_if_asked(tmp_path):
    text = 'a,b\n1,"x, y"\n2,z'
    assert rows(tmp_path / "a", text) == [["a", "b"], ["1", "x, y"], ["2", "z"]]
    assert rows(tmp_path / "a", text, whole_lines=True) == [["a", "b"], ["1", "x, y"]]


def test_a_table_with_more_cells_than_it_may_have_is_refused(tmp_path):
    with pytest.raises(Unreadable, match="more than 3 cells"):
        rows(tmp_path / "a", "a,b\n1,2\n", cells=3)


def test_a_line_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "CSV_LINE_BYTES", 100)
    with pytest.raises(Unreadable, match="a line in it has more than 100 bytes"):
        rows(tmp_path / "a", "a" * 200)


def test_only_the_end_of_a_long_file_is_read(tmp_path):
    (tmp_path / "log").write_bytes(b"x" * 100_000 + b"\xfflast words")
    assert files.read_tail(tmp_path / "log", 11) == "\ufffdlast words"[-11:]


WANTED = {"a": Shape((2, 3), "float32"), "b": Shape((), "int32")}
GOOD = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.array(7, np.int32)}


def test_the_wanted_arrays_come_back_and_others_are_not_touched(tmp_path):
    np.savez(tmp_path / "a.npz", **GOOD, other=np.array([object()]))  # type: ignore[arg-type]
    found = files.read_arrays(tmp_path / "a.npz", WANTED)
    assert found.keys() == GOOD.keys()
    for name, array in GOOD.items():
        np.testing.assert_array_equal(found[name], array)
        assert found[name].dtype == array.dtype


def test_an_array_in_the_order_of_fortran_is_the_same_array(tmp_path):
    np.savez(tmp_path / "a.npz", **(GOOD | {"a": np.asfortranarray(GOOD["a"])}))  # type: ignore[arg-type]
    np.testing.assert_array_equal(files.read_arrays(tmp_path / "a.npz", WANTED)["a"], GOOD["a"])


@pytest.mark.parametrize(
    ("array", "reason"),
    [
        (np.zeros((3, 2), np.float32), r"a has shape \(3, 2\) and type float32"),
        (np.zeros((2, 3), np.int32), r"a has shape \(2, 3\) and type int32"),
        (np.zeros((2, 3), ">f4"), "a has shape"),
        (np.full((2, 3), None), "a has shape .* and type object"),
        (np.zeros(2000, np.float32), "a is larger than it should be"),
    ],
    ids=["shape", "type", "byte order", "objects", "large"],
)
def test_an_array_of_another_kind_is_refused_without_advice(array, reason, tmp_path):
    np.savez(tmp_path / "a.npz", **(GOOD | {"a": array}))  # type: ignore[arg-type]
    with pytest.raises(Unreadable, match=reason) as error:
        files.read_arrays(tmp_path / "a.npz", WANTED)
    assert "pickle" not in str(error.value)


def entry(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda data: data[:-4], "cut short"),
        (lambda data: data + b"0000", "longer than it says"),
        (lambda data: b"not numpy" + data, "not an array of plain numbers"),
        (lambda data: data.replace(b"(2, 3)", b"((((((")[:100], "not an array of plain numbers"),
        (lambda data: data.replace(b"\x01\x00", b"\x02\x00", 1), "not an array of plain numbers"),
        (lambda data: data[:8] + b"\xff\xff" + data[10:], "not an array of plain numbers"),
        (lambda data: data.replace(b"<f4", b"<f\xc3"), "not an array of plain numbers"),
    ],
    ids=["short", "long", "no magic", "broken header", "version", "long header", "strange type"],
)
def test_an_array_that_lies_about_itself_is_refused_without_advice(change, reason, tmp_path):
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("a.npy", change(entry(GOOD["a"])))
        archive.writestr("b.npy", entry(GOOD["b"]))
    with pytest.raises(Unreadable, match=reason) as error:
        files.read_arrays(tmp_path / "a.npz", WANTED)
    assert "pickle" not in str(error.value)
    assert "trust" not in str(error.value)


def test_a_compressed_array_is_refused_before_it_is_unpacked(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", bytes(50_000_000))

    def refuse() -> None:
        with pytest.raises(Unreadable, match="a is compressed"):
            files.read_arrays(tmp_path / "a.npz", {"a": Shape((3,), "float32")})

    assert peak_of(refuse) < 1_000_000


def test_more_numbers_than_the_file_has_bytes_are_not_allocated(tmp_path):
    np.savez(tmp_path / "a.npz", **GOOD)  # type: ignore[arg-type]

    def refuse() -> None:
        with pytest.raises(Unreadable, match="less than the arrays"):
            files.read_arrays(tmp_path / "a.npz", {"a": Shape((10**9,), "float32")})

    assert peak_of(refuse) < 1_000_000


def test_an_archive_with_a_long_list_of_contents_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        for number in range(3000):
            archive.writestr(str(number), b"")
    with pytest.raises(Unreadable, match="no archive of a few arrays"):
        files.read_arrays(tmp_path / "a.npz", {})


def test_any_flipped_byte_of_an_archive_is_noticed_or_does_no_harm(tmp_path):
    np.savez(tmp_path / "a.npz", **GOOD)  # type: ignore[arg-type]
    whole = (tmp_path / "a.npz").read_bytes()
    for place in range(len(whole)):
        data = bytearray(whole)
        data[place] ^= 1 << place % 8
        (tmp_path / "a.npz").write_bytes(data)
        try:
            found = files.read_arrays(tmp_path / "a.npz", WANTED)
            assert all(np.array_equal(found[name], GOOD[name]) for name in GOOD)
        except Unreadable:
            pass  # noticed


def test_an_array_that_is_missing_is_named(tmp_path):
    np.savez(tmp_path / "a.npz", a=GOOD["a"])
    with pytest.raises(Unreadable, match="it holds no array b"):
        files.read_arrays(tmp_path / "a.npz", WANTED)


def test_a_file_that_cannot_hold_what_it_should_is_refused(tmp_path):
    (tmp_path / "a").write_bytes(b"123")
    files.check_size(tmp_path / "a", 3)
    with pytest.raises(Unreadable, match="'a' has 3 bytes, and what it should hold has 4"):
        files.check_size(tmp_path / "a", 4)


def test_memory_is_filled_from_a_file_that_is_long_enough(tmp_path):
    (tmp_path / "a").write_bytes(b"12345")
    target = bytearray(3)
    files.read_into(tmp_path / "a", memoryview(target))
    assert target == b"123"
    with pytest.raises(Unreadable, match="'a' is cut short"):
        files.read_into(tmp_path / "a", memoryview(bytearray(6)))
