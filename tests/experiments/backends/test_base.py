"""What a user asks for every run, read or refused in a sentence."""

import pytest

from merlax.experiments import backends
from merlax.experiments.backends import Resources
from merlax.types import UserError


def test_resources_are_read_as_they_are_typed():
    assert Resources.read("") == Resources(None, 0.0)
    assert Resources.read("cpu=4, gpu=0.5") == Resources(4, 0.5)
    assert Resources.read("gpu=2").cores == 1


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("cpus=4", "did you mean 'cpu'"),
        ("cpu", "such as cpu=4,gpu=0.5"),
        ("cpu=four", "such as cpu=4,gpu=0.5"),
        ("cpu=1,cpu=2", "each of cpu, gpu and hours once"),
        ("cpu=-1", "such as cpu=4,gpu=0.5"),
        ("cpu=0", "cpu is 0"),
        ("cpu=1.5", "cpu is 1.5"),
        ("gpu=1.5", "gpu is 1.5"),
        ("hours=0", "hours is 0"),
        ("cpu=99999999999999", "such as cpu=4,gpu=0.5"),
    ],
)
def test_resources_that_cannot_be_are_refused(text, sentence):
    with pytest.raises(UserError, match=sentence):
        Resources.read(text)


def test_only_slurm_has_a_limit_of_time(tmp_path):
    for on in ("local", "ray"):
        with pytest.raises(UserError, match="leave out hours=24"):
            backends.choose(on, Resources.read("hours=24"), tmp_path)


def test_an_engine_with_a_queue_decides_how_many_run_at_a_time(tmp_path):
    with pytest.raises(UserError, match="leave out --workers"):
        backends.choose("ray", Resources(), tmp_path, workers=2)
