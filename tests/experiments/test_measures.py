"""What is measured of finished runs: a team's worth beyond the opponent that it trained with."""

import dataclasses
import shutil

import pytest

import merlax
from merlax.envs import make
from merlax.experiments import measures
from merlax.experiments.spec import Job, Method, Task
from tests.support.settings import TINY


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Two tiny runs on a contest."""
    root = tmp_path_factory.mktemp("runs")
    task, method = Task("predator-prey"), Method("MERL", "merl", TINY)
    found = [Job(task, method, seed, 400) for seed in (1, 2)]
    for job in found:
        merlax.train(
            make(task.world), settings=TINY, frames=job.frames, seed=job.seed, out=root / job.folder, quiet=True
        )  # fmt: skip
    return found, root


@pytest.mark.slow
def test_every_team_meets_every_opponent_and_the_scripted_one(trained, monkeypatch):
    monkeypatch.setattr(measures, "CROSSPLAY_EPISODES", 20)
    jobs, root = trained
    found = {(job.seed, name): value for job, name, value in measures.against_each_other(jobs, root)}
    folders = [root / job.folder for job in jobs]
    for job, folder in zip(jobs, folders, strict=True):
        against = [*folders, "scripted"]
        scores = [merlax.evaluate(folder, episodes=20, against=opponent).mean for opponent in against]
        assert found[job.seed, "score_against_all"] == pytest.approx(sum(scores) / 3)
        assert found[job.seed, "score_against_scripted"] == pytest.approx(scores[-1])
    assert len(found) == 4


@pytest.mark.slow
def test_every_team_meets_each_methods_opponents_over_all_seeds(trained, monkeypatch):
    monkeypatch.setattr(measures, "CROSSPLAY_EPISODES", 20)
    jobs, root = trained
    other = dataclasses.replace(jobs[1], method=dataclasses.replace(jobs[1].method, label="another"))
    shutil.copytree(root / jobs[1].folder, root / other.folder)
    found = {
        (job.method.label, job.seed, name): value
        for job, name, value in measures.against_each_method([*jobs, other], root)
    }
    first, second = (
        merlax.evaluate(root / jobs[0].folder, episodes=20, against=root / job.folder).mean for job in jobs
    )
    assert found["MERL", 1, "score_against_MERL"] == pytest.approx((first + second) / 2)
    assert found["MERL", 1, "score_against_another"] == pytest.approx(second)
    assert len(found) == 9


@pytest.mark.slow
def test_the_hand_rule_meets_the_same_opponents_as_the_champion(trained, monkeypatch):
    monkeypatch.setattr(measures, "RULE_EPISODES", 20)
    jobs, root = trained
    found = {(job.seed, name): value for job, name, value in measures.beside_the_hand_rule(jobs, root)}
    for job in jobs:
        for name, against in (("own", None), ("scripted", "scripted")):
            expected = merlax.evaluate(root / job.folder, episodes=20, against=against).mean
            assert found[job.seed, f"score_against_{name}"] == pytest.approx(expected)
        rule = merlax.evaluate(root / job.folder, team="scripted", episodes=20).mean
        assert found[job.seed, "rule_against_own"] == pytest.approx(rule)
    assert len(found) == 6
