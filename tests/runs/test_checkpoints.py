"""A checkpoint comes back exactly, or one sentence says why not; nothing in it is ever executed."""

import json
import logging
import os
import pickle
import shutil
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import merlax
from merlax.runs import checkpoints, policies, snapshots
from merlax.runs.checkpoints import Position
from merlax.types import UserError
from tests.support.states import SIDE, some_state
from tests.support.trees import same

CONFIG = {"world": "rover-3", "algorithm": "merl", "seed": 1}
RUN = checkpoints.identity(CONFIG)


def save(folder: Path, generation: int, run=RUN) -> None:
    checkpoints.save(
        folder, Position(generation, 10 * generation, 0.5), run, snapshots.snapshot(some_state(generation))
    )


def test_of_a_finished_run_only_the_newest_is_kept_or_none(tmp_path):
    for generation in (1, 2):
        save(tmp_path / "checkpoints", generation)
    save(tmp_path / "checkpoints" / "midway", 3)
    checkpoints.tidy(tmp_path / "checkpoints", keep=True)
    assert [path.name for path in (tmp_path / "checkpoints").iterdir()] == ["2"]
    checkpoints.tidy(tmp_path / "checkpoints", keep=False)
    assert not (tmp_path / "checkpoints").exists()
    checkpoints.tidy(tmp_path / "checkpoints", keep=True)  # which is no error


def newest(folder: Path):
    found = checkpoints.newest(folder, RUN, some_state(0))
    assert found is not None
    return found


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run") / "checkpoints"
    for generation in (1, 2, 3):
        save(folder, generation)
    return folder


@pytest.fixture
def folder(saved, tmp_path):
    return Path(shutil.copytree(saved, tmp_path / "checkpoints"))


def test_it_comes_back_exactly_and_only_two_are_kept(folder):
    assert checkpoints.generations(folder) == [2, 3]
    position, back = newest(folder)
    assert position == Position(3, 30, 0.5)
    assert same(back, some_state(3))


def test_a_state_with_other_arrays_is_refused(folder):
    other = some_state(0) | {"weights": jnp.zeros((5, 4))}
    with pytest.raises(UserError, match="weights has another shape or type"):
        checkpoints.load(folder / "3", RUN, other)
    with pytest.raises(UserError, match="other arrays than this run"):
        checkpoints.load(folder / "3", RUN, {"weights": jnp.zeros((4, 5))})


def test_without_any_there_is_nothing_to_go_on_from(tmp_path):
    assert checkpoints.newest(tmp_path / "checkpoints", RUN, some_state(0)) is None


def test_what_a_killed_process_left_of_a_save_is_no_checkpoint_and_removed_by_the_next(folder):
    left = folder / "4.orbax-checkpoint-tmp"
    shutil.copytree(folder / "3", left)
    assert newest(folder)[0].generation == 3
    save(folder, 5)
    assert not left.exists()
    assert checkpoints.generations(folder) == [3, 5]


def largest(folder: Path) -> Path:
    """The piece of an array that has the most numbers."""
    return max((file for file in folder.rglob("[0-9]*") if file.is_file()), key=lambda file: file.stat().st_size)


def cut_short(folder: Path) -> None:
    file = largest(folder)
    file.write_bytes(file.read_bytes()[:-100])


def flip_a_bit(folder: Path) -> None:
    file = largest(folder)
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)


def empty_all_files(folder: Path) -> None:
    for file in folder.rglob("*"):
        if file.is_file():
            file.write_bytes(b"")


def empty(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.mkdir()


def edit_the_manifest(folder: Path) -> None:
    file = folder / "manifest" / "metadata"
    file.write_text(file.read_text().replace('"frames": 30', '"frames": 31'))


def change_the_manifest(**changes):
    """With a checksum that fits, as a stranger can make it."""

    def change(folder: Path) -> None:
        file = folder / "manifest" / "metadata"
        manifest = json.loads(file.read_text()) | changes
        del manifest["checksum"]
        file.write_text(json.dumps(manifest | {"checksum": checkpoints._digest(manifest)}))

    return change


def nest_deeply(folder: Path) -> None:
    (folder / "manifest" / "metadata").write_text("[" * 100_000)


def rename_from_the_one_before(folder: Path) -> None:
    shutil.rmtree(folder)
    shutil.copytree(folder.with_name("2"), folder)


def put_a_fifo_into(name: str):
    def change(folder: Path) -> None:
        (folder / name).unlink()
        os.mkfifo(folder / name)

    return change


def claim_to_be_huge(folder: Path) -> None:
    file = folder / "state" / "weights" / ".zarray"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"shape": [10**12], "chunks": [10**12]}))


def of_format(number: int):
    def change(folder: Path) -> None:
        file = folder / "manifest" / "metadata"
        file.write_text(json.dumps(json.loads(file.read_text()) | {"format": number}))

    return change


def from_a_run_with(**changes):
    def replace(folder: Path) -> None:
        shutil.rmtree(folder)
        save(folder.parent, 3, checkpoints.identity(CONFIG | changes))

    return replace


