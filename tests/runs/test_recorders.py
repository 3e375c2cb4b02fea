"""Whoever listens to a run hears every generation, whole; what is on disk is a row, or nothing."""

import contextlib
import csv
import importlib
import resource
import struct
import sys
from pathlib import Path

import numpy as np
import pytest

from merlax.runs.recorders import (
    ALWAYS,
    Beginning,
    CsvRecorder,
    FunctionRecorder,
    Recorder,
    Row,
    TensorBoardRecorder,
    Tracker,
    file_recorders,
    numbers,
    recorders,
)
from merlax.types import UserError


def beginning(path: Path, generation: int = 0) -> Beginning:
    return Beginning(path, "ea on a world", {"world": "a world", "seed": 7}, 100, generation, 10 * generation)


def row(generation: int, **more) -> Row:
    """In an order that is not the file's."""
    return {
        "generation": generation,
        "frames": 10 * generation,
        "seconds": 0.5,
        "fitness": np.array([0.5, np.nan], np.float32),
        "mean_fitness": float("nan"),
        "best_fitness": float(np.float32(0.1)),
        "updates": 3,
        "champion_score": 0.25,
        **more,
    }


@pytest.fixture
def progress(tmp_path):
    """A CSV with three rows, still open."""
    recorder = CsvRecorder(tmp_path / "progress.csv")
    recorder.start(beginning(tmp_path))
    for generation in (1, 2, 3):
        recorder.record(row(generation))
    yield recorder
    recorder.stop()


def lines(recorder: CsvRecorder) -> list[list[str]]:
    return list(csv.reader(recorder.path.read_text().splitlines()))


def test_what_every_run_has_comes_first_and_long_rows_of_numbers_last(progress):
    assert lines(progress)[0] == [*ALWAYS, "updates", "fitness"]


def test_a_cell_is_as_short_as_float32_allows_and_empty_where_there_is_no_number(progress):
    cells = dict(zip(*lines(progress)[:2], strict=True))
    assert cells["best_fitness"] == "0.1"
    assert cells["fitness"] == "0.5 nan"
    assert (cells["generation"], cells["updates"]) == ("1", "3")
    assert cells["mean_fitness"] == cells["learner_score"] == cells["migrant_fate"] == ""


def test_a_later_row_may_lack_a_column_but_brings_no_new_one(progress):
    short = row(4)
    del short["updates"]
    progress.record(short)
    assert lines(progress)[-1][len(ALWAYS)] == ""
    with pytest.raises(UserError, match="another version"):
        progress.record(row(5, losses=1))
    assert len(lines(progress)) == 1 + 4


