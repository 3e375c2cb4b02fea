"""Figures are real files, and show what happened."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from merlax import figures
from merlax.core.networks import TeamPolicy
from merlax.core.rollout import Trace
from merlax.core.rollout import trace as play_trace
from merlax.envs import Rover, RoverState, make
from merlax.figures import curves, labels, rovers, stage, style
from merlax.types import UserError

GOLD, BLACK, WHITE = (255, 194, 14), (17, 17, 17), (255, 255, 255)


def nearest_poi(state: RoverState) -> jax.Array:
    """Every rover heads at full speed for the POI that is nearest to it and not observed yet."""
    offset = state.poi[None] - state.position[:, None]
    distance = jnp.where(state.observed[None], jnp.inf, jnp.linalg.norm(offset, axis=-1))
    chosen = offset[jnp.arange(len(offset)), jnp.argmin(distance, axis=1)]
    turn = jnp.mod(jnp.arctan2(chosen[:, 1], chosen[:, 0]) / math.pi - state.turn + 1.0, 2.0) - 1.0
    return jnp.stack([jnp.ones_like(turn), jnp.clip(2.0 * turn, -1.0, 1.0)], axis=-1)


def steer(env: Rover) -> Trace:
    """The trace of a team that is steered by the world's state, as a network could not be by hand."""
    key = jax.random.key(0)
    _, first = env.reset(key)

    def step(carry, _):
        state, alive = carry
        _, state, reward, terminated, truncated, _ = env.step(key, state, nearest_poi(state))
        return (state, alive & ~(terminated | truncated)), (state, jnp.where(alive, reward.team, 0.0), alive)

    _, (states, team, valid) = jax.lax.scan(step, (first, jnp.ones((), bool)), None, length=env.horizon)
    states = jax.tree.map(lambda a, b: jnp.concatenate([a[None], b]), first, states)
    return Trace(states, valid.sum(), team.sum())


def walk(env: Rover, step: np.ndarray) -> Trace:
    """The trace of rovers that start in the middle and make these steps, [time, agent, 2], observing nothing."""
    time, agents, _ = step.shape
    position = env.side / 2 + np.concatenate([np.zeros((1, agents, 2)), np.cumsum(step, axis=0)])
    turn = np.concatenate([np.zeros((1, agents)), np.arctan2(step[..., 1], step[..., 0]) / np.pi])
    poi = np.tile(np.linspace(1.0, env.side - 1.0, env.num_poi)[None, :, None], (time + 1, 1, 2))
    numbers = [jnp.asarray(x, jnp.float32) for x in (position, np.ones_like(turn), turn, poi)]
    states = jax.vmap(RoverState)(*numbers, jnp.zeros((time + 1, env.num_poi), bool), jnp.arange(time + 1))
    return Trace(states, jnp.asarray(time), jnp.asarray(0.0))


def cut(trace: Trace, steps: int) -> Trace:
    """The same episode, ended earlier."""
    return Trace(trace.states, jnp.asarray(steps), jnp.asarray(0.0))


def frames_of(path: Path) -> list[np.ndarray]:
    with Image.open(path) as gif:
        shots = []
        for number in range(gif.n_frames):
            gif.seek(number)
            shots.append(np.asarray(gif.convert("RGB")))
    return shots


def color_at(env: Rover, trace: Trace, shot: np.ndarray, point) -> tuple[int, ...]:
    """The colour of the animation's pixel that shows this point of the world."""
    low, size = stage.view(env, stage.Scene.of(trace))
    height, width, _ = shot.shape
    column, row = (np.asarray(point) - low) / size * width
    return tuple(shot[height - 1 - round(float(row)), round(float(column))].tolist())


