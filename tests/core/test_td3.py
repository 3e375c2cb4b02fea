"""One round of updates of the gradient learner, checked against Algorithm 1, and the settings it refuses."""

import dataclasses
import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from merlax.core import td3
from merlax.core.td3 import Td3
from merlax.envs.base import Side
from merlax.types import Transition, UserError
from tests.support.td3 import ACT, AGENTS, JOINT, OBS, SEQUENTIAL, SIDE, new_learner, round_of, transitions


def flat(critics):
    """Critics that say 0 whatever they see."""
    return jax.tree.map(jnp.zeros_like, critics)


def targets(learner, batch, config=JOINT):
    """The target y of Algorithm 1 without smoothing: the immediate part, and the bootstrapped one."""
    action = learner.target_actor(batch.next_obs)
    value = functools.reduce(jnp.minimum, [q(batch.next_obs, action) for q in learner.target_critics])
    return config.reward_scale * batch.agent_reward, config.discount * value


def loss(learner, batch, target):
    return sum(jnp.mean((q(batch.obs, batch.action) - target) ** 2) for q in learner.critics)


def changed(before, after):
    return [bool((new != old).any()) for old, new in zip(*map(jax.tree.leaves, (before, after)), strict=True)]


def test_a_truncated_transition_bootstraps():
    learner, batch = new_learner(), transitions(terminated=False)
    now, later = targets(learner, batch)
    np.testing.assert_allclose(round_of(learner, batch)[1][0], loss(learner, batch, now + later), rtol=1e-5)


def test_a_terminal_transition_does_not_bootstrap():
    learner, batch = new_learner(), transitions(terminated=True)
    now, _ = targets(learner, batch)
    np.testing.assert_allclose(round_of(learner, batch)[1][0], loss(learner, batch, now), rtol=1e-5)


@pytest.mark.parametrize("smaller", [0, 1])
def test_the_smaller_of_the_twin_critics_counts(smaller):
    learner, batch = new_learner(), transitions()
    low = learner.target_critics[smaller].layers[-1].bias - 30.0
    learner = eqx.tree_at(lambda tree: tree.target_critics[smaller].layers[-1].bias, learner, low)
    now, later = targets(learner, batch)
    assert later.max() < 0
    np.testing.assert_allclose(round_of(learner, batch)[1][0], loss(learner, batch, now + later), rtol=1e-5)


def test_smoothing_is_clipped():
    learner, batch = new_learner(), transitions()
    wild = dataclasses.replace(JOINT, smoothing=50.0, smoothing_clip=0.0)
    np.testing.assert_allclose(round_of(learner, batch, wild)[1][0], round_of(learner, batch)[1][0], rtol=1e-6)


def test_smoothing_moves_the_target_action_but_not_beyond_its_limits():
    learner, batch = new_learner(), transitions()
    first = [c.layers[0].weight.at[OBS, 0].set(1e-3) for c in flat(learner.target_critics)]
    last = [jnp.eye(8, 1)] * 2  # the targets say a thousandth of the first action
    where = lambda critics: [c.layers[i].weight for i in (0, 1) for c in critics]  # noqa: E731
    critics = eqx.tree_at(where, flat(learner.target_critics), [*first, *last])
    learner = dataclasses.replace(learner, critics=flat(learner.critics), target_critics=critics)
    wild = dataclasses.replace(JOINT, smoothing=1e6, smoothing_clip=1e6, discount=1.0, reward_scale=1e-9)
    # Every smoothed action is -1 or 1, so both critics miss their target by a thousandth.
    np.testing.assert_allclose(round_of(learner, batch, wild)[1][0], 2e-6, rtol=1e-3)


@pytest.mark.parametrize("config", [JOINT, SEQUENTIAL])
def test_the_actor_moves_in_every_second_round_only(config):
    first, batch = new_learner(), transitions()
    second, _ = round_of(first, batch, config)
    third, _ = round_of(second, batch, config)
    fourth, _ = round_of(third, batch, config)
    for part in ("actor", "target_actor", "actor_moments"):
        assert not any(changed(getattr(first, part), getattr(second, part)))
        assert any(changed(getattr(second, part), getattr(third, part)))
        assert not any(changed(getattr(third, part), getattr(fourth, part)))
    assert all(changed(first.critics, second.critics))
    assert int(fourth.rounds) == 3


@pytest.mark.parametrize("config", [JOINT, SEQUENTIAL])
def test_two_rounds_move_the_head_of_every_agent(config):
    before, batch = new_learner(), transitions()
    after, _ = round_of(round_of(before, batch, config)[0], batch, config)
    moved = (after.actor.heads.weight != before.actor.heads.weight).reshape(8, AGENTS, ACT)
    assert moved.any(axis=(0, 2)).all()


