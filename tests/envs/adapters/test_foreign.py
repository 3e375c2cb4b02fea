"""What worlds of other libraries share: what pays is the user's choice, and options are fields."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

from merlax import config, envs
from merlax.envs import adapters
from merlax.envs.adapters import foreign
from merlax.envs.adapters.foreign import Foreign
from merlax.envs.base import Box, Side
from merlax.types import UserError

REWARDS = jnp.array([1.0, 3.0])
INFO = {
    "goals": jnp.array([1, 1]),
    "shaped": {"a": jnp.float32(0.25), "b": jnp.float32(0.5)},
    "score": jnp.float32(7.0),
}


class Elsewhere(Foreign):
    name = "elsewhere:thing"

    def _own_limit(self):
        return 0


def twice_the_first(rewards, info):
    return 2.0 * rewards[0] + info["score"]


@pytest.mark.parametrize(
    ("team", "pays"), [("sum", 4.0), ("mean", 2.0), ("max", 3.0), ("min", 1.0), ("goals", 2.0), ("shaped", 0.75),
                       ("score", 7.0), (twice_the_first, 9.0)]
)  # fmt: skip
def test_what_pays_the_team_is_a_sum_a_key_or_a_function(team, pays):
    assert float(Elsewhere(team=foreign.named(team)).team_reward(REWARDS, INFO)) == pays


def test_a_world_without_a_choice_is_refused_with_a_sentence_that_shows_how():
    with pytest.raises(UserError, match=r"--env.team.*team=….*sum, mean, max, min, or a key of its info \(goals, sh"):
        Elsewhere().team_reward(REWARDS, INFO)


def test_agents_are_paid_their_own_or_a_key():
    np.testing.assert_allclose(Elsewhere().agent_reward(REWARDS, INFO), REWARDS)
    np.testing.assert_allclose(Elsewhere(agent="shaped").agent_reward(REWARDS, INFO), [0.25, 0.5])


def test_a_key_that_is_nearly_right_gets_a_suggestion():
    with pytest.raises(
        UserError, match=r"no 'goal' in its info \(did you mean 'goals'\?\); choose team from sum, mean"
    ):
        Elsewhere(team="goal").team_reward(REWARDS, INFO)


def test_a_world_without_a_limit_asks_for_one():
    assert Elsewhere(steps=7).horizon == 7
    with pytest.raises(UserError, match=r"no limit of its own; choose one with --env.steps"):
        _ = Elsewhere().horizon


def test_a_function_is_written_down_by_its_name_and_no_file_brings_one_back():
    record = config.to_dict(Elsewhere(team=foreign.named(twice_the_first)))
    assert record["team"] == f"{__name__}:twice_the_first"
    with pytest.raises(UserError, match=r"is paid by the function 'os:system'; give it again"):
        Elsewhere(team="os:system").team_reward(REWARDS, INFO)
    with pytest.raises(UserError, match="with def, not lambda"):
        foreign.named(lambda rewards, info: 0.0)


def test_options_of_a_constructor_become_fields_and_only_changes_are_passed_on():
    def constructor(self, size=3, name="x", flag=True, array=None, *, rate=0.5):
        raise NotImplementedError

    options = foreign.simple_options([constructor])
    assert options == {"size": 3, "name": "x", "flag": True, "rate": 0.5}
    kind = foreign.subclass(Elsewhere, "elsewhere:other", options)
    env = kind(size=4, team="sum")
    assert (env.changed(), env.name) == ({"size": 4}, "elsewhere:other")
    assert hash(env) == hash(kind(size=4, team="sum"))
    assert dataclasses.replace(env, size=3) == kind(team="sum")


def test_actions_are_stretched_to_finite_bounds_only():
    action = jnp.array([-1.0, 0.0, 1.0])
    np.testing.assert_allclose(foreign.rescaled(action, 0.0, 10.0), [0.0, 5.0, 10.0])
    np.testing.assert_allclose(foreign.rescaled(action, -jnp.inf, jnp.inf), action)


def test_agents_that_differ_are_shown_as_a_tuple():
    vectors = [jnp.zeros(2), jnp.zeros(3)]
    assert isinstance(foreign.arranged(Side((Box(2), Box(3)), (Box(1), Box(1))), vectors), tuple)
    assert foreign.arranged(Side.equal(2, 2, 1), [vectors[0]] * 2).shape == (2, 2)


def test_an_extra_that_is_not_installed_is_named_with_the_line_that_installs_it(monkeypatch):
    monkeypatch.setattr(adapters, "installed", lambda prefix: False)
    with pytest.raises(UserError, match=r"not installed: pip install 'merlax\[jaxmarl\]'"):
        envs.make("jaxmarl:MPE_simple_spread_v3")


def test_a_prefix_that_is_nearly_right_gets_a_suggestion():
    with pytest.raises(UserError, match=r"did you mean 'jaxmarl'\?"):
        envs.make("jaxmrl:MPE_simple_spread_v3")
