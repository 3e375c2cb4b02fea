"""Who moves the agents of a side."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from merlax.core.networks import TeamPolicy
from merlax.core.players import Benched, Gallery, Player, PolicyPlayer, ScriptedPlayer
from tests.probes.episodes import Countdown
from tests.probes.tag import SCRIPT, Tag
from tests.support.weights import weights

ENV = Tag()
OBS = jnp.array([[0.5], [-1.5]])


def policy(seed=0) -> TeamPolicy:
    return weights(lambda key: TeamPolicy(key, ENV.sides[0], (4,)), seed)


def state(time=0):
    return jnp.array(time, jnp.int32)


def test_a_policy_decides_by_what_its_agents_see():
    player = PolicyPlayer(policy())
    np.testing.assert_array_equal(player.act(ENV, state(), OBS), policy()(OBS))
    assert (player.act(ENV, state(), -OBS) != player.act(ENV, state(), OBS)).all()


def test_a_policy_does_not_see_the_state():
    player = PolicyPlayer(policy())
    np.testing.assert_array_equal(player.act(ENV, state(0), OBS), player.act(ENV, state(1), OBS))


def test_the_newest_of_a_gallery_plays_half_of_the_episodes_and_the_others_as_often_as_each_other():
    one, two, three = (policy(seed) for seed in (1, 2, 3))
    gallery = Gallery(one, jax.tree.map(lambda *leaves: jnp.stack(leaves), two, three))
    keys = jax.random.split(jax.random.key(0), 400)
    acted = np.asarray(jax.jit(jax.vmap(lambda key: gallery.of_episode(key).act(ENV, state(), OBS)))(keys))
    shares = [float((acted == np.asarray(each(OBS))).all(axis=(1, 2)).mean()) for each in (one, two, three)]
    np.testing.assert_allclose(shares, [0.5, 0.25, 0.25], atol=0.08)
    assert sum(shares) == pytest.approx(1.0)


def test_a_scripted_player_follows_the_rule_of_its_side():
    assert ScriptedPlayer(1).act(ENV, state(), jnp.ones((1, 2))).tolist() == [[SCRIPT]]


def test_a_world_without_a_rule_has_no_scripted_player():
    with pytest.raises(AssertionError, match="without a rule"):
        ScriptedPlayer(0).act(Countdown(), state(), OBS)


def test_benched_agents_do_nothing_and_the_others_what_they_did():
    action = Benched(PolicyPlayer(policy()), jnp.array([True, False])).act(ENV, state(), OBS)
    np.testing.assert_array_equal(action, jnp.array([[0.0], [1.0]]) * policy()(OBS))


def test_one_compiled_program_takes_whichever_policy_plays():
    traced = []

    @jax.jit
    def act(player: Player):
        traced.append(player)
        return player.act(ENV, state(), OBS)

    first, second = act(PolicyPlayer(policy(1))), act(PolicyPlayer(policy(2)))
    assert (first != second).all()
    assert len(traced) == 1
