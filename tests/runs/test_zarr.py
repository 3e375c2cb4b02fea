"""Arrays of a checkpoint: as large as asked for, as their files explain, or refused."""

import json
import os
import shutil
import tracemalloc

import numpy as np
import pytest

from merlax.files import Unreadable
from merlax.runs import checkpoints, zarr
from merlax.runs.checkpoints import Position

ARRAYS = {
    "weights": np.arange(20, dtype=np.float32).reshape(4, 5),
    "flags": np.array([True, False]),
    "rounds": np.array(3, np.int32),
    "nothing but zeros": np.zeros(7, np.float32),
    "long": np.arange(2_500_000, dtype=np.float32),  # of several pieces
}


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("checkpoints")
    checkpoints.save(folder, Position(3, 30, 0.5), {}, ARRAYS)
    return folder / "3" / "state"


@pytest.fixture
def folder(saved, tmp_path):
    return shutil.copytree(saved / "weights", tmp_path / "weights")


@pytest.mark.parametrize("name", ARRAYS)
def test_what_orbax_wrote_comes_back(saved, name):
    array = ARRAYS[name]
    found = zarr.read(saved / name, array.size, array.dtype.name)
    assert found.dtype == array.dtype
    np.testing.assert_array_equal(found, array.reshape(-1))


def test_a_long_array_lies_in_several_pieces(saved):
    assert len(list((saved / "long").glob("[0-9]*"))) > 1


CLAIMS = [
    {"shape": [10**12]}, {"shape": [20, 20]}, {"shape": []}, {"shape": "x"}, {"chunks": [10**12]}, {"chunks": [0]},
    {"chunks": []}, {"dtype": "<f8"}, {"dtype": "|O"}, {"dtype": ["a"]}, {"compressor": {"id": "blosc"}},
    {"filters": []}, {"fill_value": 1.0}, {"zarr_format": 3}, {"order": "F"},
]  # fmt: skip


@pytest.mark.parametrize("claim", CLAIMS, ids=str)
def test_another_claim_than_was_asked_for_is_refused_before_memory_is_taken(folder, claim):
    description = json.loads((folder / ".zarray").read_text())
    (folder / ".zarray").write_text(json.dumps(description | claim))
    tracemalloc.start()
    with pytest.raises(Unreadable):
        zarr.read(folder, 20, "float32")
    assert tracemalloc.get_traced_memory()[1] < 1_000_000
    tracemalloc.stop()


def test_more_numbers_than_the_files_hold_are_not_allocated(folder):
    many = 10**11
    description = json.loads((folder / ".zarray").read_text()) | {"shape": [many], "chunks": [many]}
    (folder / ".zarray").write_text(json.dumps(description))
    with pytest.raises(Unreadable, match="'0' has 80 bytes"):
        zarr.read(folder, many, "float32")


@pytest.mark.parametrize("damage", ["short", "long", "missing", "fifo", "endless"])
def test_a_piece_that_is_not_what_it_should_be_is_refused(folder, damage):
    piece = folder / "0"
    whole = piece.read_bytes()
    piece.unlink()
    if damage in ("short", "long"):
        piece.write_bytes(whole[:-1] if damage == "short" else whole + b"0")
    if damage == "fifo":
        os.mkfifo(piece)
    if damage == "endless":
        piece.symlink_to("/dev/zero")
    with pytest.raises(Unreadable):
        zarr.read(folder, 20, "float32")