def test_sequential_updates_of_one_agent_are_the_joint_ones():
    joint = sequential = new_learner(side=Side.equal(1, OBS, ACT))
    batch = transitions(agents=1)
    for _ in range(2):
        (joint, losses), (sequential, losses_2) = round_of(joint, batch), round_of(sequential, batch, SEQUENTIAL)
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-5), (joint, losses), (sequential, losses_2))


def test_sequential_updates_train_each_head_on_its_own_agents_observations():
    learner, batch = new_learner(rounds=1), transitions()
    silent = dataclasses.replace(batch, obs=batch.obs.at[:, 1].set(0.0))
    moments = [round_of(learner, seen, SEQUENTIAL)[0].actor_moments[0].mu.heads.weight for seen in (batch, silent)]
    first, second = np.moveaxis(np.reshape(moments, (2, 8, AGENTS, ACT)), 2, 0)
    np.testing.assert_allclose(first[0], first[1], atol=1e-6)
    assert np.abs(second[0] - second[1]).max() > 1e-3


def test_target_critics_follow_by_exactly_tau():
    before = new_learner()
    after, _ = round_of(before, transitions())
    expected = jax.tree.map(lambda slow, fast: 0.9 * slow + 0.1 * fast, before.target_critics, after.critics)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-6), after.target_critics, expected)


def test_the_target_actor_follows_by_exactly_tau_when_the_actor_moves():
    before = new_learner(rounds=1)
    after, _ = round_of(before, transitions())
    expected = jax.tree.map(lambda slow, fast: 0.9 * slow + 0.1 * fast, before.target_actor, after.actor)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-6), after.target_actor, expected)


def test_the_actor_climbs_the_first_critic():
    learner, batch = new_learner(rounds=1), transitions()
    after, _ = round_of(learner, batch)
    value = lambda actor: after.critics[0](batch.obs, actor(batch.obs)).mean()  # noqa: E731
    assert value(after.actor) > value(learner.actor)


def test_the_penalty_alone_shrinks_the_preactivation():
    learner, batch = new_learner(rounds=1), transitions()
    learner = dataclasses.replace(learner, critics=flat(learner.critics))
    penalised = dataclasses.replace(JOINT, action_penalty=1.0, reward_scale=1e-9, discount=0.0)
    after, _ = round_of(learner, batch, penalised)
    size = lambda actor: (actor.preactivation(batch.obs) ** 2).mean()  # noqa: E731
    assert size(after.actor) < size(learner.actor)


def test_the_targets_of_a_new_learner_are_copies():
    learner = jax.jit(lambda key: td3.init(key, SIDE, (8,), JOINT))(jax.random.key(0))
    jax.tree.map(np.testing.assert_array_equal, learner.actor, learner.target_actor)
    jax.tree.map(np.testing.assert_array_equal, learner.critics, learner.target_critics)
    assert (learner.critics[0].layers[0].weight != learner.critics[1].layers[0].weight).all()


# What a learner is paid, of the two rewards that the buffer keeps.

PAID = Transition(
    obs=jnp.zeros((1, AGENTS, OBS)), action=jnp.zeros((1, AGENTS, ACT)), agent_reward=jnp.array([[1.0, -2.0]]),
    team_reward=jnp.array([[0.5, 0.5]]), next_obs=jnp.zeros((1, AGENTS, OBS)), terminated=jnp.zeros((1, AGENTS), bool),
)  # fmt: skip
BOUNDS = 5.0, 4.0  # of the team's reward, and of an agent's


def paid(bounds=(1.0, 1.0), **options):
    return td3.pay(PAID, Td3(**options), bounds)[0].tolist()


def test_agents_are_paid_their_own_reward_whatever_the_team_gets():
    assert paid(BOUNDS, reward="agent") == [1.0, -2.0]


def test_globally_every_agent_is_paid_the_team_reward_alone():
    assert paid(BOUNDS, reward="global") == [0.5, 0.5]


def test_the_mixed_reward_adds_the_weighted_team_reward():
    assert paid(reward="mixed") == [1.0 + 10 * 0.5, -2.0 + 10 * 0.5]
    assert paid(reward="mixed", team_weight=100.0) == [51.0, 48.0]


def test_the_mixed_reward_normalises_each_by_its_own_bound():
    assert paid(BOUNDS, reward="mixed") == pytest.approx([1.0 / 4 + 10 * 0.5 / 5, -2.0 / 4 + 10 * 0.5 / 5])


