"""Worlds outside JAX on the command line: bad ones are refused before anything is written."""

import pytest

from merlax.envs.adapters import workers

pytest.importorskip("pettingzoo")
OWN = "pettingzoo:tests.probes.signals:make"


@pytest.fixture(autouse=True, scope="module")
def no_worker_is_left():
    yield
    workers.stop()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([OWN], "what pays the team is your choice"),
        ([OWN, "--env.team", "sum", "--env.trouble", "crash"], "failed in a worker (ValueError: a broken wire)"),
        ([OWN, "--env.team", "sum", "--env.trouble", "kill"], "was killed or crashed"),
        ([OWN, "--env.team", "sum", "--env.workers", "-1"], "--env.workers is -1; make it 0 or more"),
        (["pettingzoo:mpe2/simple_spread_v2"], "did you mean 'pettingzoo:mpe2/simple_spread_v3'?"),
    ],
)
def test_what_cannot_be_trained_on_is_refused(refuses, words, sentence):
    refuses(["train", *words], sentence)
