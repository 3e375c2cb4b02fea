"""A champion on disk: exact, alone, harmless, and refused in one sentence when it is broken."""

import dataclasses
import json
import os
import pickle
import tracemalloc
import zipfile

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from merlax import envs
from merlax.core.networks import TeamPolicy, tuned
from merlax.envs.base import Box, Discrete, Side
from merlax.runs import policies
from merlax.types import UserError

SIDE = Side.equal(3, obs_size=5, act_size=2)


@pytest.fixture
def policy() -> TeamPolicy:
    return TeamPolicy(jax.random.key(0), SIDE, (4, 6))


@pytest.fixture
def folder(policy, tmp_path):
    policies.save(tmp_path / "champion", policy)
    return tmp_path / "champion"


def test_a_champion_comes_back_bit_for_bit(policy, folder):
    loaded = policies.load(folder)
    assert jax.tree.structure(loaded) == jax.tree.structure(policy)
    assert all(np.array_equal(a, b) for a, b in zip(jax.tree.leaves(loaded), jax.tree.leaves(policy), strict=True))


def test_a_tuned_champion_comes_back_with_its_gains(policy, tmp_path):
    gain = np.random.default_rng(0).normal(size=(3, 5)).astype(np.float32)
    policies.save(tmp_path / "tuned", tuned(policy, jnp.asarray(gain)))
    loaded = policies.load(tmp_path / "tuned")
    assert loaded.gain is not None
    assert np.array_equal(loaded.gain, gain)


UNLIKE = Side(obs=(Box(1), Box(3)), action=(Box(2), Discrete(3)), masked=True, leaving=True)


def test_a_champion_whose_agents_differ_or_choose_acts_as_before(tmp_path):
    policy = TeamPolicy(jax.random.key(0), UNLIKE, (4,))
    policies.save(tmp_path / "unlike", policy)
    loaded = policies.load(tmp_path / "unlike")
    assert jax.tree.structure(loaded) == jax.tree.structure(policy)
    obs = jax.random.normal(jax.random.key(1), (2, UNLIKE.obs_size))
    np.testing.assert_array_equal(loaded(obs), policy(obs))
    policies.check_fits(loaded, UNLIKE, "It")
    other = dataclasses.replace(UNLIKE, action=(Box(2), Box(3)), masked=False, obs=(Box(4), Box(3)))
    with pytest.raises(UserError, match="It was trained for another world: its obs_size is 8, this world's is 6"):
        policies.check_fits(loaded, other, "It")


@pytest.mark.parametrize("change", [{"choose": [True]}, {"masked": None}, {"obs_sizes": [2, 2]}, {"act_sizes": [1, 1]}])
def test_spaces_that_do_not_fit_each_other_are_refused(tmp_path, change):
    policies.save(tmp_path / "unlike", TeamPolicy(jax.random.key(0), UNLIKE, (4,)))
    path = tmp_path / "unlike" / "policy.json"
    said = json.loads(path.read_text()) | change
    path.write_text(json.dumps({name: value for name, value in said.items() if value is not None}))
    with pytest.raises(UserError, match=r"holds no champion that merlax can read .*do not fit"):
        policies.load(tmp_path / "unlike")


def test_saving_again_replaces_it_and_leaves_nothing_else(folder):
    other = TeamPolicy(jax.random.key(1), SIDE, (4, 6))
    policies.save(folder, other)
    assert np.array_equal(policies.load(folder).heads.weight, other.heads.weight)
    assert [p.name for p in folder.parent.iterdir()] == ["champion"]


def test_a_save_killed_between_its_renames_loses_nothing(policy, folder):
    folder.rename(folder.with_name("champion.old"))
    assert np.array_equal(policies.load(folder).heads.weight, policy.heads.weight)


def test_another_save_that_ends_early_after_that_loses_nothing_either(policy, folder):
    folder.rename(folder.with_name("champion.old"))
    folder.with_name("champion.new").touch()  # in the way
    with pytest.raises(FileExistsError):
        policies.save(folder, policy)
    assert np.array_equal(policies.load(folder).heads.weight, policy.heads.weight)