DAMAGES = [
    (cut_short, "is damaged"),
    (flip_a_bit, "is damaged"),
    (empty_all_files, "is damaged"),
    (empty, "is damaged"),
    (edit_the_manifest, "is damaged"),
    (change_the_manifest(position=None), "position is None"),
    (change_the_manifest(position={"generation": "3"}), "position.generation is '3'"),
    (change_the_manifest(position={"generation": 3}), "it lacks 'frames'"),
    (change_the_manifest(arrays=[]), "arrays is []"),
    (change_the_manifest(arrays={"weights": [[10**12], "float32", 1]}), "other arrays than this run"),
    (change_the_manifest(run=3), "run is 3"),
    (nest_deeply, "nested too deeply"),
    (rename_from_the_one_before, "another number than its folder"),
    (put_a_fifo_into("manifest/metadata"), "not a regular file"),
    (put_a_fifo_into("state/weights/.zarray"), "not a regular file"),
    (put_a_fifo_into("state/weights/0"), "not a regular file"),
    (claim_to_be_huge, "not stored as 20 plain numbers"),
    (of_format(checkpoints.FORMAT + 1), "by a newer version"),
    (of_format(checkpoints.FORMAT - 1), "by an older version"),
    (from_a_run_with(world="rover-4"), "another world ('rover-4', not 'rover-3')"),
    (from_a_run_with(algorithm="ea"), "another algorithm"),
    (from_a_run_with(seed=2), "other settings"),
]


@pytest.mark.parametrize(("damage", "sentence"), DAMAGES, ids=[f"{d.__name__}-{s}" for d, s in DAMAGES])
def test_a_bad_one_is_named_and_the_one_before_it_used(folder, damage, sentence, caplog):
    damage(folder / "3")
    with caplog.at_level(logging.WARNING, "merlax"):
        position, back = newest(folder)
    assert position.generation == 2
    assert same(back, some_state(2))
    assert sentence in caplog.text
    assert checkpoints.generations(folder) == [2]  # the bad one will not be in the way of the next


def test_without_a_good_one_a_sentence_ends_it(folder):
    shutil.rmtree(folder / "2")
    flip_a_bit(folder / "3")
    with pytest.raises(UserError, match=r"is damaged .* no other checkpoint"):
        checkpoints.newest(folder, RUN, some_state(0))


def test_a_name_that_is_no_number_of_a_checkpoint_is_left_alone(folder):
    for name in ("007", "4.bad", "x", "\N{SUPERSCRIPT TWO}"):
        (folder / name).mkdir()
    assert checkpoints.generations(folder) == [2, 3]


def test_any_flipped_byte_is_noticed_or_does_no_harm(folder):
    chance = np.random.default_rng(0)
    files = [file for file in (folder / "3").rglob("*") if file.is_file()]
    for number in range(40):
        file = files[number % len(files)]
        whole = file.read_bytes()
        data = bytearray(whole)
        data[chance.integers(len(data))] ^= 1 << chance.integers(8)
        file.write_bytes(data)
        try:
            position, arrays = checkpoints.load(folder / "3", RUN, some_state(0))
            assert position == Position(3, 30, 0.5)
            assert same(snapshots.restore(some_state(0), arrays), some_state(3))
        except UserError:
            pass  # noticed
        file.write_bytes(whole)


class Attack:
    """Leaves a file when it is unpickled."""

    def __init__(self, mark: Path):
        self.mark = mark

    def __reduce__(self):
        return Path.touch, (self.mark,)


def test_nothing_from_a_stranger_is_executed(folder, tmp_path):
    mark = tmp_path / "executed"
    attack = pickle.dumps(Attack(mark))
    pickle.loads(attack)
    assert mark.exists()  # the attack works on whoever unpickles
    mark.unlink()

    for file in (folder / "3").rglob("*"):
        if file.is_file():
            file.write_bytes(attack)
    with pytest.raises(UserError):
        checkpoints.load(folder / "3", RUN, some_state(0))
    for file in (folder / "2").rglob("*"):
        if file.is_file() and "manifest" not in file.parent.name:
            file.write_bytes(attack)
    with pytest.raises(UserError):
        checkpoints.load(folder / "2", RUN, some_state(0))

    run = tmp_path / "run"
    policies.save(run / "champion", merlax.TeamPolicy(jax.random.key(0), SIDE, (4,)))
    weights = run / "champion" / "weights.npz"
    with np.load(weights) as file:
        names = file.files
    evil: dict[str, Any] = {name: np.array(Attack(mark), dtype=object) for name in names}
    np.savez(weights, **evil)
    with pytest.raises(UserError, match="no champion"):
        policies.load(run / "champion")
    weights.write_bytes(attack)
    with pytest.raises(UserError, match="no champion"):
        policies.load(run / "champion")
    for name in ("config.json", "progress.csv", "final.json"):
        (run / name).write_bytes(attack)
    with pytest.raises(UserError):
        merlax.load(run)
    with pytest.raises(UserError):
        merlax.resume(run, quiet=True)
    assert not mark.exists()


def test_an_array_that_no_number_divides_is_one_file(tmp_path):
    size = 1_000_003  # a prime, and more than a piece
    assert 4 * size > checkpoints.PIECE_BYTES
    for name, numbers in (("prime", size), ("even", 4_000_000)):
        state = {"weights": jnp.arange(numbers, dtype=jnp.float32)}
        checkpoints.save(tmp_path / name, Position(1), RUN, snapshots.snapshot(state))
        found = checkpoints.newest(tmp_path / name, RUN, {"weights": jnp.zeros(numbers)})
        assert found is not None
        np.testing.assert_array_equal(found[1]["weights"], state["weights"])
    assert len(list((tmp_path / "prime").rglob("*weights/[0-9]"))) == 1
    assert len(list((tmp_path / "even").rglob("*weights/[0-9]"))) == 4