@contextlib.contextmanager
def room_for(path: Path, size: int):
    """No file grows beyond this one's size and a few bytes more."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("size", [0, 5])
def test_a_row_that_does_not_fit_on_the_disk_leaves_no_trace(progress, size):
    before = progress.path.read_bytes()
    with room_for(progress.path, size), pytest.raises(OSError, match=r"No space left|too large"):
        progress.record(row(4))
    assert progress.path.read_bytes() == before
    progress.record(row(4))  # once there is room again
    assert [line[0] for line in lines(progress)[1:]] == ["1", "2", "3", "4"]


def test_a_continued_run_keeps_the_rows_that_its_checkpoint_knows_and_drops_the_rest(progress):
    again = CsvRecorder(progress.path)
    again.start(beginning(progress.path.parent, 2))
    again.record(row(3, champion_score=1.0))
    again.stop()
    found = lines(again)
    assert [line[0] for line in found] == ["generation", "1", "2", "3"]
    assert found[-1][ALWAYS.index("champion_score")] == "1.0"


@pytest.mark.parametrize("damage", [lambda text: "", lambda text: text[:-4], lambda text: text.replace("\n3,", "\n4,")])
def test_a_continued_run_whose_rows_are_gone_is_refused(progress, damage):
    progress.path.write_text(damage(progress.path.read_text()))
    with pytest.raises(UserError, match="lacks rows"):
        CsvRecorder(progress.path).start(beginning(progress.path.parent, 3))


def test_it_is_noticed_when_the_file_is_no_longer_in_its_place(progress):
    assert progress.is_in_place()
    progress.path.rename(progress.path.with_name("elsewhere"))
    assert not progress.is_in_place()
    progress.path.touch()
    assert not progress.is_in_place()


def events(folder: Path):
    """What TensorBoard would read, file by file: length, checksum, message, checksum."""
    from tensorboardX.proto.event_pb2 import Event  # type: ignore[attr-defined]

    for file in sorted(folder.iterdir()):
        data = file.read_bytes()
        while data:
            (length,) = struct.unpack("<Q", data[:8])
            event = Event()
            event.ParseFromString(data[12 : 12 + length])
            yield event
            data = data[16 + length :]


def points(folder: Path) -> dict[str, list[tuple[int, float]]]:
    found: dict[str, list[tuple[int, float]]] = {}
    for event in events(folder):
        for value in event.summary.value:
            found.setdefault(value.tag, []).append((event.step, value.simple_value))
    return found


def test_tensorboard_gets_a_point_of_every_number_over_frames(tmp_path):
    recorder = TensorBoardRecorder(tmp_path / "events")
    recorder.start(beginning(tmp_path))
    recorder.record(row(1))
    recorder.record(row(2, champion_score=0.5))
    recorder.stop()
    found = points(tmp_path / "events")
    assert found["champion_score"] == [(10, 0.25), (20, 0.5)]
    assert found.keys() == {"seconds", "mean_fitness", "best_fitness", "updates", "champion_score"}


def test_tensorboard_hides_what_a_continued_run_does_again(tmp_path):
    recorder = TensorBoardRecorder(tmp_path / "events")
    recorder.start(beginning(tmp_path, generation=2))
    recorder.stop()
    from tensorboardX.proto.event_pb2 import SessionLog  # type: ignore[attr-defined]

    steps = [event.step for event in events(tmp_path / "events") if event.session_log.status == SessionLog.START]
    assert steps == [21]


def test_without_tensorboardx_a_run_writes_its_csv_alone(tmp_path, monkeypatch):
    assert [type(each) for each in file_recorders(tmp_path)] == [TensorBoardRecorder]
    monkeypatch.setitem(sys.modules, "tensorboardX", None)
    assert file_recorders(tmp_path) == []


def test_curves_are_drawn_of_plain_numbers_over_frames():
    assert numbers(row(1, migrant_fate="elite")).keys() == row(1).keys() - {"generation", "frames", "fitness"}


def test_a_function_and_a_recorder_are_callbacks_and_a_number_is_none(tmp_path):
    heard: list[Row] = []
    own = CsvRecorder(tmp_path / "rows.csv")
    first, second = recorders([heard.append, own])
    assert isinstance(first, FunctionRecorder)
    assert isinstance(first, Recorder)
    assert second is own
    assert not first.record(row(1))
    assert [each["generation"] for each in heard] == [1]


def test_what_can_be_neither_called_nor_started_is_refused(unchecked):
    with pytest.raises(UserError, match="3 can be neither called nor started"):
        recorders([3])  # type: ignore[list-item]


@pytest.mark.slow
@pytest.mark.parametrize("library", ["wandb", "trackio"])
def test_a_tracker_gets_every_number(library, tmp_path, monkeypatch):
    pytest.importorskip(library)
    for name, value in {"WANDB_MODE": "offline", "WANDB_DIR": tmp_path, "WANDB_SILENT": "true"}.items():
        monkeypatch.setenv(name, str(value))
    monkeypatch.setenv("TRACKIO_DIR", str(tmp_path))
    tracker = Tracker(library, project="tests")
    tracker.start(beginning(tmp_path / "a-run-of-this-name"))
    tracker.record(row(1))
    tracker.record(row(2, champion_score=0.625))
    tracker.stop()
    if library == "wandb":
        importlib.import_module(library).teardown()  # its process writes the last of it when it ends
    written = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    for expected in (b"a-run-of-this-name", b"champion_score", b"0.625", b"updates"):
        assert expected in written
    assert b"migrant_fate" not in written


def test_a_tracker_that_is_not_installed_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "trackio", None)
    with pytest.raises(UserError, match=r"pip install 'merlax\[trackio\]'"):
        Tracker("trackio")


def test_a_tracker_that_never_started_can_be_stopped(monkeypatch):
    monkeypatch.setitem(sys.modules, "trackio", importlib.import_module("types"))  # something to import, never called
    Tracker("trackio").stop()