@pytest.mark.slow
@pytest.mark.parametrize("reward", ["agent", "global", "mixed"])
@pytest.mark.parametrize("order", ["joint", "sequential"])
def test_critics_learn_the_reward_that_their_learner_is_paid(order, reward):
    """The critics say 0, and nothing is bootstrapped, so each one's error is the scaled reward alone."""
    learner, batch = new_learner(), transitions()
    learner = dataclasses.replace(learner, critics=flat(learner.critics))
    config = dataclasses.replace(JOINT, order=order, reward=reward, discount=0.0, critic_rate=1e-12)
    expected = 2 * np.mean((config.reward_scale * td3.pay(batch, config, BOUNDS)) ** 2)
    np.testing.assert_allclose(round_of(learner, batch, config, BOUNDS)[1][0], expected, rtol=1e-5)


def test_large_errors_count_by_their_size_and_small_ones_by_their_square():
    learner, batch = new_learner(), transitions(terminated=True)
    miss = jnp.stack([q(batch.obs, batch.action) - targets(learner, batch)[0] for q in learner.critics])
    assert (jnp.abs(miss) < 1.0).any()
    assert (jnp.abs(miss) > 1.0).any()
    expected = np.where(np.abs(miss) < 1.0, miss**2 / 2.0, np.abs(miss) - 0.5).mean(axis=(1, 2)).sum()
    robust = dataclasses.replace(JOINT, huber=1.0)
    np.testing.assert_allclose(round_of(learner, batch, robust)[1][0], expected, rtol=1e-5)


def test_rates_fall_with_the_rounds():
    falling, batch = dataclasses.replace(JOINT, halving_rounds=9.0), transitions()
    step = lambda config: jax.tree.map(  # noqa: E731
        jnp.subtract, round_of(new_learner(rounds=8), batch, config)[0].critics, new_learner(rounds=8).critics
    )
    full, half = (jnp.concatenate([leaf.ravel() for leaf in jax.tree.leaves(step(c))]) for c in (JOINT, falling))
    np.testing.assert_allclose(2.0 * half, full, rtol=1e-3, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("config", [JOINT, SEQUENTIAL, dataclasses.replace(JOINT, critic="joint")])
def test_nobody_learns_from_the_rows_of_who_has_left(config):
    """Whatever stands in the rows of the second half, where the last agent is gone."""
    learner, batch = new_learner(rounds=1, config=config), transitions()
    there = (jnp.arange(JOINT.batch)[:, None] < JOINT.batch // 2) | (jnp.arange(AGENTS)[None] < AGENTS - 1)
    batch = dataclasses.replace(batch, present=there)
    wild = jnp.where(there, batch.agent_reward, 1e6)
    once, twice = (round_of(learner, one, config)[0] for one in (batch, dataclasses.replace(batch, agent_reward=wild)))
    np.testing.assert_array_equal(once.actor.heads.weight, twice.actor.heads.weight)
    assert all(np.array_equal(a, b) for a, b in zip(*map(jax.tree.leaves, (once.critics, twice.critics)), strict=True))


def test_choices_are_learnt_and_stay_choices():
    side = Side.equal(AGENTS, OBS, choices=ACT)
    learner = new_learner(rounds=1, side=side)
    moved, _ = round_of(learner, transitions())
    assert any(changed(learner.actor, moved.actor))
    chosen = moved.actor(transitions().obs)
    assert set(np.unique(chosen)) == {0.0, 1.0}
    assert (chosen.sum(axis=-1) == 1.0).all()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"actor_rate": 0.0}, "actor_rate is 0.0"),
        ({"critic_rate": -1.0}, "critic_rate is -1.0"),
        ({"critic_rate": float("nan")}, "critic_rate is nan"),
        ({"target_weight": 1.5}, "target_weight is 1.5"),
        ({"discount": -0.1}, "discount is -0.1"),
        ({"batch": 0}, "batch is 0"),
        ({"buffer": 0}, "buffer is 0"),
        ({"batch": 512, "buffer": 100}, "batch is 512 but a buffer keeps only 100"),
        ({"smoothing": -1.0}, "smoothing is -1.0"),
        ({"smoothing_clip": -0.5}, "smoothing_clip is -0.5"),
        ({"delay": 0}, "delay is 0"),
        ({"critics": 3}, "critics is 3"),
        ({"critic": "shared"}, "critic is 'shared'"),
        ({"critic_hidden": ()}, "critic_hidden is "),
        ({"reward": "team"}, "reward is 'team'"),
        ({"team_weight": -1.0}, "team_weight is -1.0"),
        ({"reward_scale": float("inf")}, "reward_scale is inf"),
        ({"order": "random"}, "order is 'random'"),
        ({"updates_per_frame": -1.0}, "updates_per_frame is -1.0"),
        ({"burn_in": 0}, "burn_in is 0"),
        ({"burn_in": 500}, "learning would never begin"),
        ({"action_penalty": -1.0}, "action_penalty is -1.0"),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_a_bad_setting_is_refused_in_one_sentence(options, says):
    with pytest.raises(UserError, match=says) as error:
        Td3(**options)
    assert str(error.value).endswith(".")
