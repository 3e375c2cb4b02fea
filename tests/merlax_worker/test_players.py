"""A policy in NumPy does what it does in JAX."""

import jax
import jax.numpy as jnp
import numpy as np

from merlax import Box, Discrete, Side, TeamPolicy
from merlax.core import outside
from merlax.core.networks import tuned
from merlax.core.players import Benched, PolicyPlayer, ScriptedPlayer
from merlax_worker.rows import Sizes

SIDE = Side((Box(2), Box(4)), (Discrete(3), Box(2)))
SIZES = Sizes(("a", "b"), (2, 4), (3, 2), (True, False), (0, 1), masked=False)
OBS = np.random.default_rng(0).standard_normal((2, SIDE.obs_size)).astype(np.float32)


def team() -> TeamPolicy:
    return TeamPolicy(jax.random.key(0), SIDE, (16, 8), bias=0.1)


def test_a_policy_acts_in_numpy_as_in_jax():
    noise = np.random.default_rng(1).standard_normal((2, 3)).astype(np.float32)
    gain = jax.random.normal(jax.random.key(1), (2, SIDE.obs_size))
    for policy in (team(), tuned(team(), gain)):
        for own in (None, noise):
            expected = policy(jnp.asarray(OBS), None if own is None else jnp.asarray(own))
            done = outside.sent(PolicyPlayer(policy)).act(SIZES, OBS, own)
            np.testing.assert_allclose(done, np.asarray(expected), atol=1e-6)


def test_nobody_and_whoever_is_idle_do_nothing():
    still = [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    assert outside.sent(ScriptedPlayer(0, "still")).act(SIZES, OBS).tolist() == still
    one_idle = Benched(PolicyPlayer(team()), jnp.array([False, True]))
    done = outside.sent(one_idle).act(SIZES, OBS)
    assert done[1].tolist() == still[1]
    np.testing.assert_allclose(done[0], np.asarray(team()(jnp.asarray(OBS)))[0])
