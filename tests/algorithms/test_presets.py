"""The `paper` preset is Table 2 of the paper, number by number; the baselines share it, half by half.

And algorithms of a user's own, by name.
"""

import dataclasses
import sys
from typing import Any

import pytest

from merlax.algorithms import Ea, Game, Gradient, Merl, presets
from merlax.algorithms.opponents import Opponent
from merlax.core.evolution.operators import SinglePointCrossover
from merlax.core.td3 import Td3
from merlax.envs import make
from merlax.types import UserError
from tests.support.own import RandomSearch

TABLE_1 = {"discount": 0.95, "reward_scale": 1.0}


def merl(name, world) -> Merl:
    algorithm = presets.preset(name, world)
    assert isinstance(algorithm, Merl)
    return algorithm


def gradient(name, world, algorithm) -> Gradient:
    found = presets.preset(name, world, algorithm)
    assert isinstance(found, Gradient)
    return found


def test_the_evolutionary_half_of_table_2():
    paper: Any = merl("paper", "rover-3")
    assert (paper.population, paper.selection.elites, paper.selection.tournament) == (10, 4, 3)
    assert paper.crossover == SinglePointCrossover()
    mutation = paper.mutation
    assert (mutation.probability, mutation.fraction, mutation.strength) == (0.9, 0.1, 0.1)
    assert (mutation.super_probability, mutation.reset_probability) == (0.05, 0.05)
    assert paper.tuning.pairs == 0


def test_the_gradient_half_of_table_2():
    (td3,) = merl("paper", "rover-3").learners
    assert (td3.actor_rate, td3.critic_rate, td3.target_weight, td3.discount) == (5e-5, 1e-5, 1e-5, 0.5)
    assert (td3.batch, td3.buffer, td3.smoothing, td3.smoothing_clip, td3.delay) == (512, 100_000, 0.2, 0.5, 2)
    assert (td3.order, td3.updates_per_frame, td3.reward_scale, td3.action_penalty) == ("sequential", 1.0, 10.0, 0.0)
    assert (td3.reward, td3.critics, td3.critic, td3.critic_hidden) == ("agent", 2, "own", (100, 100))
    assert (td3.critic_normalised, td3.huber, td3.halving_rounds) == (False, 0.0, 0.0)


def test_the_rollouts_of_table_2():
    paper = merl("paper", "rover-3")
    assert (paper.fitness.episodes, paper.fitness.memory, paper.fitness.same_instances) == (10, 1, False)
    assert (paper.noisy_episodes, paper.explore_episodes, paper.noise) == (1, 50, 0.4)
    assert paper.actor_hidden == (100, 100)


def test_two_rovers_is_deterministic_so_one_episode_is_enough():
    assert merl("paper", "two-rovers").fitness.episodes == 1


def test_an_unknown_preset_is_refused():
    with pytest.raises(UserError, match="choose from"):
        presets.preset("slow", "rover-3")


@pytest.mark.parametrize("world", ["rover-3", "two-rovers", None])
@pytest.mark.parametrize("name", presets.PRESETS)
def test_every_algorithm_has_every_preset(name, world):
    for algorithm in presets.names():
        assert Game(make("rover-3"), presets.preset(name, world, algorithm)).frames_per_generation() > 0


@pytest.mark.parametrize("world", ["rover-3", "two-rovers"])
@pytest.mark.parametrize("name", presets.PRESETS)
def test_ea_is_merls_evolutionary_half(name, world):
    ea, whole = presets.preset(name, world, "ea"), merl(name, world)
    assert type(ea) is Ea
    for field in ("fitness", "crossover", "mutation", "actor_hidden"):
        assert getattr(ea, field) == getattr(whole, field)
    same_size = whole if not whole.tunes else merl("paper", world)  # what tuning takes from the population, EA keeps
    assert (ea.population, ea.selection) == (same_size.population, same_size.selection)


@pytest.mark.parametrize("algorithm", ["td3", "ddpg", "matd3", "maddpg"])
@pytest.mark.parametrize("name", presets.PRESETS)
def test_gradient_methods_are_merls_learner_but_for_what_their_name_says(name, algorithm):
    alone, whole = gradient(name, "rover-3", algorithm), merl(name, "rover-3")
    options = {field.name for field in dataclasses.fields(Td3)}
    differ = {option for option in options if getattr(alone.learner, option) != getattr(whole.learners[0], option)}
    expected = {"discount", "reward"}
    if algorithm in ("ddpg", "maddpg"):
        expected |= {"critics", "delay", "smoothing"}
    if algorithm in ("matd3", "maddpg"):
        expected |= {"critic", "critic_hidden"}
        expected |= {"order"} if name == "paper" else {"updates_per_frame", "critic_normalised", "batch"}
        assert (alone.learner.batch, alone.learner.critic_normalised) in ((256, False), (512, False))
        assert alone.learner.critic == {"paper": "joint", "fast": "shared"}[name]
    assert differ == expected
    assert (alone.learner.reward, alone.learner.team_weight, alone.learner.discount) == ("mixed", 10.0, 0.97)
    assert (alone.explore_episodes, alone.noise, alone.actor_hidden) == (50, whole.noise, whole.actor_hidden)


@pytest.mark.parametrize(("algorithm", "hidden"), [("td3", 100), ("ddpg", 100), ("matd3", 300), ("maddpg", 300)])
def test_joint_critics_are_wide(algorithm, hidden):
    assert gradient("paper", "rover-3", algorithm).learner.critic_hidden == (hidden, hidden)


