"""What defines a run survives its way through `config.json`."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import jax
import pytest

from merlax import envs
from merlax.algorithms import Ea, Merl, opponents, presets
from merlax.algorithms.opponents import FixedOpponent
from merlax.core.evolution.operators import GaussianMutation
from merlax.core.networks import TeamPolicy
from merlax.core.players import PolicyPlayer, ScriptedPlayer
from merlax.core.td3 import Td3
from merlax.envs.rover import Rover
from merlax.runs import policies, setup
from merlax.runs.setup import Setup
from merlax.types import UserError
from tests.probes.rendezvous import Rendezvous
from tests.probes.tag import Tag
from tests.support.weights import weights

HERE = Path("a-run")


def plan(env: Any, algorithm: Any = "merl", **options: Any) -> Setup:
    return setup.plan(env, algorithm, frames=1000, seed=7, **options)


def written(planned: Setup) -> dict:
    """What a run folder's config.json says."""
    return json.loads(json.dumps(planned.record()))


@dataclasses.dataclass(frozen=True)
class Nudge:
    """A mutation of the user's own."""

    strength: float = 0.1

    def __call__(self, key, genome):
        del key
        return jax.tree.map(lambda leaf: leaf + self.strength, genome)


@pytest.mark.parametrize("preset", presets.PRESETS)
@pytest.mark.parametrize("world", ["rover-3", "two-rovers", "predator-prey"])
@pytest.mark.parametrize("algorithm", presets.BUILT_IN)
def test_every_algorithm_comes_back_from_its_record(algorithm, world, preset):
    planned = plan(world, algorithm, preset=preset)
    assert setup.from_record(written(planned), HERE) == planned


def test_what_was_changed_comes_back_too():
    changes = {
        "population": 12,
        "mutation": {"strength": 0.3},
        "learners": [{"discount": 0.5}, {"discount": 0.9, "reward": "mixed"}],
    }
    planned = plan(Rover(num_agents=4, num_poi=2, coupling=2, horizon=12), settings=changes)
    assert isinstance(planned.algorithm, Merl)
    assert [learner.discount for learner in planned.algorithm.learners] == [0.5, 0.9]
    assert setup.from_record(written(planned), HERE) == planned


def test_an_algorithm_given_as_an_object_is_recorded_by_its_name():
    planned = plan("rover-3", Ea(population=20))
    assert planned.method == "ea"
    assert setup.from_record(written(planned), HERE) == planned


def test_a_mutation_of_the_users_own_is_recorded_as_module_and_name_and_must_be_given_again():
    algorithm = Ea(mutation=Nudge(0.2))
    planned = plan("rover-3", algorithm)
    data = written(planned)
    assert data["settings"]["mutation"] == {"type": f"{Nudge.__module__}:Nudge", "strength": 0.2}
    with pytest.raises(UserError, match="give the algorithm that holds it again"):
        setup.from_record(data, HERE)
    assert setup.from_record(data, HERE, algorithm=algorithm) == planned


@pytest.mark.parametrize(
    ("given", "difference"),
    [
        (Ea(mutation=Nudge(0.3)), r"mutation\.strength was 0\.2 and is 0\.3"),
        (Ea(mutation=Nudge(0.2), population=20), r"population was 10 and is 20"),
        (Ea(mutation=GaussianMutation()), r"mutation\.type was .*Nudge' and is 'GaussianMutation'"),
    ],
)
def test_an_algorithm_with_other_settings_is_refused_with_the_difference(given, difference):
    data = written(plan("rover-3", Ea(mutation=Nudge(0.2))))
    with pytest.raises(UserError, match=f"other settings of its algorithm: {difference}"):
        setup.from_record(data, HERE, algorithm=given)


@dataclasses.dataclass(frozen=True)
class OwnEa(Ea):
    """An algorithm of the user's own."""


def test_an_algorithm_of_the_users_own_must_be_given_again():
    planned = plan("rover-3", OwnEa())
    assert planned.method == f"{OwnEa.__module__}:OwnEa"
    with pytest.raises(UserError, match="`algorithm`, on the command line as --algorithm module:Name"):
        setup.from_record(written(planned), HERE)
    assert setup.from_record(written(planned), HERE, algorithm=OwnEa()) == planned


def test_a_world_of_the_users_own_must_be_given_again_as_it_was():
    planned = plan(Rendezvous(horizon=4), "ea")
    data = written(planned)
    assert (data["world"], data["env"]) == (None, {"num_agents": 2, "horizon": 4})
    with pytest.raises(UserError, match="give that world again"):
        setup.from_record(data, HERE)
    with pytest.raises(UserError, match="another world than this: horizon was 4 and is 5"):
        setup.from_record(data, HERE, env=Rendezvous(horizon=5))
    assert setup.from_record(data, HERE, env=Rendezvous(horizon=4)) == planned


