"""Whole episodes of rovers that head for the nearest POI."""

import jax
import numpy as np
import pytest

from tests.support.worlds import rover


@pytest.fixture(scope="module")
def episodes():
    """500 episodes of rover-3 in which every rover heads for the nearest POI: team reward, ends and status."""
    env = rover("rover-3")
    greedy = env.rules(0)["scripted"]

    def episode(seed):
        def one_step(state, _):
            _, state, reward, terminated, truncated, info = env.step(jax.random.key(0), state, greedy.act(state))
            return state, (reward.team, terminated | truncated, info["observed"])

        return jax.lax.scan(one_step, env.reset(jax.random.key(seed))[1], length=env.horizon)[1]

    team, ends, observed = jax.tree.map(np.asarray, jax.jit(jax.vmap(episode))(np.arange(500)))
    return team, ends.argmax(axis=1), observed


def test_heading_for_the_nearest_poi_scores_what_the_authors_world_pays(episodes):
    team, last, _ = episodes
    assert team[np.arange(500), last].mean() == pytest.approx(0.941, abs=0.03)


def test_the_team_reward_is_0_before_the_end(episodes):
    team, last, _ = episodes
    assert (last < 49).any()
    assert (team[np.arange(50) < last[:, None]] == 0.0).all()


def test_the_team_reward_of_an_episode_is_the_share_observed_before_its_last_step(episodes):
    team, last, observed = episodes
    total = np.where(np.arange(50) <= last[:, None], team, 0.0).sum(axis=1)
    np.testing.assert_allclose(total, observed[np.arange(500), last - 1].mean(axis=1))
