"""A run on a world outside JAX: the same rows again, and nothing lost where its world fails."""

import pytest

import merlax
from merlax.envs.adapters import workers
from merlax.types import UserError
from tests.support.settings import TINY

pytest.importorskip("pettingzoo")
pytestmark = pytest.mark.slow
NAME = "pettingzoo:tests.probes.signals:make"


@pytest.fixture(autouse=True, scope="module")
def no_worker_is_left():
    yield
    workers.stop()


def rows(run):
    text = (run / "progress.csv").read_text().splitlines()
    place = text[0].split(",").index("seconds")
    return [[cell for k, cell in enumerate(line.split(",")) if k != place] for line in text]


def test_a_world_that_crashes_loses_nothing(tmp_path):
    trouble = tmp_path / "now"
    env = merlax.make(NAME, team="sum", workers=2, trouble="crash", while_there=str(trouble))

    def sabotage(row):
        if row["generation"] == 3:
            trouble.touch()

    options = {"frames": 400, "seed": 3, "settings": TINY}
    whole = merlax.train(env, out=tmp_path / "whole", **options)
    with pytest.raises(UserError) as error:
        merlax.train(env, out=tmp_path / "broken", callbacks=[sabotage], **options)
    assert "failed in a worker (ValueError: a broken wire)" in str(error.value)
    assert "the last good checkpoint is" in str(error.value)
    trouble.unlink()
    resumed = merlax.resume(tmp_path / "broken", env=env)
    assert len(rows(whole.path)) > 5
    assert rows(resumed.path) == rows(whole.path)
    assert (resumed.path / "champion.gif").exists()
    merlax.render(resumed, tmp_path / "last.png", env=env)
    merlax.render(resumed, tmp_path / "page.html", env=env)
    assert (tmp_path / "page.html").exists()
