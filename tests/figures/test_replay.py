"""Episodes as data for a page."""

from __future__ import annotations

import base64
import dataclasses
import io

import jax
import numpy as np
import pytest
from PIL import Image

from merlax.core.networks import TeamPolicy
from merlax.core.players import PolicyPlayer
from merlax.core.rollout import Field, trace
from merlax.envs import make
from merlax.figures import page, replay
from merlax.figures.scene import scene
from tests.support.drawing import walk
from tests.support.worlds import rover


@pytest.fixture(scope="module")
def one():
    env = make("rover-1", horizon=6)
    policy = TeamPolicy(jax.random.key(0), env.sides[0], [8])
    return scene(env, trace(jax.random.key(1), Field(env), PolicyPlayer(policy)))


def told(episodes):
    return replay.replay_data("a world", "a team", episodes)


def test_every_instant_tells_what_was_seen_done_and_paid_so_far(one):
    (shown,) = told([replay.Episode(3, (one,))])["episodes"][0]["scenes"]
    side = shown["told"][0]
    assert side["obs"].shape == (7, 3, one.told[0].obs.shape[2])
    assert side["action"].shape == (7, 3, 2)
    np.testing.assert_allclose(side["agent"][0], 0.0)
    np.testing.assert_allclose(side["agent"][-1], one.told[0].agent_reward.sum(axis=0))
    np.testing.assert_allclose(side["team"][-1], one.final, atol=1e-6)
    assert shown["score"][-1] == pytest.approx(one.final)


def test_what_never_moves_is_told_once(one):
    (shown,) = told([replay.Episode(0, (one,))])["episodes"][0]["scenes"]
    poi = next(mark for mark in shown["marks"] if mark.get("name") == "POI")
    rovers = next(mark for mark in shown["marks"] if mark.get("name") == "rover")
    assert poi["position"].shape == (1, 3, 2)
    assert rovers["position"].shape == (7, 3, 2)


def test_of_a_long_episode_some_instants_are_kept_with_its_last():
    env = rover("rover-1", horizon=7000)
    (shown,) = told([replay.Episode(0, (scene(env, walk(env, np.zeros((7000, 3, 2)))),))])["episodes"][0]["scenes"]
    assert len(shown["times"]) <= replay.LONGEST + 1
    assert shown["times"][-1] == 7000


def test_observations_beyond_all_bounds_are_left_out(one, monkeypatch):
    monkeypatch.setattr(replay, "MOST_SEEN", 10)
    (shown,) = told([replay.Episode(0, (one,))])["episodes"][0]["scenes"]
    assert shown["told"][0]["obs"] is None


def test_pictures_of_the_worlds_own_are_small_and_in_their_order(one):
    greys = np.linspace(0, 200, 3).astype(np.uint8)
    filmed = dataclasses.replace(one, frames=np.broadcast_to(greys[:, None, None, None], (3, 300, 600, 3)))
    (shown,) = told([replay.Episode(0, (filmed,))])["episodes"][0]["scenes"]
    images = [Image.open(io.BytesIO(base64.b64decode(letters))) for letters in shown["pictures"]]
    assert [image.size for image in images] == 3 * [(480, 240)]
    found = [np.asarray(image.convert("L")).mean() for image in images]
    np.testing.assert_allclose(found, greys, atol=2)


def test_ten_episodes_of_the_largest_team_are_below_a_megabyte():
    env = make("rover-7")
    policy = TeamPolicy(jax.random.key(0), env.sides[0], [8])
    keys = jax.random.split(jax.random.key(1), 10)
    scenes = [scene(env, trace(key, Field(env), PolicyPlayer(policy))) for key in keys]
    data = told([replay.Episode(number, (own,)) for number, own in enumerate(scenes)])
    assert len(page.page("rover-7", data, page.REPLAY, "start_replay.js")) < 1_000_000