def progress(rows: int, *, scale: float = 1.0, shift: float = 0.0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    rise = np.linspace(0.1, 0.7, rows)
    columns = ("champion_score", "best_fitness", "mean_fitness", "learner_score")
    scores = {name: scale * np.clip(rise + 0.1 * rng.normal(size=rows), 0, 1) + shift for name in columns}
    return {"frames": 8000.0 * np.arange(1, rows + 1), **scores}


def words_of(svg: Path) -> str:
    return svg.read_text(encoding="utf-8")  # matplotlib writes each text it draws as a comment, too


@pytest.fixture(scope="module")
def two():
    env = make("two-rovers")
    return env, jax.jit(steer, static_argnums=0)(env)


@pytest.fixture(scope="module")
def shots(two, tmp_path_factory):
    out = tmp_path_factory.mktemp("gif") / "two.gif"
    figures.render(*two, out)
    return frames_of(out)


def test_the_animation_has_one_frame_per_instant(two, shots):
    assert len(shots) == int(two[1].steps) + 1 == 31
    assert shots[0].shape == (510, 480, 3)


def test_a_poi_turns_gold_in_the_frame_after_its_visit(two, shots):
    env, trace = two
    visit = int(np.argmax(np.asarray(trace.states.observed)[:, 1]))
    colors = [color_at(env, trace, shot, (1.0, 18.0)) for shot in shots]
    assert 0 < visit < 30
    assert colors == [BLACK] * (visit + 1) + [GOLD] * (30 - visit)


def test_a_poi_that_is_never_observed_stays_black(two, shots):
    assert {color_at(*two, shot, (1.0, 1.0)) for shot in shots} == {BLACK}


def test_a_visit_in_the_last_step_is_not_shown_as_observed(two, tmp_path):
    env, trace = two
    trace = cut(trace, int(np.argmax(np.asarray(trace.states.observed)[:, 1])))
    rovers.animate(env, trace, tmp_path / "a.gif")
    assert color_at(env, trace, frames_of(tmp_path / "a.gif")[-1], (1.0, 18.0)) == BLACK
    rovers.picture(env, trace, tmp_path / "a.svg")
    assert "0 of 2 POIs observed" in words_of(tmp_path / "a.svg")


def test_the_background_is_white_in_every_frame(shots):
    assert {tuple(shot[-1, -1].tolist()) for shot in shots} == {WHITE}


@pytest.mark.parametrize("num_agents", [1, 6, 7, 14, 40, 300])
def test_the_palette_keeps_white_and_gold_for_any_team(num_agents):
    palette = rovers._palette(stage.rover_colors(num_agents))
    flat = Image.new("RGB", (2, 1))
    flat.putdata([WHITE, GOLD])
    reduced = flat.quantize(palette=palette, dither=Image.Dither.NONE).convert("RGB")
    assert [reduced.getpixel((x, 0)) for x in (0, 1)] == [WHITE, GOLD]


def test_what_follows_the_end_of_an_episode_is_not_drawn(two, tmp_path):
    env, trace = two
    figures.render(env, cut(trace, 12), tmp_path / "short.gif")
    assert len(frames_of(tmp_path / "short.gif")) == 13


def test_the_last_frame_is_held_and_the_file_of_a_large_team_is_small(tmp_path):
    env, out = make("rover-7"), tmp_path / "crowd.gif"
    rovers.animate(env, walk(env, np.random.default_rng(0).normal(size=(50, 14, 2)) / 2), out, fps=10)
    with Image.open(out) as gif:
        durations = []
        for number in range(gif.n_frames):
            gif.seek(number)
            durations.append(gif.info["duration"])
        assert gif.info["loop"] == 0
    assert durations == [100] * 50 + [1500]
    assert out.stat().st_size < 1_000_000


def test_rovers_that_leave_the_world_stay_in_view(tmp_path):
    env = Rover(num_agents=1, num_poi=3, coupling=1)
    trace = walk(env, np.tile([1.0, 0.0], (50, 1, 1)))
    rovers.animate(env, trace, tmp_path / "away.gif")
    blue = tuple(round(255 * value) for value in stage.rover_colors(1)[0])
    assert color_at(env, trace, frames_of(tmp_path / "away.gif")[-1], (60.0, 10.0)) == blue


def test_arrows_point_along_the_heading():
    heading = np.pi * np.array([0.0, 0.5, 1.25, -3.0])
    tips = stage.arrows(np.ones((4, 2)), heading, 2.0)[:, 0] - 1.0
    np.testing.assert_allclose(tips, 2.0 * np.stack([np.cos(heading), np.sin(heading)], axis=1), atol=1e-12)


@pytest.mark.parametrize("num", [1, 6, 7, 14])
def test_rovers_differ_from_each_other_and_from_gold(num):
    colors = np.concatenate([stage.rover_colors(num), [np.array(GOLD) / 255]])
    apart = np.linalg.norm(colors[:, None] - colors[None], axis=-1) + 9 * np.eye(num + 1)
    assert apart.min() > 0.15


@pytest.mark.parametrize(
    ("suffix", "start"), [(".png", b"\x89PNG"), (".pdf", b"%PDF"), (".svg", b"<?xml"), (".PNG", b"\x89PNG")]
)
def test_a_picture_in_every_format(two, tmp_path, suffix, start):
    out = tmp_path / "new" / f"two{suffix}"
    figures.render(*two, out)
    assert out.read_bytes().startswith(start)


def test_the_picture_shows_both_kinds_of_poi(two, tmp_path):
    rovers.picture(*two, tmp_path / "two.png")
    with Image.open(tmp_path / "two.png") as image:
        assert image.size == (1050, 1245)
        pixels = np.asarray(image.convert("RGB")).reshape(-1, 3)
    legend_disc = 700  # pixels of one symbol in the legend, at most
    for color in (GOLD, BLACK):
        assert (pixels == color).all(axis=1).sum() > legend_disc


def test_the_picture_says_world_score_and_steps(two, tmp_path):
    rovers.picture(*two, tmp_path / "two.svg")
    words = words_of(tmp_path / "two.svg")
    assert "2 rovers, 2 POIs, coupling 1, pinned speed" in words
    assert "score 0.50 after 30 steps, 1 of 2 POIs observed" in words


def test_the_trace_of_a_network_is_drawn(tmp_path):
    env = make("rover-3", horizon=5)
    policy = TeamPolicy(jax.random.key(0), env.num_agents, env.obs_size, env.act_size, [8])
    trace = jax.jit(play_trace, static_argnums=1)(jax.random.key(1), env, policy)
    figures.render(env, trace, tmp_path / "net.gif")
    assert len(frames_of(tmp_path / "net.gif")) == 6


def test_the_curve_names_each_line_with_its_last_running_mean(tmp_path):
    data = progress(250)
    figures.learning_curve(data, tmp_path / "c.svg", title="50% of $rover-3", published=0.48, published_label="paper")
    words = words_of(tmp_path / "c.svg")
    for column, name in (
        ("champion_score", "champion"),
        ("learner_score", "learner"),
        ("mean_fitness", "mean fitness"),
    ):
        assert f"<!-- {name} {data[column][-10:].mean():.2f} -->" in words
    assert "<!-- paper 0.48 -->" in words
    assert "<!-- 50% of $rover-3 -->" in words
    assert "<!-- 2M -->" in words
    assert "<!-- 0.5M -->" in words


def test_a_curve_skips_what_was_not_tested(tmp_path):
    data = progress(40)
    data["champion_score"][::2] = np.nan
    data["learner_score"][:] = np.nan
    figures.learning_curve(data, tmp_path / "c.svg", title="sparse")
    words = words_of(tmp_path / "c.svg")
    assert f"champion {np.nanmean(data['champion_score'][-20:]):.2f}" in words
    assert "learner" not in words
    assert "nan" not in words
    assert "<!-- 300k -->" in words


def test_a_long_title_stays_on_the_figure():
    fig, ax = style.figure()
    style.title(ax, "rover-4 (num_agents 12, num_poi 6, horizon 40, speed free, encoding clean)\nmerl, seed 2019")
    fig.draw_without_rendering()
    assert ax.get_title("left").endswith("\nmerl, seed 2019")
    assert ax.get_tightbbox().x1 <= fig.bbox.x1


def test_a_curve_of_one_generation(tmp_path):
    figures.learning_curve(progress(1), tmp_path / "one.png", title="one")
    with Image.open(tmp_path / "one.png") as image:
        assert image.size == (1050, 720)


def test_a_curve_without_any_test_of_the_champion_and_with_negative_scores(tmp_path):
    data = progress(30, scale=100.0, shift=-300.0)
    data["champion_score"][:] = np.nan
    figures.learning_curve(data, tmp_path / "c.svg", title="negative", published=-220.0)
    words = words_of(tmp_path / "c.svg")
    assert "champion" not in words
    assert "published \N{MINUS SIGN}220" in words
    assert "<!-- 1.0 -->" not in words


def test_scores_within_0_and_1_get_the_whole_scale(tmp_path):
    figures.learning_curve(progress(30, scale=0.1), tmp_path / "c.svg", title="low")
    assert "<!-- 0.0 -->" in words_of(tmp_path / "c.svg")
    assert "<!-- 1.0 -->" in words_of(tmp_path / "c.svg")


def test_the_running_mean_reaches_back_over_the_window():
    np.testing.assert_allclose(curves.running_mean(np.array([1.0, 3.0, 5.0, 7.0]), 2), [1.0, 2.0, 4.0, 6.0])


def test_labels_never_overlap_and_keep_their_order():
    rng = np.random.default_rng(0)
    for _ in range(500):
        gap = rng.uniform(0.01, 0.2)
        wanted = np.clip(rng.uniform() + rng.choice([0.01, 0.1, 1.0]) * rng.normal(size=rng.integers(1, 6)), 0, 1)
        placed = labels.spread(wanted, gap)
        assert np.all(np.diff(placed[np.argsort(wanted, kind="stable")]) >= gap - 1e-9)
        assert placed.min() >= 0.0
        assert placed.max() <= 1.0 + 1e-9


def test_labels_that_are_far_apart_stay_where_they_belong():
    np.testing.assert_allclose(labels.spread(np.array([0.9, 0.1, 0.5]), 0.1), [0.9, 0.1, 0.5])


def test_figures_are_made_in_threads(two, tmp_path):
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda i: figures.render(*two, tmp_path / f"{i}.png"), range(4)))
    assert len({(tmp_path / f"{i}.png").read_bytes() for i in range(4)}) == 1


