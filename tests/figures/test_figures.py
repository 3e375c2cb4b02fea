"""Episodes of any world, as a picture or a film, by their file's name."""

from __future__ import annotations

import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

import jax.numpy as jnp
import pytest

from merlax import figures
from merlax.core.rollout import Trace
from merlax.envs import make, two_rovers
from merlax.figures import film
from merlax.types import UserError
from tests.probes.episodes import Countdown
from tests.support.drawing import contest, cut, frames_of, steer

pytestmark = pytest.mark.slow  # whole animations are drawn

TWO = two_rovers()


@pytest.mark.parametrize(
    ("suffix", "start"), [(".png", b"\x89PNG"), (".pdf", b"%PDF"), (".svg", b"<?xml"), (".PNG", b"\x89PNG")]
)
def test_a_picture_in_every_format(tmp_path, suffix, start):
    out = tmp_path / "new" / f"two{suffix}"
    figures.render([figures.scene(TWO, steer(TWO))], out)
    assert out.read_bytes().startswith(start)


@pytest.mark.parametrize("name", ["predator-prey", "predator-prey-hard", "physical-deception", "keep-away"])
def test_every_particle_world_is_drawn_still_and_moving(name, tmp_path):
    env = make(name)
    scene = figures.scene(env, contest(env))
    figures.render([scene], tmp_path / "a.png")
    assert (tmp_path / "a.png").stat().st_size > 3000
    figures.render([scene], tmp_path / "a.gif")
    shots = frames_of(tmp_path / "a.gif")
    assert len(shots) == env.horizon + 1
    assert (shots[0] != shots[-1]).any()
    assert shots[0][-2, 2].tolist() == [255, 255, 255]


def test_a_film_as_mp4_is_one_that_others_play_or_a_sentence_says_what_it_needs(tmp_path, monkeypatch):
    scene, out = figures.scene(TWO, cut(steer(TWO), 3)), tmp_path / "a.mp4"
    if shutil.which("ffmpeg"):
        figures.render([scene], out)
        probe = ["ffmpeg", "-v", "error", "-i", str(out), "-f", "null", "-"]
        assert subprocess.run(probe, capture_output=True).stderr == b""
        assert out.read_bytes()[4:8] == b"ftyp"
    monkeypatch.setattr(film.shutil, "which", lambda name: None)
    with pytest.raises(UserError, match=r"needs the program ffmpeg.* choose \.gif or \.html"):
        figures.render([scene], out)


def test_episodes_are_drawn_in_threads(tmp_path):
    scene = figures.scene(TWO, steer(TWO))
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: figures.render([scene], tmp_path / f"{number}.png"), range(4)))
    assert len({(tmp_path / f"{number}.png").read_bytes() for number in range(4)}) == 1


def test_another_suffix_is_refused_with_the_supported_ones(tmp_path):
    with pytest.raises(UserError, match=r"\.gif, \.mp4, \.png, \.pdf or \.svg"):
        figures.render([figures.scene(TWO, steer(TWO))], tmp_path / "episode.avi")


def test_a_world_without_a_drawing_is_shown_as_numbers(tmp_path):
    assert figures.is_drawn(TWO)
    assert not figures.is_drawn(Countdown())
    states = {"time": jnp.arange(3), "luck": jnp.ones((3, 2))}
    scene = figures.scene(Countdown(), Trace(states, jnp.asarray(2), jnp.asarray(1.0)))
    for suffix in ("png", "gif"):
        figures.render([scene], tmp_path / f"a.{suffix}")
    first, *_ = frames_of(tmp_path / "a.gif")
    assert (first < 100).any()  # something is written there
