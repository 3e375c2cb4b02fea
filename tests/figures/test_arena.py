"""Drawings of the particle worlds are real files, and show what happened."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from PIL import Image

from merlax import figures
from merlax.core.rollout import Trace
from merlax.envs import KeepAway, ParticleState, PhysicalDeception, PredatorPrey, make
from merlax.figures import arena, particles, style
from merlax.figures.stage import GOLD
from merlax.types import UserError

WORLDS = ["predator-prey", "predator-prey-hard", "physical-deception", "keep-away"]


def play(env) -> Trace:
    """An episode of a team that acts at random against the scripted opponent."""
    _, first = env.reset(jax.random.key(0))

    def step(state, key):
        action = jax.random.uniform(key, (env.num_agents, 2), minval=-1.0, maxval=1.0)
        _, state, reward, *_ = env.step(jax.random.key(0), state, action, env.scripted_opponent(state))
        return state, (state, reward.team)

    _, (states, team) = jax.lax.scan(step, first, jax.random.split(jax.random.key(1), env.horizon))
    states = jax.tree.map(lambda a, b: jnp.concatenate([a[None], b]), first, states)
    return Trace(states, jnp.asarray(env.horizon), team.sum())


def still(positions, landmark=((0.5, 0.5), (-0.5, 0.5)), target=0, steps=None) -> Trace:
    """The trace of bodies that are in these places, [time, body, 2]."""
    position = jnp.asarray(positions, jnp.float32)
    time = len(position)
    marks = jnp.tile(jnp.asarray(landmark, jnp.float32)[None], (time, 1, 1))
    states = jax.vmap(ParticleState)(
        position, jnp.zeros_like(position), marks, jnp.full(time, target), jnp.arange(time)
    )
    return Trace(states, jnp.asarray(time - 1 if steps is None else steps), jnp.asarray(0.0))


def frames_of(path) -> list[np.ndarray]:
    with Image.open(path) as gif:
        return [np.asarray(frame.convert("RGB")) for frame in _each(gif)]


def _each(gif):
    for number in range(gif.n_frames):
        gif.seek(number)
        yield gif


def color_at(env, trace, shot, point):
    """The colour of the animation's pixel that shows this point of the world."""
    low, size = arena.view(arena.Scene.of(env, trace))
    height, width, _ = shot.shape
    column, row = (np.asarray(point) - low) / size * width
    return shot[int(height - row), int(column)]


def assert_color(seen, wanted):
    np.testing.assert_allclose(seen, 255 * np.array(to_rgb(wanted)), atol=6)


@pytest.mark.parametrize("name", WORLDS)
def test_every_particle_world_can_be_drawn_still_and_moving(name, tmp_path):
    env = make(name)
    trace = play(env)
    assert figures.can_draw(env)
    for suffix in ("png", "svg", "pdf"):
        figures.render(env, trace, tmp_path / f"a.{suffix}")
        assert (tmp_path / f"a.{suffix}").stat().st_size > 3000
    figures.render(env, trace, tmp_path / "a.gif")
    shots = frames_of(tmp_path / "a.gif")
    assert len(shots) == env.horizon + 1
    assert (shots[0] != shots[-1]).any()
    corner = shots[0][-2, 2]
    np.testing.assert_array_equal(corner, (255, 255, 255))


def test_the_team_is_blue_the_prey_vermillion_and_obstacles_grey(tmp_path):
    env = PredatorPrey(num_predators=1)
    trace = still(2 * [[(0.0, 0.0), (0.0, -0.5)]])
    figures.render(env, trace, tmp_path / "a.gif")
    shot = frames_of(tmp_path / "a.gif")[1]
    assert_color(color_at(env, trace, shot, (0.0, 0.0)), style.BLUE)
    assert_color(color_at(env, trace, shot, (0.0, -0.5)), style.VERMILLION)
    assert_color(color_at(env, trace, shot, (0.5, 0.5)), arena.OBSTACLE)


