"""A policy for another team: every agent acts as the one whose head it got."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from merlax.core import transfer
from merlax.core.networks import TeamPolicy, untuned
from merlax.envs.base import Box, Discrete, Side
from merlax.types import UserError
from tests.support.trees import same
from tests.support.weights import weights

PAIR = Side.equal(2, obs_size=3, act_size=2)
LIFTER, LAMP = (Box(3), Box(2)), (Box(2), Discrete(3))


def of(*kinds: tuple) -> Side:
    obs, action = zip(*kinds, strict=True)
    return Side(obs, action)


def team(side: Side, *, tuned: bool = False) -> TeamPolicy:
    dress = untuned if tuned else lambda policy: policy
    return weights(lambda key: dress(TeamPolicy(key, side, (5,))))


@pytest.mark.parametrize("tuned", [False, True])
@pytest.mark.parametrize(("number", "sources"), [(1, [0]), (2, [0, 1]), (5, [0, 1, 0, 1, 0])])
def test_agents_keep_their_heads_and_new_ones_copy_them_in_turn(number, sources, tuned):
    old = team(PAIR, tuned=tuned)
    new = transfer.fit(old, Side.equal(number, 3, 2), "It")
    assert new.num_agents == number
    seen = jnp.array([0.3, -2.0, 0.9])
    before, after = old(jnp.tile(seen, (2, 1))), new(jnp.tile(seen, (number, 1)))
    np.testing.assert_allclose(after, before[np.array(sources)], rtol=1e-6)


def test_a_team_of_the_same_form_gets_the_same_policy():
    for side in (PAIR, of(LIFTER, LAMP)):
        old = team(side)
        new = transfer.fit(old, side, "It")
        assert jax.tree.structure(new) == jax.tree.structure(old)
        assert same(new, old)


def test_where_agents_differ_each_gets_the_head_of_one_of_its_own_kind():
    old = team(of(LIFTER, LAMP, LIFTER))
    new = transfer.fit(old, of(LIFTER, LIFTER, LAMP, LAMP, LIFTER), "It")
    heads = [np.asarray(policy.heads.bias).reshape(policy.num_agents, -1) for policy in (old, new)]
    np.testing.assert_array_equal(heads[1], heads[0][[0, 2, 1, 1, 0]])
    assert new.side == of(LIFTER, LIFTER, LAMP, LAMP, LIFTER)


@pytest.mark.parametrize(
    ("side", "sentence"),
    [
        (Side.equal(2, 4, 2), "see 3 numbers and act by 2, this world's see 4 numbers and act by 2;"),
        (Side.equal(2, 3, 1), "see 3 numbers and act by 2, this world's see 3 numbers and act by 1;"),
        (Side.equal(2, 3, choices=2), "this world's see 3 numbers and choose one of 2;"),
        (Side.equal(2, 3, choices=2, masked=True), "choose one of 2, not all of it always legal;"),
        (of(LIFTER, LAMP), "this world's see 3 numbers and act by 2 or see 2 numbers and choose one of 3;"),
    ],
)
def test_a_team_of_another_form_is_refused_in_one_sentence(side, sentence):
    with pytest.raises(UserError, match=rf"^Its champion does not fit this world: .*{sentence} choose a run"):
        transfer.fit(team(PAIR), side, "Its champion")
