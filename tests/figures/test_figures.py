"""One episode of any world that can be drawn, as a picture or an animation, by its file's name."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import jax
import pytest

from merlax import figures
from merlax.core.networks import TeamPolicy
from merlax.core.players import PolicyPlayer
from merlax.core.rollout import Field, trace
from merlax.envs import make, two_rovers
from merlax.types import UserError
from tests.probes.episodes import Countdown
from tests.support.drawing import contest, frames_of, steer

pytestmark = pytest.mark.slow  # whole animations are drawn


@pytest.mark.parametrize(
    ("suffix", "start"), [(".png", b"\x89PNG"), (".pdf", b"%PDF"), (".svg", b"<?xml"), (".PNG", b"\x89PNG")]
)
def test_a_picture_in_every_format(tmp_path, suffix, start):
    out = tmp_path / "new" / f"two{suffix}"
    figures.render(two_rovers(), steer(two_rovers()), out)
    assert out.read_bytes().startswith(start)


@pytest.mark.parametrize("name", ["predator-prey", "predator-prey-hard", "physical-deception", "keep-away"])
def test_every_particle_world_can_be_drawn_still_and_moving(name, tmp_path):
    env = make(name)
    trace = contest(env)
    assert figures.can_draw(env)
    for suffix in ("png", "svg", "pdf"):
        figures.render(env, trace, tmp_path / f"a.{suffix}")
        assert (tmp_path / f"a.{suffix}").stat().st_size > 3000
    figures.render(env, trace, tmp_path / "a.gif")
    shots = frames_of(tmp_path / "a.gif")
    assert len(shots) == env.horizon + 1
    assert (shots[0] != shots[-1]).any()
    assert shots[0][-2, 2].tolist() == [255, 255, 255]


def test_the_trace_of_a_network_is_drawn(tmp_path):
    env = make("rover-3", horizon=5)
    policy = TeamPolicy(jax.random.key(0), env.sides[0], [8])
    figures.render(env, trace(jax.random.key(1), Field(env), PolicyPlayer(policy)), tmp_path / "net.gif")
    assert len(frames_of(tmp_path / "net.gif")) == 6


def test_episodes_are_drawn_in_threads(tmp_path):
    env, trace = two_rovers(), steer(two_rovers())
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: figures.render(env, trace, tmp_path / f"{number}.png"), range(4)))
    assert len({(tmp_path / f"{number}.png").read_bytes() for number in range(4)}) == 1


def test_another_suffix_is_refused_with_the_supported_ones(tmp_path):
    with pytest.raises(UserError, match=r"\.gif, \.png, \.pdf or \.svg"):
        figures.render(two_rovers(), steer(two_rovers()), tmp_path / "episode.mp4")


def test_a_world_without_a_drawing_is_refused(tmp_path):
    assert figures.can_draw(two_rovers())
    assert not figures.can_draw(Countdown())
    with pytest.raises(UserError, match="world Countdown"):
        figures.render(Countdown(), steer(two_rovers()), tmp_path / "countdown.gif")
