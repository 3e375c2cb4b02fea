"""Team policies and critics."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from merlax.core.networks import (
    LEARNER_BIAS,
    Critic,
    JointCritic,
    TeamPolicy,
    first_layers,
    kaiming,
    tuned,
    untuned,
    with_heads,
)
from merlax.envs.base import Side
from tests.support.weights import weights

AGENTS, OBS, ACT = 3, 5, 2
SIDE = Side.equal(AGENTS, OBS, ACT)

act = jax.jit(lambda team, obs: team(obs))
preactivate = jax.jit(lambda team, obs: team.preactivation(obs))


def policy(seed=0):
    return weights(lambda key: TeamPolicy(key, SIDE, (8, 6)), seed)


def observations(*batch):
    return jnp.array(np.random.default_rng(0).normal(size=(*batch, OBS)), jnp.float32)


def test_a_head_acts_for_its_own_agent_only():
    team, obs = policy(), observations(AGENTS)
    for agent in range(AGENTS):
        own = slice(agent * ACT, (agent + 1) * ACT)
        weight, bias = team.heads.weight.at[:, own].add(1.0), team.heads.bias.at[own].add(1.0)
        changed = eqx.tree_at(lambda t: (t.heads.weight, t.heads.bias), team, (weight, bias))
        same = (act(changed, obs) == act(team, obs)).all(axis=1)
        assert same.tolist() == [k != agent for k in range(AGENTS)]


def test_the_trunk_serves_all_agents():
    team, obs = policy(), observations(AGENTS)
    for layer in range(2):
        changed = eqx.tree_at(lambda t, i=layer: t.trunk[i].weight, team, team.trunk[layer].weight + 0.1)
        assert (act(changed, obs) != act(team, obs)).any(axis=1).all()


def test_one_head_alone_is_its_row_of_all_heads():
    team, obs = policy(), observations(4, AGENTS)
    one_head = jax.jit(lambda agent, obs: team.complete(obs @ team.obs_weight, jnp.full(len(obs), agent)))
    for agent in range(AGENTS):
        alone = one_head(agent, obs[:, agent])
        np.testing.assert_allclose(alone, preactivate(team, obs)[:, agent], atol=1e-6)


def test_actions_are_the_tanh_of_the_preactivation():
    team, obs = policy(), 100.0 * observations(AGENTS)
    np.testing.assert_allclose(act(team, obs), np.tanh(preactivate(team, obs)), atol=1e-6)


@pytest.mark.parametrize("gains", [False, True])
def test_an_agent_with_anothers_head_acts_as_that_one_would(gains):
    obs = jnp.broadcast_to(observations(1), (AGENTS, OBS))
    team = tuned(policy(), 0.1 * observations(AGENTS)) if gains else policy()
    action = act(with_heads(team, jnp.array([1, 1, 0])), obs)
    np.testing.assert_allclose(action, act(team, obs)[jnp.array([1, 1, 0])], atol=1e-6)


def test_a_gain_of_zero_changes_nothing():
    team, obs = policy(), 3.0 * observations(4, AGENTS)
    np.testing.assert_array_equal(act(untuned(team), obs), act(team, obs))


def test_a_gain_is_the_logarithm_of_a_factor_on_its_agents_input():
    team, obs = policy(), jnp.clip(observations(4, AGENTS), -0.4, 0.4)
    gain = jnp.zeros((AGENTS, OBS)).at[1, 2].set(np.log(2.0))
    np.testing.assert_allclose(act(tuned(team, gain), obs), act(team, obs.at[:, 1, 2].mul(2.0)), atol=1e-6)


def test_a_gain_makes_no_input_larger_than_one():
    team, obs = policy(), jnp.full((AGENTS, OBS), 0.5).at[0].set(-1.5)
    gain = jnp.full((AGENTS, OBS), 5.0)
    np.testing.assert_allclose(
        act(tuned(team, gain), obs), act(team, jnp.ones((AGENTS, OBS)).at[0].set(-1.5)), atol=1e-6
    )


def test_batch_axes_are_vmap():
    team, obs = policy(), observations(2, 4, AGENTS)
    np.testing.assert_allclose(act(team, obs), jax.jit(jax.vmap(jax.vmap(team)))(obs), atol=1e-6)


def test_a_population_of_policies_is_vmap():
    teams, obs = [policy(seed) for seed in range(3)], observations(AGENTS)
    population = jax.tree.map(lambda *leaves: jnp.stack(leaves), *teams)
    actions = jax.jit(jax.vmap(act, in_axes=(0, None)))(population, obs)
    np.testing.assert_allclose(actions, jnp.stack([act(team, obs) for team in teams]), atol=1e-6)


@pytest.mark.parametrize("num_agents", [1, 20])
def test_the_population_starts_xavier_uniform_with_gain_a_half_whatever_the_teams_size(num_agents):
    team = jax.jit(lambda key: TeamPolicy(key, Side.equal(num_agents, 50, ACT), (60, 40)))(jax.random.key(0))
    for layer, (inputs, outputs) in zip((*team.trunk, team.heads), [(50, 60), (60, 40), (40, ACT)], strict=True):
        limit = 0.5 * np.sqrt(6 / (inputs + outputs))
        assert 0.9 * limit < np.abs(layer.weight).max() <= limit
        assert (layer.bias == 0.0).all()


def test_agents_start_with_different_heads():
    team = jax.jit(lambda key: TeamPolicy(key, Side.equal(4, 5, ACT), (6,)))(jax.random.key(0))
    assert len(np.unique(team.heads.weight)) == team.heads.weight.size


def test_the_learner_starts_kaiming_uniform():
    def learner(key):
        return TeamPolicy(key, SIDE, (30,), kaiming, LEARNER_BIAS), Critic(jax.random.clone(key), SIDE, (30,))

    team, critic = jax.jit(learner)(jax.random.key(0))
    for layer in (*team.trunk, team.heads, *critic.layers):
        limit = np.sqrt(6 / layer.weight.shape[0])
        assert 0.8 * limit < np.abs(layer.weight).max() <= limit
        np.testing.assert_allclose(layer.bias, 0.01)


def test_a_critic_is_a_plain_network_on_observation_and_action():
    critic = weights(lambda key: Critic(key, SIDE, (8, 6)))
    obs, action = observations(4, AGENTS), observations(4, AGENTS)[..., :ACT]
    x = np.concatenate([obs, action], axis=-1)
    for layer in critic.layers[:-1]:
        x = np.tanh(x @ np.asarray(layer.weight) + np.asarray(layer.bias))
    last = critic.layers[-1]
    expected = (x @ np.asarray(last.weight) + np.asarray(last.bias))[..., 0]
    np.testing.assert_allclose(jax.jit(lambda *pair: critic(*pair))(obs, action), expected, atol=1e-5)


def test_a_normalised_critic_is_layers_of_mean_0_and_deviation_1_and_relu():
    critic = weights(lambda key: Critic(key, SIDE, (8, 6), normalised=True))
    obs, action = observations(4, AGENTS), observations(4, AGENTS)[..., :ACT]
    x = np.concatenate([obs, action], axis=-1)
    for layer in critic.layers[:-1]:
        x = normalised(x @ np.asarray(layer.weight) + np.asarray(layer.bias))
    expected = (x @ np.asarray(critic.layers[-1].weight) + np.asarray(critic.layers[-1].bias))[..., 0]
    np.testing.assert_allclose(jax.jit(lambda c, o, a: c(o, a))(critic, obs, action), expected, rtol=1e-3, atol=1e-4)


SHARED = pytest.mark.parametrize("shared", [False, True], ids=["apart", "shared"])


def joint_critic(shared: bool = False, normalised: bool = False):
    return weights(lambda key: JointCritic(key, SIDE, (8, 6), shared=shared, normalised=normalised))


def normalised(x):
    return np.maximum((x - x.mean(-1, keepdims=True)) / x.std(-1, keepdims=True), 0.0)


@SHARED
@pytest.mark.parametrize("activate", [np.tanh, normalised])
def test_a_joint_critic_is_one_plain_network_per_agent_on_everybodys_observations_and_actions(shared, activate):
    critic = joint_critic(shared, activate is normalised)
    obs, action = observations(4, AGENTS), observations(4, AGENTS)[..., :ACT]
    joint = np.concatenate([np.reshape(obs, (4, -1)), np.reshape(action, (4, -1))], axis=1)
    first = np.concatenate([critic.on_obs, critic.on_action])
    values = jax.jit(lambda *pair: critic(*pair))(obs, action)
    for agent in range(AGENTS):
        own = slice(0, 8) if shared else slice(8 * agent, 8 * (agent + 1))
        x = joint @ first[:, own] + np.asarray(critic.bias[own])
        for layer in critic.others:
            x = activate(x) @ np.asarray(layer.weight[agent]) + np.asarray(layer.bias[agent])
        np.testing.assert_allclose(values[:, agent], x[:, 0], rtol=1e-3, atol=1e-4)


@SHARED
def test_a_joint_critic_lets_each_agent_alone_act_otherwise(shared):
    critic, obs = joint_critic(shared), observations(4, AGENTS)
    action, own = observations(4, AGENTS)[..., :ACT], -2.0 * observations(4, AGENTS)[..., 1 : ACT + 1]
    (seen,) = first_layers(obs, critic)
    values = jax.jit(lambda *args: critic.complete_with_own(*args))(seen, action, own)
    for agent in range(AGENTS):
        alone = action.at[:, agent].set(own[:, agent])
        np.testing.assert_allclose(values[:, agent], critic(obs, alone)[:, agent], atol=1e-5)


def test_networks_that_share_a_matmul_see_what_they_would_see_alone():
    obs, networks = observations(4, AGENTS), (joint_critic(), policy(), weights(lambda k: Critic(k, SIDE, (7,))))
    together = first_layers(obs, *networks)
    for network, seen in zip(networks, together, strict=True):
        np.testing.assert_allclose(seen, first_layers(obs, network)[0], atol=1e-5)
