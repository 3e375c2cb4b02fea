"""A champion as one file: nothing is lost on the way, and what cannot be written is refused in a sentence."""

import json
import struct

import jax.numpy as jnp
import numpy as np
import pytest

import merlax
from merlax import cli
from merlax.runs import exports, policies
from merlax.types import UserError
from tests.support import short


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return short.train(tmp_path_factory.mktemp("runs") / "run")


def read(path):
    """The header and the arrays, as the format describes them."""
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header, numbers = json.loads(data[8 : 8 + length]), data[8 + length :]
    told = header.pop("__metadata__")
    found = {name: np.frombuffer(numbers[slice(*own["data_offsets"])], "<f4") for name, own in header.items()}
    return told, {name: array.reshape(header[name]["shape"]) for name, array in found.items()}


@pytest.mark.slow
def test_safetensors_hold_the_weights_and_say_the_sizes(run, tmp_path):
    out = merlax.export(run, tmp_path / "team.safetensors")
    told, found = read(out)
    assert json.loads(told["policy"]) == policies.describe(run.champion)
    assert (told["world"], told["algorithm"], told["seed"]) == ("Rendezvous", "ea", "2019")
    wanted = policies.arrays(run.champion)
    assert found.keys() == wanted.keys()
    for name, array in wanted.items():
        np.testing.assert_array_equal(found[name], array)


def test_the_library_of_that_name_reads_them(run, tmp_path):
    numpy = pytest.importorskip("safetensors.numpy")
    found = numpy.load_file(merlax.export(run, tmp_path / "team.safetensors"))
    for name, array in policies.arrays(run.champion).items():
        np.testing.assert_array_equal(found[name], array)


def test_the_header_is_padded_so_that_numbers_lie_where_processors_like_them():
    for name in ("a", "ab", "abc"):
        data = exports.safetensors({name: np.zeros(1, np.float32)}, {})
        assert len(data) % 8 == 4


def test_the_champion_of_a_run_is_written_as_onnx_without_its_world(run, tmp_path, capsys):
    runtime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    out = tmp_path / "team.onnx"
    assert cli.main(["export", str(run.path), "--out", str(out)]) == 0
    assert capsys.readouterr().out.strip() == str(out)
    obs = np.random.default_rng(0).normal(size=(5, 2, 2)).astype(np.float32)
    (action,) = runtime.InferenceSession(out).run(None, {"obs": obs})
    np.testing.assert_allclose(action, run.champion(jnp.asarray(obs)), atol=1e-5)


@pytest.mark.parametrize("name", ["team.pt", "team", "team.ONNX.gz"])
def test_another_kind_of_file_is_refused(run, tmp_path, name):
    with pytest.raises(UserError, match=r"\.onnx.*\.safetensors"):
        merlax.export(run, tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_what_cannot_be_read_or_written_is_told_in_a_sentence(run, tmp_path, refuses):
    refuses(["export", str(tmp_path), "--out", str(tmp_path / "team.safetensors")], "is not a run folder")
    refuses(["export", str(run.path), "--out", str(tmp_path / "no" / "team.safetensors")], "No such file or directory")
    (tmp_path / "team.safetensors").mkdir()
    with pytest.raises(UserError, match=r"cannot be written \(Is a directory\); choose another --out"):
        merlax.export(run, tmp_path / "team.safetensors")
    assert [path.name for path in tmp_path.iterdir()] == ["team.safetensors"]
