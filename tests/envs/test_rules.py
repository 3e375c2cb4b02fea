"""Rules of worlds, by name."""

import jax
import jax.numpy as jnp
import pytest

from merlax.envs import base, ids, make, rules
from merlax.envs.rules import Rule
from merlax.types import UserError
from tests.probes.episodes import Countdown
from tests.probes.tag import SCRIPT, Tag

OBS = jnp.ones((2, 1))


@pytest.mark.slow
@pytest.mark.parametrize("name", ids())
def test_every_world_ships_a_rule_for_its_team(name):
    env = make(name)
    assert rules.drawn(env)[0] == "scripted"
    obs, state = base.reset(env, jax.random.key(0))
    for rule in rules.of(env, 0).values():
        action = rule(state, obs[0])
        side = env.sides[0]
        assert action.shape == (side.num_agents, side.act_size)
        assert (jnp.abs(action) <= 1.0).all()


def test_a_rule_sees_what_it_says_that_it_sees():
    by_obs, by_state = (Rule(lambda given: given, "", sees) for sees in ("observations", "state"))
    other = jnp.zeros((3, 1))
    assert by_obs(other, OBS) is OBS
    assert by_state(OBS, other) is OBS


def test_a_world_without_rules_can_stand_still():
    assert list(rules.of(Countdown(), 0)) == ["still"]
    assert rules.drawn(Countdown()) == []
    assert not rules.of(Tag(), 0)["still"](None, OBS).any()
    assert rules.of(Tag(), 1)["scripted"](None, OBS).tolist() == [[SCRIPT]]


def test_an_unknown_rule_is_refused_with_the_known_ones():
    with pytest.raises(UserError, match=r"no rule 'halfs'.*'halves'.*scripted, halves, sighted, still"):
        rules.check(make("rover-3"), "halfs")
    with pytest.raises(UserError, match=r"its opponent \(did you mean 'cautious'.*cautious, still, or name"):
        rules.check(make("physical-deception"), "cautios", 1)