def test_es_tests_its_teams_as_merl_does():
    for world, episodes in (("rover-3", 10), ("two-rovers", 1)):
        es: Any = presets.preset("paper", world, "es")
        assert (es.population, es.sigma, es.fitness_episodes, es.same_instances) == (100, 0.1, episodes, False)
    fast: Any = presets.preset("fast", "rover-3", "es")
    assert fast.same_instances


def test_a_preset_of_an_unknown_algorithm_is_refused():
    with pytest.raises(UserError, match="did you mean 'matd3'"):
        presets.preset("fast", None, "matd33")


def test_a_name_that_no_algorithm_has_is_refused():
    with pytest.raises(UserError, match="did you mean 'merl'"):
        presets.preset("fast", None, "merll")


@pytest.mark.parametrize(("name", "world"), [("paper", "predator-prey"), ("paper", None), ("fast", None)])
def test_an_opponent_learns_by_ddpg_with_the_teams_sizes_and_table_1s_discount(name, world):
    opponent, learner = presets.opponent(name, world), merl(name, world).learners[0]
    assert type(opponent) is Opponent
    options = {field.name for field in dataclasses.fields(Td3)}
    differ = {option for option in options if getattr(opponent.learner, option) != getattr(learner, option)}
    assert {"critics", "delay", "smoothing"} <= differ <= {"critics", "delay", "smoothing", "order", *TABLE_1}
    assert {name: getattr(opponent.learner, name) for name in TABLE_1} == TABLE_1


def test_a_particle_world_has_one_opponent_whatever_its_team_learns():
    chased, deceived = (presets.opponent("fast", world) for world in ("predator-prey-hard", "physical-deception"))
    assert chased == deceived
    assert {name: getattr(chased.learner, name) for name in TABLE_1} == TABLE_1


def test_two_learners_chase_a_prey_one_for_each_reward():
    for world in ("predator-prey", "predator-prey-hard"):
        assert [learner.reward for learner in merl("fast", world).learners] == ["agent", "global"]
        assert [learner.reward for learner in merl("paper", world).learners] == ["agent"]
    assert [learner.reward for learner in merl("fast", "keep-away").learners] == ["agent"]


def test_ea_has_all_teams_where_merl_gives_some_up():
    for world, teams in (("rover-3", 10), ("predator-prey", 10), ("keep-away", 10), ("two-rovers", 20)):
        ea: Any = presets.preset("fast", world, "ea")
        assert ea.population == teams


@pytest.fixture
def registry(monkeypatch):
    """Whatever is registered is forgotten after the test."""
    monkeypatch.setattr(presets, "_REGISTERED", {})


@pytest.mark.usefixtures("registry")
def test_a_registered_algorithm_is_found_by_its_name_with_its_own_settings():
    presets.register("random-search", RandomSearch(episodes=7))
    assert presets.names()[-1] == "random-search"
    for name in presets.PRESETS:
        assert presets.preset(name, "rover-3", "random-search") == RandomSearch(episodes=7)


@pytest.mark.usefixtures("registry")
@pytest.mark.parametrize("name", ["merl", "mine", "my:own"])
def test_a_name_is_registered_once_and_without_a_colon(name):
    presets.register("mine", RandomSearch())
    with pytest.raises(UserError, match=f"'{name}' is taken already, or has a colon"):
        presets.register(name, RandomSearch())
    assert presets.names().count(name) == (name != "my:own")


@pytest.mark.usefixtures("registry", "unchecked")
@pytest.mark.parametrize("thing", [3, RandomSearch])
def test_what_is_no_algorithm_is_not_registered(thing):
    with pytest.raises(UserError, match="is no algorithm; register an object of a class that extends"):
        presets.register("mine", thing)
    assert "mine" not in presets.names()


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A file of a user's own in the current folder, where a console script would not look by itself."""
    text = """
import dataclasses
from merlax import Ea

@dataclasses.dataclass(frozen=True)
class Mine(Ea):
    population: int = 42

small = Mine(population=8)
number = 3

class Stranger:
    pass
"""
    (tmp_path / "module_of_a_users_own.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield "module_of_a_users_own"
    sys.modules.pop("module_of_a_users_own", None)


def test_an_algorithm_is_found_by_its_module_and_class_or_object(module):
    made: Any = presets.preset("fast", None, f"{module}:Mine")
    assert (type(made).__name__, made.population) == ("Mine", 42)
    assert presets.preset("paper", "rover-3", f"{module}:small") == dataclasses.replace(made, population=8)


@pytest.mark.parametrize("name", ["number", "Stranger"])
def test_a_thing_that_is_no_algorithm_is_refused(module, name):
    with pytest.raises(UserError, match=f"'{module}:{name}' is no algorithm; name a class that extends"):
        presets.preset("fast", None, f"{module}:{name}")


def test_a_module_or_a_name_that_is_not_there_is_refused(module):
    with pytest.raises(UserError, match=r"holds no 'Mina' \(did you mean 'Mine'"):
        presets.preset("fast", None, f"{module}:Mina")
    with pytest.raises(UserError, match="The module 'no_such_module' of 'no_such_module:Mine' cannot be imported"):
        presets.preset("fast", None, "no_such_module:Mine")
