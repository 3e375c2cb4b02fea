"""merlax from Python, as the README shows it."""

import dataclasses
import json

import jax
import numpy as np
import pytest
from PIL import Image

import merlax
from tests.probes.rendezvous import Rendezvous
from tests.probes.tag import Tag
from tests.support.settings import TINY


def train(env, out, **options):
    horizon = merlax.make(env).horizon if isinstance(env, str) else env.horizon
    frames = options.pop("generations", 2) * (6 * 2 + 2) * horizon
    return merlax.train(env, frames=frames, settings=TINY, out=out, quiet=True, **options)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    env = merlax.Rover(num_agents=4, num_poi=2, coupling=2, horizon=12)
    return train(env, tmp_path_factory.mktemp("runs") / "own")


def test_everything_public_is_there_and_sorted():
    assert merlax.__all__ == sorted(merlax.__all__)
    assert all(hasattr(merlax, name) for name in merlax.__all__)


def test_a_run_comes_back_as_it_was(run):
    again = merlax.load(run.path)
    assert again.env == run.env
    assert len(again.progress["frames"]) == 2
    obs, _ = run.env.reset(jax.random.key(0))
    np.testing.assert_array_equal(again.champion(obs), run.champion(obs))


def test_a_world_with_numbers_of_its_own_says_so_and_has_no_published_score(run):
    assert run.title == "rover-2 (num_poi 2, horizon 12, speed free, encoding clean)"
    rover_3 = {"world": "rover-3", "env": {}}
    published = dataclasses.replace(run, config=rover_3, env=merlax.Rover(coupling=3, speed="pinned"))
    assert published.published is not None
    assert dataclasses.replace(published, env=merlax.Rover(coupling=3, num_poi=6)).published is None
    elsewhere = {"world": "a name that only its maker has registered", "env": {}}
    assert dataclasses.replace(run, config=elsewhere).title.startswith("a name that only")


def test_evaluating_twice_gives_the_same_score_and_another_seed_other_episodes(run):
    assert merlax.evaluate(run, 20, seed=1) == merlax.evaluate(run.path, 20, seed=1)
    with pytest.raises(merlax.UserError, match="from 1 to 10,000,000"):
        merlax.evaluate(run, episodes=0)


def test_curve_and_animation_are_files_that_open(run, tmp_path):
    with Image.open(merlax.plot(run, tmp_path / "curve.png")) as curve:
        assert curve.size[0] > 300
    with Image.open(merlax.render(run, tmp_path / "team.gif")) as film:
        assert getattr(film, "n_frames", 1) > 1


@pytest.mark.slow
def test_a_world_of_the_users_own_trains_and_needs_that_world_to_load(tmp_path):
    run = train(Rendezvous(), tmp_path / "run")
    assert run.config["world"] is None
    assert not (run.path / "champion.gif").exists()
    with pytest.raises(merlax.UserError, match="give that world again"):
        merlax.load(run.path)
    assert merlax.load(run.path, Rendezvous()).env == Rendezvous()


def test_a_champion_does_not_load_into_another_world(run):
    with pytest.raises(merlax.UserError, match="another world"):
        merlax.load(run.path, merlax.make("rover-3"))


def test_a_name_is_registered_once():
    with pytest.raises(merlax.UserError, match="taken"):
        merlax.register("rover-3", Rendezvous)
    with pytest.raises(merlax.UserError, match="taken"):
        merlax.register_algorithm("merl", merlax.Ea())


@pytest.mark.slow
def test_a_callback_gets_every_row_of_the_csv(tmp_path):
    rows = []
    run = train(Rendezvous(), tmp_path / "run", callbacks=[rows.append])
    assert [row["generation"] for row in rows] == [1, 2]
    assert set(rows[0]) <= set(run.progress)
    np.testing.assert_allclose([row["champion_score"] for row in rows], run.progress["champion_score"])


@pytest.mark.slow
def test_a_callback_ends_a_run_which_resumes_to_the_same_rows(tmp_path):
    whole = train(Rendezvous(), tmp_path / "whole", generations=3)
    cut = train(Rendezvous(), tmp_path / "cut", generations=3, callbacks=[lambda row: row["generation"] == 2])
    assert cut.progress["generation"].tolist() == [1, 2]
    assert not json.loads((cut.path / "final.json").read_text())["finished"]
    later = []
    resumed = merlax.resume(cut.path, env=Rendezvous(), quiet=True, callbacks=[lambda row: later.append(row)])
    assert [row["generation"] for row in later] == [3]
    for name, values in whole.progress.items():
        if name != "seconds":
            np.testing.assert_array_equal(values, resumed.progress[name], err_msg=name)


def test_a_run_is_not_resumed_in_a_world_with_other_parameters(tmp_path):
    cut = train(Rendezvous(), tmp_path / "cut", callbacks=[lambda row: True])
    with pytest.raises(merlax.UserError, match="world than this: horizon was 3 and is 4"):
        merlax.resume(cut.path, env=Rendezvous(horizon=4), quiet=True)


class Diary:
    """A recorder that notes what it hears."""

    def __init__(self):
        self.heard = []

    def start(self, run):
        self.heard.append(("start", run.path.name, run.frames))

    def record(self, row):
        self.heard.append(("record", row["generation"]))

    def stop(self):
        self.heard.append(("stop",))


def test_a_recorder_hears_of_the_beginning_every_generation_and_the_end(tmp_path):
    diary = Diary()
    run = train(Rendezvous(), tmp_path / "run", callbacks=[diary])
    frames = run.config["frames"]
    assert diary.heard == [("start", "run", frames), ("record", 1), ("record", 2), ("stop",)]


@pytest.mark.usefixtures("unchecked")
def test_what_is_no_callback_is_refused_before_anything_is_written(tmp_path):
    with pytest.raises(merlax.UserError, match="The callback 3 can be neither called nor started"):
        train(Rendezvous(), tmp_path / "run", callbacks=[3])
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_algorithms_and_opponents_may_be_objects(tmp_path):
    learner = merlax.Td3(batch=8, buffer=2000, critic_hidden=(8,), burn_in=1)
    algorithm = merlax.Gradient(learner=learner, actor_hidden=(8,), explore_episodes=4)
    opponent = merlax.ddpg(dataclasses.replace(learner, discount=0.3), actor_hidden=(4,))
    run = merlax.train(Tag(), algorithm, opponent=opponent, frames=8, out=tmp_path / "run", quiet=True)
    assert run.config["settings"]["learner"]["batch"] == 8
    assert run.config["opponent"]["kind"] == "ddpg"
    assert run.config["opponent"]["settings"]["learner"]["discount"] == 0.3
    assert merlax.evaluate(run, 2).episodes == 2
    assert merlax.evaluate(run, 2, against="scripted") != merlax.evaluate(run, 2)


def test_settings_change_an_object_too(tmp_path):
    with pytest.raises(merlax.UserError, match="did you mean 'strength'"):
        merlax.train("rover-3", merlax.Ea(), settings={"mutation": {"strengt": 0.1}}, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()