@pytest.mark.parametrize("name", ["policy.json", "weights.npz"])
@pytest.mark.parametrize("damage", ["cut", "empty", "missing"])
def test_a_broken_champion_is_refused(folder, name, damage):
    content = (folder / name).read_bytes()
    (folder / name).unlink()
    if damage != "missing":
        (folder / name).write_bytes(content[: len(content) // 2] if damage == "cut" else b"")
    with pytest.raises(UserError, match="no champion"):
        policies.load(folder)


def test_a_champion_with_nan_is_refused(folder, policy):
    broken = jax.tree.map(lambda leaf: leaf.at[0].set(np.nan), policy)
    policies.save(folder, broken)
    with pytest.raises(UserError, match="not finite"):
        policies.load(folder)


def test_a_champion_of_another_format_is_refused(folder):
    sizes = json.loads((folder / "policy.json").read_text())
    (folder / "policy.json").write_text(json.dumps(sizes | {"format": 99}))
    with pytest.raises(UserError, match="another version"):
        policies.load(folder)


def test_a_champion_of_another_world_is_refused(policy):
    policies.check_fits(policy, SIDE, "The champion")
    with pytest.raises(
        UserError, match=r"^The champion was trained for another world: its num_agents is 3, .* is 12\.$"
    ):
        policies.check_fits(policy, envs.make("rover-6").sides[0], "The champion")


class Exploit:
    """Unpickling it leaves a mark."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return (open, (str(self.mark), "w"))


def test_a_pickled_array_in_a_champion_is_not_executed(folder, tmp_path):
    mark = tmp_path / "executed"
    evil = np.array([Exploit(mark)], dtype=object)
    np.savez(folder / "weights.npz", allow_pickle=True, **{"heads.weight": evil})
    with zipfile.ZipFile(folder / "weights.npz") as file:
        assert pickle.dumps(Exploit(mark))[:2] in file.read("heads.weight.npy")
    with pytest.raises(UserError):
        policies.load(folder)
    assert not mark.exists()


def refusal(folder) -> tuple[str, int]:
    """The sentence that a champion gets, and the most memory that it took to find it."""
    tracemalloc.start()
    try:
        with pytest.raises(UserError, match="no champion") as error:
            policies.load(folder)
        return str(error.value), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def pack(folder, name: str, megabytes: int) -> None:
    """Add an array of zeros to a champion, packed into a thousandth of its size."""
    with zipfile.ZipFile(folder / "weights.npz", "a", zipfile.ZIP_DEFLATED) as archive, archive.open(name, "w") as file:
        for _ in range(megabytes):
            file.write(bytes(1_000_000))


def test_a_huge_array_beside_a_champion_is_not_unpacked(folder, policy):
    pack(folder, "extra.npy", 100)
    policies.load(folder)  # compiled, or whatever else is done once
    tracemalloc.start()
    loaded = policies.load(folder)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert np.array_equal(loaded.heads.weight, policy.heads.weight)
    assert peak < 1_000_000


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_huge_array_in_place_of_a_champions_own_is_not_unpacked(folder):
    pack(folder, "heads.weight.npy", 100)
    sentence, peak = refusal(folder)
    assert "heads.weight is compressed" in sentence
    assert peak < 1_000_000


@pytest.mark.parametrize("field", ["num_agents", "obs_size", "act_size", "hidden"])
def test_sizes_that_the_weights_do_not_explain_are_not_believed(folder, field):
    sizes = json.loads((folder / "policy.json").read_text())
    (folder / "policy.json").write_text(json.dumps(sizes | {field: [10**9] if field == "hidden" else 10**9}))
    sentence, peak = refusal(folder)
    assert "'weights.npz' has" in sentence
    assert peak < 1_000_000


@pytest.mark.parametrize("name", ["policy.json", "weights.npz"])
@pytest.mark.parametrize("kind", ["fifo", "endless", "folder"])
def test_what_is_no_regular_file_is_no_champion(folder, name, kind):
    (folder / name).unlink()
    if kind == "fifo":
        os.mkfifo(folder / name)
    elif kind == "endless":
        (folder / name).symlink_to("/dev/zero")
    else:
        (folder / name).mkdir()
    assert refusal(folder)[1] < 1_000_000


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"num_agents": "x"}, "num_agents is 'x'"),
        ({"hidden": None}, "hidden is None"),
        ({"format": [1]}, r"format is \[1\]"),
    ],
)
def test_a_wrong_size_is_named(folder, change, reason):
    sizes = json.loads((folder / "policy.json").read_text())
    (folder / "policy.json").write_text(json.dumps(sizes | change))
    with pytest.raises(UserError, match=reason):
        policies.load(folder)


def test_a_champion_is_refused_without_advice_to_load_it_unsafely(folder):
    np.savez(folder / "weights.npz", **{"heads.weight": np.array([None])})  # type: ignore[arg-type]
    assert "pickle" not in refusal(folder)[0]
