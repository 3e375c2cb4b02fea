"""A team in ONNX does what it does in JAX: every kind of agent, with and without gains, played by onnxruntime."""

import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from merlax.core.networks import TeamPolicy, untuned
from merlax.envs.base import Box, Discrete, Side
from merlax.runs import onnx_graph
from merlax.types import UserError
from tests.support.weights import weights

BATCH = 64
SIDES = {
    "alike": Side.equal(3, obs_size=4, act_size=2),
    "choosing": Side.equal(2, obs_size=3, choices=5),
    "choosing what is legal": Side.equal(2, obs_size=3, choices=5, masked=True),
    "unlike": Side((Box(4), Box(2), Box(2)), (Box(2), Discrete(3), Box(1))),
    "unlike and legal": Side((Box(4), Box(2), Box(2)), (Box(2), Discrete(4), Discrete(2)), masked=True),
}


@pytest.fixture(scope="module")
def runtime():
    pytest.importorskip("onnx")
    return pytest.importorskip("onnxruntime")


def in_jax(policy: TeamPolicy, side: Side, obs, legal):
    """What the world gets, of a batch of what its agents see."""
    return jax.vmap(lambda obs, legal: side.actions(policy(side.rows(obs, legal))))(obs, legal)


@pytest.mark.slow
@pytest.mark.parametrize("tuned", [False, True])
@pytest.mark.parametrize("name", SIDES)
def test_a_team_acts_as_it_does_in_jax(runtime, name, tuned):
    side, rng = SIDES[name], np.random.default_rng(0)
    dress = untuned if tuned else lambda policy: policy
    policy = weights(lambda key: dress(TeamPolicy(key, side, (16, 8))))
    session = runtime.InferenceSession(onnx_graph.build(policy, {"world": "mine"}))
    assert session.get_modelmeta().custom_metadata_map["world"] == "mine"

    sees = lambda *shape: (2.0 * rng.normal(size=(BATCH, *shape))).astype(np.float32)  # noqa: E731
    if side.alike:
        obs = sees(side.num_agents, side.widest)
        legal = rng.random((BATCH, side.num_agents, side.act_size)) > 0.4 if side.masked else None
        given = {"obs": obs} | ({} if legal is None else {"legal": legal})
    else:
        obs = tuple(sees(space.size) for space in side.obs)
        legal = None
        given = {f"obs_{agent}": own for agent, own in enumerate(obs)}
        if side.masked:
            chosen = [(k, s.size) for k, s in enumerate(side.action) if isinstance(s, Discrete)]
            flags = {agent: rng.random((BATCH, size)) > 0.4 for agent, size in chosen}
            given |= {f"legal_{agent}": own for agent, own in flags.items()}
            legal = tuple(map(flags.get, range(side.num_agents)))
    wanted = in_jax(policy, side, jax.tree.map(jnp.asarray, obs), jax.tree.map(jnp.asarray, legal))
    found = session.run(None, given)
    names = [output.name for output in session.get_outputs()]
    assert names == (["action"] if side.alike else [f"action_{agent}" for agent in range(side.num_agents)])
    for mine, theirs in zip(found, [wanted] if side.alike else wanted, strict=True):
        assert mine.shape == theirs.shape
        np.testing.assert_allclose(mine, theirs, atol=1e-5)
        assert len(np.unique(mine)) > 1  # it does not always do the same


def test_without_onnx_a_sentence_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    policy = weights(lambda key: TeamPolicy(key, SIDES["alike"], (4,)))
    with pytest.raises(UserError, match=r"pip install 'merlax\[onnx\]'"):
        onnx_graph.build(policy, {})


PLAY = """
import sys
sys.modules["jax"] = sys.modules["merlax"] = None
import numpy, onnxruntime
session = onnxruntime.InferenceSession(sys.argv[1])
print(session.run(None, {"obs": numpy.zeros((1, 3, 4), "float32")})[0].shape)
"""


@pytest.mark.slow
def test_it_plays_where_there_is_no_jax(runtime, tmp_path):
    policy = weights(lambda key: TeamPolicy(key, SIDES["alike"], (4,)))
    (tmp_path / "team.onnx").write_bytes(onnx_graph.build(policy, {}))
    command = [sys.executable, "-c", PLAY, str(tmp_path / "team.onnx")]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "(1, 3, 2)\n"
