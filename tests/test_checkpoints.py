"""A checkpoint comes back exactly, or one sentence says why not; nothing in it is ever executed."""

import json
import logging
import pickle
import shutil
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import merlax
from merlax.core import replay
from merlax.runs import checkpoints
from merlax.runs import policies as champions
from merlax.runs.checkpoints import Position
from merlax.types import UserError

CONFIG = {"world": "rover-3", "algorithm": "merl", "seed": 1}
RUN = checkpoints.identity(CONFIG)


def state(seed: int, filled: int = 3):
    """Something with weights, a counter and a buffer that is not full."""
    keys = jax.random.split(jax.random.key(seed), 2)
    buffer = replay.create(10, 2, 3, 1)
    rows = buffer.rows.at[:, :filled].set(jax.random.normal(keys[0], (1, filled, 2, 16)))
    buffer = replay.Buffer(rows, jnp.array([filled]), jnp.array([filled]), 3, 1)
    return {"weights": jax.random.normal(keys[1], (4, 5)), "rounds": jnp.array(seed), "buffer": buffer}


def save(folder: Path, generation: int, run=RUN) -> None:
    checkpoints.save(folder, Position(generation, 10 * generation, 0.5), run, checkpoints.snapshot(state(generation)))


def same(a, b) -> bool:
    return all(np.array_equal(x, y) for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True))


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
    position, back = checkpoints.newest(folder, RUN, state(0))
    assert position == Position(3, 30, 0.5)
    assert same(back, state(3))


def test_only_the_filled_part_of_a_buffer_is_stored():
    assert checkpoints.snapshot(state(1, filled=3))["buffer.rows.0"].shape == (1, 3, 2, 16)


def largest(folder: Path) -> Path:
    return max((file for file in folder.rglob("*") if file.is_file()), key=lambda file: file.stat().st_size)


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


def newer(folder: Path) -> None:
    file = folder / "manifest" / "metadata"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"format": checkpoints.FORMAT + 1}))


def from_a_run_with(**changes):
    def replace(folder: Path) -> None:
        save(folder.parent, 3, checkpoints.identity(CONFIG | changes))

    return replace


DAMAGES = [
    (cut_short, "is damaged"),
    (flip_a_bit, "is damaged"),
    (empty_all_files, "is damaged"),
    (empty, "is damaged"),
    (edit_the_manifest, "is damaged"),
    (newer, "newer version"),
    (from_a_run_with(world="rover-4"), "another world ('rover-4', not 'rover-3')"),
    (from_a_run_with(algorithm="ea"), "another algorithm"),
    (from_a_run_with(seed=2), "other settings"),
]


@pytest.mark.parametrize(("damage", "sentence"), DAMAGES, ids=[f"{d.__name__}-{s}" for d, s in DAMAGES])
def test_a_bad_one_is_named_and_the_one_before_it_used(folder, damage, sentence, caplog):
    damage(folder / "3")
    with caplog.at_level(logging.WARNING, "merlax"):
        position, back = checkpoints.newest(folder, RUN, state(0))
    assert position.generation == 2
    assert same(back, state(2))
    assert sentence in caplog.text
    assert checkpoints.generations(folder) == [2]  # the bad one will not be in the way of the next


def test_without_a_good_one_a_sentence_ends_it(folder):
    shutil.rmtree(folder / "2")
    flip_a_bit(folder / "3")
    with pytest.raises(UserError, match=r"is damaged .* no other checkpoint"):
        checkpoints.newest(folder, RUN, state(0))


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
            position, arrays = checkpoints.load(folder / "3", RUN, state(0))
            assert position == Position(3, 30, 0.5)
            assert same(checkpoints.restore(state(0), arrays), state(3))
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
        checkpoints.load(folder / "3", RUN, state(0))
    for file in (folder / "2").rglob("*"):
        if file.is_file() and "manifest" not in file.parent.name:
            file.write_bytes(attack)
    with pytest.raises(UserError):
        checkpoints.load(folder / "2", RUN, state(0))

    run = tmp_path / "run"
    champions.save(run / "champion", merlax.TeamPolicy(jax.random.key(0), 2, 3, 1, (4,)))
    weights = run / "champion" / "weights.npz"
    with np.load(weights) as file:
        names = file.files
    np.savez(weights, **{name: np.array(Attack(mark), dtype=object) for name in names})
    with pytest.raises(UserError, match="no champion"):
        champions.load(run / "champion")
    weights.write_bytes(attack)
    with pytest.raises(UserError, match="no champion"):
        champions.load(run / "champion")
    for name in ("config.json", "progress.csv", "final.json"):
        (run / name).write_bytes(attack)
    with pytest.raises(UserError):
        merlax.load(run)
    with pytest.raises(UserError):
        merlax.resume(run, quiet=True)
    assert not mark.exists()
