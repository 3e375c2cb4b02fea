"""PettingZoo's worlds by name: their sides, options and what is refused."""

import pytest

import merlax
from merlax import envs
from merlax.envs import adapters
from merlax.envs.adapters import workers
from merlax.envs.base import Box, Discrete
from merlax.envs.check import refuse_misshapen
from merlax.types import UserError

pytest.importorskip("pettingzoo")
OWN = "pettingzoo:tests.probes.signals:make"
SPREAD = "pettingzoo:mpe2/simple_spread_v3"


@pytest.fixture(autouse=True, scope="module")
def no_worker_is_left():
    yield
    workers.stop()


def right(rewards, infos):
    """A team reward of the user's own."""
    return float(infos["switch"]["right"]) if infos.get("switch") else rewards.sum()


def test_sides_say_what_the_agents_see_and_do():
    (side,) = merlax.make(OWN).sides
    assert side.obs == (Box(3), Box(1))
    assert side.action == (Discrete(3), Box(1))
    assert side.leaving
    (spread,) = merlax.make("pettingzoo:mpe2/simple_spread-v3", N=2, continuous_actions=True).sides
    assert (spread.num_agents, spread.act_size, spread.chooses) == (2, 5, False)


def test_a_world_has_its_own_options_and_its_own_limit():
    assert merlax.make(SPREAD).horizon == 25
    assert merlax.make(SPREAD, max_cycles=7).horizon == 7
    assert merlax.make(SPREAD, steps=5).horizon == 5
    assert merlax.make(SPREAD, N=4) == merlax.make(SPREAD, N=4)


def test_agents_of_the_other_side_are_named_by_how_they_begin(unchecked):
    env = merlax.make("pettingzoo:mpe2/simple_tag_v3", opponents="agent", team="sum")
    assert [side.num_agents for side in env.sides] == [3, 1]
    with pytest.raises(UserError, match="has no agent 'agnt'"):
        _ = merlax.make("pettingzoo:mpe2/simple_tag_v3", opponents="agnt").sides
    with pytest.raises(UserError, match="names all agents"):
        _ = merlax.make(SPREAD, opponents="agent").sides


@pytest.mark.slow
def test_what_pays_the_team_is_the_users_choice():
    (found,) = merlax.check(merlax.make(OWN))
    assert "what pays the team is your choice" in found
    assert "or a key of its info (right)" in found
    assert merlax.check(merlax.make(OWN, team="right")) == []
    assert merlax.check(merlax.make(OWN, team=right)) == []
    (found,) = merlax.check(merlax.make(OWN, team="rigth"))
    assert "has no 'rigth' in its info (did you mean 'right'?)" in found


def test_a_world_that_a_seed_does_not_decide_is_told_of(caplog):
    env = merlax.make(OWN, team="sum", trouble="random")
    (found,) = merlax.check(env)
    assert "does not repeat an episode that is reset with the same seed" in found
    refuse_misshapen(env)
    assert "does not repeat" in caplog.text


@pytest.mark.parametrize(
    ("name", "options", "sentence"),
    [
        ("pettingzoo:mpe2/simple_spreed_v3", {}, r"did you mean 'pettingzoo:mpe2/simple_spread_v3'\?"),
        ("pettingzoo:no_such_module:make", {}, r"The module 'no_such_module' of .* cannot be imported"),
        ("pettingzoo:tests.probes.signals:made", {}, "holds no 'made'"),
        (OWN, {"trouble": "spaces"}, "lets dial act by a MultiDiscrete; merlax takes Box and Discrete"),
        (OWN, {"while_there": 3.0, "nothing": 1}, "does not take these options"),
        ("tests.probes.signals:make", {}, f"is a world of PettingZoo's; name it {OWN}"),
        ("pettingzoo:builtins:dict", {}, "makes no ParallelEnv"),
    ],
)
def test_what_cannot_be_a_world_is_refused(unchecked, name, options, sentence):
    with pytest.raises(UserError, match=sentence):
        _ = merlax.make(name, **options).sides


def test_a_package_that_is_missing_is_told_with_the_line_that_installs_it(monkeypatch):
    adapter = adapters._adapter("pettingzoo")
    monkeypatch.setitem(adapter.FAMILIES, "mpe2", "a_package_that_nobody_has")
    with pytest.raises(UserError, match=r"not installed: pip install 'merlax\[pettingzoo\]'"):
        merlax.make(SPREAD)


def test_files_name_shipped_worlds_only():
    assert envs.is_known(SPREAD)
    assert not envs.is_known(OWN)


def test_multiwalker_has_the_options_of_its_inner_world():
    pytest.importorskip("Box2D")
    env = merlax.make("pettingzoo:sisl/multiwalker-v9", team="mean", n_walkers=2, max_cycles=20)
    assert (env.sides[0].num_agents, env.sides[0].obs_size, env.sides[0].act_size, env.horizon) == (2, 31, 4, 20)
    assert merlax.check(env) == []