def test_another_suffix_is_refused_with_the_supported_ones(two, tmp_path):
    with pytest.raises(UserError, match=r"\.gif, \.png, \.pdf or \.svg"):
        figures.render(*two, tmp_path / "episode.mp4")
    with pytest.raises(UserError, match=r"\.png, \.pdf or \.svg"):
        figures.learning_curve(progress(3), tmp_path / "curve", title="no suffix")
    with pytest.raises(UserError, match=r"end in \.gif\."):
        rovers.animate(*two, tmp_path / "episode.png")


def test_a_world_without_a_drawing_is_refused(two, tmp_path):
    class Maze:
        """A world, but not one of rovers."""

        num_agents = obs_size = act_size = horizon = 1

        def reset(self, key): ...

        def step(self, key, state, action): ...

    assert figures.can_draw(two[0])
    assert not figures.can_draw(Maze())
    with pytest.raises(UserError, match="world Maze"):
        figures.render(Maze(), two[1], tmp_path / "maze.gif")


@pytest.mark.parametrize("fps", [0, -3, 51])
def test_an_impossible_speed_of_the_animation_is_refused(two, tmp_path, fps):
    with pytest.raises(UserError, match="fps"):
        rovers.animate(*two, tmp_path / "a.gif", fps=fps)


@pytest.mark.parametrize("name", ["file/figure.png", "folder.png"])
def test_a_file_that_cannot_be_written_is_a_sentence(tmp_path, name):
    (tmp_path / "file").write_text("not a folder")
    (tmp_path / "folder.png").mkdir()
    with pytest.raises(UserError, match="cannot be written"):
        style.save(Figure(), tmp_path / name)


def test_a_run_without_scores_is_refused(tmp_path):
    with pytest.raises(UserError, match="no score"):
        figures.learning_curve(progress(0), tmp_path / "c.png", title="empty")
