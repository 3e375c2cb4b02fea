"""The `paper` preset is Table 2 of the paper, number by number; the baselines share it, half by half."""

import dataclasses

import pytest

from merlax import algorithms
from merlax.algorithms import presets
from merlax.core.td3 import TD3Config
from merlax.envs import make
from merlax.types import UserError


def test_the_evolutionary_half_of_table_2():
    evolution = presets.preset("paper", "rover-3").evolution
    assert (evolution.population, evolution.elites, evolution.tournament) == (10, 4, 3)
    assert (evolution.mutation_probability, evolution.mutation_fraction, evolution.mutation_strength) == (0.9, 0.1, 0.1)
    assert (evolution.super_probability, evolution.reset_probability) == (0.05, 0.05)


def test_the_gradient_half_of_table_2():
    td3 = presets.preset("paper", "rover-3").td3
    assert (td3.actor_rate, td3.critic_rate, td3.target_weight, td3.discount) == (5e-5, 1e-5, 1e-5, 0.5)
    assert (td3.batch, td3.buffer, td3.smoothing, td3.smoothing_clip, td3.delay) == (512, 100_000, 0.2, 0.5, 2)
    assert (td3.order, td3.updates_per_frame, td3.reward_scale, td3.action_penalty) == ("sequential", 1.0, 10.0, 0.0)


def test_the_rollouts_of_table_2():
    paper = presets.preset("paper", "rover-3")
    judging = paper.evolution.fitness_episodes, paper.evolution.fitness_memory, paper.evolution.same_instances
    assert judging == (10, 1, False)
    assert (paper.noisy_episodes, paper.explore_episodes, paper.noise) == (1, 50, 0.4)
    assert (paper.actor_hidden, paper.critic_hidden) == ((100, 100), (100, 100))


def test_two_rovers_is_deterministic_so_one_episode_is_enough():
    assert presets.preset("paper", "two-rovers").evolution.fitness_episodes == 1


def test_an_unknown_preset_is_refused():
    with pytest.raises(UserError, match="choose from"):
        presets.preset("slow", "rover-3")


@pytest.mark.parametrize("world", ["rover-3", "two-rovers", None])
@pytest.mark.parametrize("name", presets.PRESETS)
def test_every_algorithm_has_every_preset(name, world):
    for algorithm in algorithms.names():
        assert algorithms.make(algorithm, make("rover-3"), presets.preset(name, world, algorithm)).frames_per_generation


@pytest.mark.parametrize("world", ["rover-3", "two-rovers"])
@pytest.mark.parametrize("name", presets.PRESETS)
def test_ea_is_merls_evolutionary_half(name, world):
    ea, merl = presets.preset(name, world, "ea"), presets.preset(name, world)
    assert (ea.evolution, ea.actor_hidden) == (merl.evolution, merl.actor_hidden)


@pytest.mark.parametrize("algorithm", ["td3", "ddpg", "matd3", "maddpg"])
@pytest.mark.parametrize("name", presets.PRESETS)
def test_gradient_methods_are_merls_learner_but_for_what_their_name_says(name, algorithm):
    alone, merl = presets.preset(name, "rover-3", algorithm), presets.preset(name, "rover-3")
    options = {field.name for field in dataclasses.fields(TD3Config)}
    differ = {option for option in options if getattr(alone.td3, option) != getattr(merl.td3, option)}
    expected = {"discount"}
    if algorithm in ("ddpg", "maddpg"):
        expected |= {"critics", "delay", "smoothing"}
    if algorithm in ("matd3", "maddpg"):
        expected |= {"critic", "order" if name == "paper" else "updates_per_frame"}
    assert differ == expected
    assert (alone.reward, alone.team_weight, alone.td3.discount) == ("mixed", 10.0, 0.97)
    assert (alone.explore_episodes, alone.noise, alone.actor_hidden) == (50, merl.noise, merl.actor_hidden)


@pytest.mark.parametrize(("algorithm", "hidden"), [("td3", 100), ("ddpg", 100), ("matd3", 300), ("maddpg", 300)])
def test_joint_critics_are_wide(algorithm, hidden):
    assert presets.preset("paper", "rover-3", algorithm).critic_hidden == (hidden, hidden)


def test_es_judges_its_teams_as_merl_does():
    for world, episodes in (("rover-3", 10), ("two-rovers", 1)):
        es = presets.preset("paper", world, "es")
        assert (es.population, es.sigma, es.fitness_episodes, es.same_instances) == (100, 0.1, episodes, False)
    assert presets.preset("fast", "rover-3", "es").same_instances


def test_a_preset_of_an_unknown_algorithm_is_refused():
    with pytest.raises(UserError, match="did you mean 'matd3'"):
        presets.preset("fast", None, "matd33")
