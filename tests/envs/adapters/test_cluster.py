"""Which Ray cluster is meant, and what is said where there is none."""

import sys
import warnings

import pytest

from merlax.envs.adapters import cluster
from merlax.types import UserError


def test_the_ray_client_is_not_for_this(monkeypatch):
    monkeypatch.setenv("RAY_ADDRESS", "ray://somewhere:10001")
    with pytest.raises(UserError, match="ray job submit"):
        cluster.connected()


def test_without_ray_the_line_that_installs_it_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    with pytest.raises(UserError, match=r"pip install 'merlax\[ray\]'"):
        cluster.connected()


@pytest.mark.slow
def test_a_cluster_that_cannot_be_reached_is_a_sentence(monkeypatch):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip("ray")
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:9")
    with pytest.raises(UserError, match=r"The Ray cluster at RAY_ADDRESS '127\.0\.0\.1:9' cannot be reached"):
        cluster.connected()
