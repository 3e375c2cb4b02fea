"""merlax from Python, as the README shows it."""

import dataclasses

import jax
import numpy as np
import pytest
from PIL import Image
from tests.rendezvous import Rendezvous
from tests.settings import TINY

import merlax


def train(env, out, **options):
    frames = (6 * 2 + 2) * merlax.make(env).horizon if isinstance(env, str) else (6 * 2 + 2) * env.horizon
    return merlax.train(env, frames=2 * frames, config=TINY, out=out, quiet=True, **options)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    env = merlax.Rover(num_agents=4, num_poi=2, coupling=2, horizon=12)
    return train(env, tmp_path_factory.mktemp("runs") / "own")


def test_a_run_comes_back_as_it_was(run):
    again = merlax.load(run.path)
    assert again.env == run.env
    assert len(again.progress["frames"]) == 2
    obs, _ = run.env.reset(jax.random.key(0))
    np.testing.assert_array_equal(again.champion(obs), run.champion(obs))


def test_a_world_with_numbers_of_its_own_says_so_and_has_no_published_score(run):
    assert run.world == "rover-2 (num_poi 2, horizon 12, speed free, encoding clean)"
    rover_3 = {"world": "rover-3", "env": {}}
    published = dataclasses.replace(run, config=rover_3, env=merlax.Rover(coupling=3, speed="pinned"))
    assert published.published is not None
    assert dataclasses.replace(published, env=merlax.Rover(coupling=3, num_poi=6)).published is None
    elsewhere = {"world": "a name that only its maker has registered", "env": {}}
    assert dataclasses.replace(run, config=elsewhere).world.startswith("a name that only")


def test_evaluating_twice_gives_the_same_score_and_another_seed_other_episodes(run):
    assert merlax.evaluate(run, 20, seed=1) == merlax.evaluate(run.path, 20, seed=1)
    with pytest.raises(merlax.UserError, match="at least 1"):
        merlax.evaluate(run, episodes=0)


def test_curve_and_animation_are_files_that_open(run, tmp_path):
    assert Image.open(merlax.plot(run, tmp_path / "curve.png")).size[0] > 300
    assert Image.open(merlax.render(run, tmp_path / "team.gif")).n_frames > 1


def test_a_world_of_the_users_own_trains_and_needs_that_world_to_load(tmp_path):
    run = train(Rendezvous(), tmp_path / "run")
    assert run.config["world"] is None
    assert not (run.path / "champion.gif").exists()
    with pytest.raises(merlax.UserError, match="pass that world"):
        merlax.load(run.path)
    assert merlax.load(run.path, Rendezvous()).env == Rendezvous()


def test_a_champion_does_not_load_into_another_world(run):
    with pytest.raises(merlax.UserError, match="another world"):
        merlax.load(run.path, merlax.make("rover-3"))


def test_a_name_is_registered_once():
    with pytest.raises(merlax.UserError, match="taken"):
        merlax.register("rover-3", Rendezvous)
