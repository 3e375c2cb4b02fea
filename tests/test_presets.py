"""The `paper` preset is Table 2 of the paper, number by number."""

import pytest

from merlax import presets
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