def test_a_config_of_before_the_redesign_is_refused():
    data = written(plan("rover-3"))
    del data["format"]
    with pytest.raises(UserError, match=r"another version of merlax.* can still be evaluated"):
        setup.from_record(data, HERE)


def test_a_world_is_called_like_the_named_one_that_it_resembles_most():
    assert setup.resolve(Rover(num_agents=5, num_poi=4, coupling=5))[0] == "rover-5"
    assert setup.resolve(Rendezvous())[0] is None


def test_the_settings_of_an_opponent_are_its_own():
    settings, own = {"learners": [{"discount": 0.25}]}, {"learner": {"discount": 0.75}}
    planned = plan("predator-prey", settings=settings, opponent_settings=own)
    assert isinstance(planned.algorithm, Merl)
    assert planned.algorithm.learners[0].discount == 0.25
    assert planned.record()["opponent"]["settings"]["learner"]["discount"] == 0.75
    assert setup.from_record(written(planned), HERE) == planned
    with pytest.raises(UserError, match="no opponent that learns"):
        plan("rover-3", opponent_settings=own)
    with pytest.raises(UserError, match="no opponent that learns"):
        plan("predator-prey", opponent="scripted", opponent_settings=own)
    with pytest.raises(UserError, match=r"opponent\.speed"):
        plan("predator-prey", opponent_settings={"speed": 1})


def test_an_opponent_given_as_an_algorithm_comes_back():
    planned = plan("predator-prey", opponent=opponents.ddpg(Td3(discount=0.9), (16,)))
    assert planned.opponent_kind == "ddpg"
    assert setup.from_record(written(planned), HERE) == planned


def test_a_scripted_opponent_comes_back():
    planned = plan("predator-prey", opponent="scripted")
    assert planned.opponent == FixedOpponent(ScriptedPlayer(1))
    assert setup.from_record(written(planned), HERE) == planned


def test_a_frozen_opponent_comes_back_from_the_runs_own_folder(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    policy = weights(lambda key: TeamPolicy(key, envs.make("predator-prey").sides[1], (4,)))
    policies.save(first / "opponent", policy)
    (first / "config.json").write_text(json.dumps(plan("predator-prey").record()))
    planned = plan("predator-prey", opponent=first)
    assert written(planned)["opponent"] == {"kind": "frozen"}
    first.rename(second)
    for met in (planned.opponent, setup.from_record(written(planned), second).opponent):
        assert isinstance(met, FixedOpponent)
        assert isinstance(met.player, PolicyPlayer)
        assert (met.player.policy.heads.weight == policy.heads.weight).all()


@pytest.mark.parametrize(
    ("world", "opponent", "sentence"),
    [
        ("rover-3", "ddpg", "has no opponent"),
        ("predator-prey", "nobody", "no opponent 'nobody'"),
        ("predator-prey", Ea(), "give an OffPolicy"),
    ],
)
def test_an_opponent_that_does_not_fit_is_refused(world, opponent, sentence):
    with pytest.raises(UserError, match=sentence):
        plan(world, opponent=opponent)


class NoRule:
    """A contest without a rule for its opponent."""

    sides = Tag().sides
    horizon = 2

    def reset(self, key):
        return Tag().reset(key)

    def step(self, key, state, action):
        return Tag().step(key, state, action)


def test_a_world_without_a_rule_has_no_scripted_opponent():
    assert plan(Tag(), opponent="scripted").opponent_kind == "scripted"
    with pytest.raises(UserError, match="no rule for its opponent"):
        plan(NoRule(), opponent="scripted")


def test_a_run_against_the_scripted_opponent_holds_none_to_meet(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(plan("predator-prey", opponent="scripted").record()))
    with pytest.raises(UserError, match="holds no opponent that learnt"):
        plan("predator-prey", opponent=tmp_path)


def test_what_is_no_algorithm_is_refused(unchecked):
    with pytest.raises(UserError, match="3 is no algorithm"):
        plan("rover-3", 3)


def test_title_and_folder_name_who_trains_on_what_against_whom():
    contest = plan("predator-prey", "ea", opponent="scripted")
    assert contest.title == "ea on predator-prey against the scripted opponent (fixed)"
    assert contest.name == "predator-prey-ea-seed7"
    own = plan(Rendezvous(), OwnEa())
    assert own.title.endswith(":OwnEa on Rendezvous")
    assert own.name == "rendezvous-ownea-seed7"