@pytest.mark.parametrize("kind", [PhysicalDeception, KeepAway])
def test_the_adversary_is_vermillion_though_its_world_has_it_first(kind, tmp_path):
    env = kind(num_agents=1, num_landmarks=2)
    trace = still(2 * [[(0.0, 0.0), (0.0, -0.5)]])
    figures.render(env, trace, tmp_path / "a.gif")
    shot = frames_of(tmp_path / "a.gif")[0]
    assert_color(color_at(env, trace, shot, (0.0, 0.0)), style.VERMILLION)
    assert_color(color_at(env, trace, shot, (0.0, -0.5)), style.BLUE)


@pytest.mark.parametrize("target", [0, 1])
def test_only_the_target_has_a_golden_ring(target, tmp_path):
    env, marks = KeepAway(num_agents=1), ((0.5, 0.5), (-0.5, 0.5))
    trace = still(2 * [[(0.0, 0.0), (0.0, -0.5)]], marks, target)
    figures.render(env, trace, tmp_path / "a.gif")
    shot = frames_of(tmp_path / "a.gif")[0]
    rim = [color_at(env, trace, shot, (x + 0.05, y)) for x, y in marks]
    assert_color(rim[target], GOLD)
    assert np.abs(rim[1 - target] - 255 * np.array(to_rgb(GOLD))).max() > 50


def test_a_touch_flashes_when_it_happens_and_the_headline_counts_it():
    env = PredatorPrey(num_predators=2)
    apart, near = [(0.0, 0.0), (0.9, 0.9), (0.0, -0.5)], [(0.0, -0.4), (0.9, 0.9), (0.0, -0.5)]
    scene = arena.Scene.of(env, still([apart, near, near, apart]))
    np.testing.assert_array_equal(scene.touched[:, -1], [False, True, True, False])
    np.testing.assert_array_equal(scene.touched[1], [True, False, True])
    np.testing.assert_array_equal(scene.score, [0, 1, 2, 2])


def test_the_score_does_not_count_where_an_episode_starts():
    env = KeepAway(num_agents=1)
    scene = arena.Scene.of(env, still(3 * [[(0.0, 0.0), (0.5, 0.0)]]))
    np.testing.assert_allclose(scene.score, [0.0, -0.5, -1.0], atol=1e-6)


def test_what_follows_the_end_is_not_drawn(tmp_path):
    env = KeepAway(num_agents=1)
    figures.render(env, still(9 * [[(0.0, 0.0), (0.5, 0.0)]], steps=4), tmp_path / "a.gif")
    with Image.open(tmp_path / "a.gif") as gif:
        assert gif.n_frames <= 5
    assert len(arena.Scene.of(env, still(9 * [[(0.0, 0.0), (0.5, 0.0)]], steps=4)).position) == 5


def test_nothing_is_lost_that_leaves_the_square():
    far = [(3.0, -4.0), (0.0, 0.0)]
    low, size = arena.view(arena.Scene.of(KeepAway(num_agents=1), still([far, far])))
    assert (low < (3.0, -4.05)).all()
    assert (low + size > (3.05, 1.0)).all()


@pytest.mark.parametrize("num", [1, 3, 5, 6, 12])
def test_bodies_of_one_world_have_different_colours_and_none_is_gold(num):
    colors = np.concatenate([arena.body_colors(num + 1), [to_rgb(GOLD)]])
    apart = np.abs(colors[:, None] - colors[None]).sum(axis=-1) + 9 * np.eye(num + 2)
    assert apart.min() > 0.05


def test_a_wrong_file_name_is_refused_in_one_sentence(tmp_path):
    env = KeepAway(num_agents=1)
    trace = still(2 * [[(0.0, 0.0), (0.5, 0.0)]])
    with pytest.raises(UserError, match=r"\.png, \.pdf or \.svg"):
        particles.picture(env, trace, tmp_path / "a.gif")
    with pytest.raises(UserError, match=r"end in \.gif\."):
        particles.animate(env, trace, tmp_path / "a.png")
