"""One episode of one team, and batches of them."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from merlax.core import rollout
from merlax.core.networks import TeamPolicy
from merlax.core.players import PolicyPlayer, ScriptedPlayer
from merlax.core.rollout import FAULTS, Field, Rollout
from merlax.envs.base import Env
from merlax.types import Transition
from tests.probes.choices import Choices
from tests.probes.darts import Darts
from tests.probes.episodes import Countdown
from tests.probes.leavers import Leavers
from tests.probes.misbehaving import Misbehaving
from tests.probes.tag import BEST, SCRIPT, Tag
from tests.support.weights import weights

EARLY, LATE = Countdown(), Countdown(last=99)  # ends by termination in step 4, and by truncation in step 6
WIDE = Countdown(num_agents=50, horizon=40, last=99)
LEAVERS = Leavers(horizon=6)


def policy(env: Env = EARLY) -> TeamPolicy:
    return weights(lambda key: TeamPolicy(key, env.sides[0], (4,)))


def idle(env: Env) -> TeamPolicy:
    return jax.tree.map(jnp.zeros_like, policy(env))


@functools.cache
def compiled(env):
    return jax.jit(lambda seed, team, noise: rollout.play(jax.random.key(seed), Field(env), PolicyPlayer(team), noise))


def play(env, seed=0, team=None, noise=0.0) -> Rollout:
    return jax.tree.map(np.asarray, compiled(env)(seed, team or policy(env), noise))


def transitions(env, seed=0, team=None, noise=0.0) -> Transition:
    """Those of the team."""
    (own,) = play(env, seed, team, noise).transitions
    assert own is not None
    return own


def test_the_fitness_is_the_team_reward_up_to_the_end():
    assert play(EARLY).episode.fitness == 1 + 2 + 3 + 4
    assert play(LATE).episode.fitness == 1 + 2 + 3 + 4 + 5 + 6


def test_the_agents_mean_reward_is_summed_up_to_the_end():
    assert play(EARLY).episode.agent_reward == (1.5 * (1 + 2 + 3 + 4),)


def test_frames_are_the_steps_played():
    assert (play(EARLY).episode.frames, play(LATE).episode.frames) == (4, 6)


def test_valid_marks_exactly_the_steps_played():
    assert play(EARLY).valid.tolist() == [True] * 4 + [False] * 2
    assert play(LATE).valid.all()


def test_only_a_termination_is_kept_as_one():
    assert transitions(EARLY).terminated[:4].tolist() == [[False] * 2] * 3 + [[True] * 2]
    assert not transitions(LATE).terminated.any()


def test_each_agents_own_reward_is_kept_as_it_was_paid():
    np.testing.assert_array_equal(transitions(EARLY).agent_reward[:4], [(1, 2), (2, 4), (3, 6), (4, 8)])


def test_the_teams_reward_is_kept_as_it_was_paid_for_every_agent():
    np.testing.assert_array_equal(transitions(EARLY).team_reward[:4], [(1, 1), (2, 2), (3, 3), (4, 4)])


def test_every_next_observation_is_the_following_observation():
    kept = transitions(EARLY)
    np.testing.assert_array_equal(kept.next_obs[:-1], kept.obs[1:])
    np.testing.assert_array_equal(kept.next_obs[:, :, 1], np.repeat(np.arange(1.0, 7.0), 2).reshape(6, 2))


def test_without_noise_the_actions_are_the_policys():
    kept = transitions(EARLY)
    np.testing.assert_allclose(kept.action, jax.jit(policy().__call__)(kept.obs), atol=1e-6)


def test_without_noise_an_episode_repeats_itself():
    jax.tree.map(np.testing.assert_array_equal, play(EARLY), play(EARLY))


def test_another_key_gives_another_instance():
    assert (transitions(EARLY, 0).obs[0, :, 2] != transitions(EARLY, 1).obs[0, :, 2]).all()


def test_noise_has_the_given_size_and_is_never_repeated():
    action = np.asarray(transitions(WIDE, team=idle(WIDE), noise=0.1).action)
    assert action.std() == pytest.approx(0.1, rel=0.05)
    assert abs(action.mean()) < 0.01
    assert len(np.unique(action)) > 0.999 * action.size


def test_noisy_actions_are_clipped_and_played_as_kept():
    kept = transitions(WIDE, team=idle(WIDE), noise=3.0)
    assert (kept.action.min(), kept.action.max()) == (-1.0, 1.0)
    luck = (kept.next_obs - kept.obs)[:, :, 2] - kept.action.sum(axis=2)
    assert (luck > -1e-4).all()
    assert (luck < 1.0001).all()


def test_noise_leaves_the_instance_as_it_is():
    np.testing.assert_array_equal(transitions(EARLY).obs[0], transitions(EARLY, noise=0.5).obs[0])


@pytest.mark.parametrize("env", [EARLY, LATE])
def test_a_trace_is_the_episode_that_play_plays(env):
    episode = play(env).episode
    trace = rollout.trace(jax.random.key(0), Field(env), PolicyPlayer(policy(env)))
    assert (trace.score, trace.steps) == (episode.fitness, episode.frames)
    np.testing.assert_array_equal(trace.states.time, np.arange(7))
    np.testing.assert_allclose(trace.states.luck[:-1], transitions(env).obs[:, :, 2], atol=1e-6)


@pytest.mark.parametrize("env", [EARLY, LATE])
def test_a_history_and_a_trace_tell_the_same_episode(env):
    field, team = Field(env), PolicyPlayer(policy(env))
    score, history = jax.jit(rollout.history)(jax.random.key(0), field, team)
    trace = rollout.trace(jax.random.key(0), field, team)
    assert (score, history.valid.sum()) == (trace.score, trace.steps)
    np.testing.assert_array_equal(history.actions, trace.action[0])
    np.testing.assert_array_equal(history.agent_reward, trace.agent_reward[0])
    jax.tree.map(np.testing.assert_array_equal, history.states, trace.states)


def test_episodes_batched_by_vmap_are_the_single_ones():
    player = PolicyPlayer(policy())
    batched = jax.vmap(lambda seed: rollout.play(jax.random.key(seed), Field(EARLY), player, 0.3))
    batch = jax.jit(batched)(np.arange(3))
    for seed in range(3):
        one = play(EARLY, seed, player.policy, 0.3)
        jax.tree.map(lambda many, single, i=seed: np.testing.assert_allclose(many[i], single, atol=1e-6), batch, one)


@pytest.mark.parametrize("keep", [True, False])
def test_the_teams_transitions_are_kept_if_asked_for(keep):
    play_shape = lambda: rollout.play(jax.random.key(0), Field(EARLY), PolicyPlayer(policy()), keep=keep)  # noqa: E731
    (own,) = jax.eval_shape(play_shape).transitions
    assert (own is not None) is keep


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "fault"),
    [
        ("observation", "an observation"),
        ("first-observation", "an observation"),
        ("team", "the team's reward"),
        ("agent", "an agent's reward"),
    ],
)
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_an_episode_with_a_number_that_is_not_finite_has_no_fitness_and_names_the_fault(kind, fault, value):
    env = Misbehaving(kind=kind, value=value)
    episode = play(env).episode
    assert np.isnan(episode.fitness)
    assert episode.fault[FAULTS.index(fault)]


def test_an_episode_whose_numbers_are_finite_has_no_fault():
    assert not play(Misbehaving()).episode.fault.any()


# In contests.


@functools.cache
def contest(learns=False, keep=True, noise=None, opponent_noise=None) -> Rollout:
    """An idle team against the rule of the world."""
    env = Tag(horizon=40)
    field = Field(env, (ScriptedPlayer(1),), learns)
    team = PolicyPlayer(idle(env))
    return jax.jit(lambda: rollout.play(jax.random.key(0), field, team, noise, opponent_noise, keep=keep))()


def test_what_agents_are_paid_is_told_by_side():
    episode = contest().episode
    np.testing.assert_allclose(episode.agent_reward, [-40 * abs(SCRIPT), -40 * (BEST - SCRIPT)], rtol=1e-5)


def test_the_fitness_is_the_teams_side_alone():
    assert float(contest().episode.fitness) == pytest.approx(-40 * abs(SCRIPT), rel=1e-5)


@pytest.mark.parametrize("learns", [True, False])
@pytest.mark.parametrize("keep", [True, False])
def test_the_transitions_of_those_who_learn_are_kept_by_side(keep, learns):
    kept = contest(learns, keep).transitions
    assert [side is not None for side in kept] == [keep, learns]


def test_an_opponents_transitions_are_its_own():
    _, opponent = contest(learns=True).transitions
    assert opponent is not None
    assert (opponent.obs.shape, opponent.action.shape) == ((40, 1, 2), (40, 1, 1))
    np.testing.assert_allclose(opponent.action, SCRIPT)
    np.testing.assert_allclose(opponent.agent_reward, SCRIPT - BEST)


@pytest.mark.parametrize(("noises", "noisy"), [((0.1, None), (True, False)), ((None, 0.1), (False, True))])
def test_each_side_explores_with_a_noise_of_its_own(noises, noisy):
    spread = [np.std(side.action) for side in contest(True, True, *noises).transitions if side is not None]
    assert tuple(bool(size > 0.05) for size in spread) == noisy


def test_two_sides_that_explore_do_not_share_their_noise():
    team, opponent = contest(True, True, 0.1, 0.1).transitions
    assert team is not None
    assert opponent is not None
    assert (np.abs(team.action[:, 0] - (opponent.action[:, 0] - SCRIPT)) > 1e-6).all()


def test_the_trace_of_a_contest_is_the_episode_that_play_plays():
    field = Field(Tag(), (ScriptedPlayer(1),))
    team = PolicyPlayer(policy(Tag()))
    episode = jax.jit(lambda: rollout.play(jax.random.key(0), field, team).episode)()
    trace = rollout.trace(jax.random.key(0), field, team)
    assert (trace.score, trace.steps) == (episode.fitness, episode.frames)


# Batches, split over the devices.


@pytest.mark.slow
@pytest.mark.parametrize("teams", [3, 60])
def test_a_population_plays_each_teams_own_episodes_with_noise_by_episode(teams):
    """60 teams are more than are played at once on one device."""
    assert (-(-teams // 2) * 2 > rollout.EPISODES_AT_ONCE) == (teams == 60)
    one = lambda key: TeamPolicy(key, EARLY.sides[0], (4,))  # noqa: E731
    population = weights(lambda key: jax.vmap(one)(jax.random.split(key, teams)))
    noise = jnp.array([0.0, 0.5])

    def alone(keys, team):
        return jax.vmap(lambda key, sigma: rollout.play(key, Field(EARLY), PolicyPlayer(team), sigma))(keys, noise)

    def keys():
        return jax.random.split(jax.random.key(0), (teams, 2))

    together = jax.jit(lambda population: rollout.play_population(keys(), Field(EARLY), population, noise))
    expected = jax.jit(lambda population: jax.vmap(alone)(keys(), population))(population)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-5), together(population), expected)


def test_a_teams_opponents_explore_as_it_does():
    field = Field(Tag(horizon=40), (ScriptedPlayer(1),), opponents_learn=True)
    team = PolicyPlayer(idle(Tag()))
    play = jax.jit(lambda key: rollout.play_team(jax.random.split(key, 3), field, team, 0.1))
    for side in play(jax.random.key(0)).transitions:
        assert side is not None
        assert np.std(side.action) == pytest.approx(0.1, rel=0.2)


def test_a_test_plays_without_noise_on_fresh_instances():
    env = Darts("team")
    team = PolicyPlayer(policy(env))
    tested = rollout.play_test(jax.random.key(0), Field(env), team, 3)
    one = jax.vmap(lambda key: rollout.play(key, Field(env), team).episode.fitness)
    expected = jax.jit(lambda: one(jax.random.split(jax.random.key(0), 3)))()
    np.testing.assert_allclose(tested.fitness, expected, rtol=1e-5)
    assert len(np.unique(tested.fitness)) == 3


def test_a_test_meets_the_opponent_of_its_field():
    field = Field(Tag(), (ScriptedPlayer(1),), opponents_learn=True)
    tested = rollout.play_test(jax.random.key(0), field, PolicyPlayer(idle(Tag())), 3)
    np.testing.assert_allclose(tested.fitness, [-2 * abs(SCRIPT)] * 3, rtol=1e-5)


def left(env=LEAVERS, seed=3, noise=0.0):
    """An episode, its transitions, and in which step each agent was there for the last time."""
    played = play(env, seed, noise=noise)
    (own,) = played.transitions
    assert own is not None
    assert own.present is not None
    return played, own, own.present.sum(axis=0)


def test_who_has_left_counts_no_more_and_leaves_nothing():
    played, own, last = left()
    assert (last < LEAVERS.horizon).all()
    gone = np.arange(LEAVERS.horizon)[:, None] >= last[None]
    np.testing.assert_array_equal(own.present, ~gone)
    for part in (own.obs, own.action, own.agent_reward, own.team_reward, own.terminated):
        assert not np.any(part[gone])
    np.testing.assert_allclose(played.episode.agent_reward[0], own.agent_reward.mean(axis=1).sum(), rtol=1e-5)


def test_leaving_is_an_end_for_whoever_leaves_and_for_nobody_else():
    _, own, last = left()
    ends = np.arange(LEAVERS.horizon)[:, None] == last[None] - 1
    np.testing.assert_array_equal(own.terminated, ends)
    assert not np.any(own.next_obs[ends])


def test_what_is_shown_to_who_has_left_breaks_nothing():
    played, own, _ = left(Leavers(lies=float("nan")))
    assert not played.episode.fault.any()
    assert np.isfinite(played.episode.fitness)
    assert np.isfinite(own.next_obs).all()


def test_noise_lets_agents_choose_otherwise_but_never_what_is_illegal():
    env = Choices()
    calm, noisy = (transitions(env, noise=noise) for noise in (0.0, 2.0))
    for own in (calm, noisy):
        assert (own.action.sum(axis=-1) == 1.0).all()
        assert (own.action <= own.obs[..., -4:]).all()
    assert (calm.action != noisy.action).any()
