"""What happened in one episode of a particle world: a picture of all of it, or an animation."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from PIL import Image

from merlax.core.rollout import Trace
from merlax.envs import KeepAway, PredatorPrey
from merlax.figures import film, style
from merlax.figures.arena import LANDMARK, OBSTACLE, Arena, Particles, Scene, body_colors
from merlax.figures.stage import GOLD

TAIL = 8  # steps that a trail lasts in the animation


def picture(env: Particles, trace: Trace, out: Path) -> None:
    """Draw the whole episode: trails that darken with time, from a dot at the start to a disc at the end."""
    style.check_suffix(out, style.STILLS)
    scene = Scene.of(env, trace)
    fig, ax = film.square(style.COLUMN_WIDTH, above=0.4, below=0.25)
    arena = Arena(ax, scene)
    steps = len(scene.position) - 1
    arena.show(steps, tail=max(steps, 1))
    ax.scatter(*scene.position[0].T, s=14, c=arena.colors, edgecolors="white", linewidths=0.6, zorder=3)
    where = scene.position[1:, -1][scene.touched[1:, -1]]
    ax.scatter(*where.T, s=34, facecolors="none", edgecolors=GOLD, linewidths=1.3, zorder=6)
    fig.text(0.03, 0.985, _headline(env, trace, scene), fontsize=style.TEXT, color=style.INK, va="top", linespacing=1.3)
    _explain(fig, env)
    style.save(fig, out)


def animate(env: Particles, trace: Trace, out: Path, fps: int = 10) -> None:
    """Draw the episode as a GIF, one frame per instant; the last one is held."""
    scene = Scene.of(env, trace)
    colors = body_colors(len(scene.radius))
    levels = min(12, max(1, (256 - 56) // len(colors)))
    ramps = [(to_rgb(style.INK), 32), (to_rgb(GOLD), 16), (to_rgb(OBSTACLE), 8)]
    film.save_gif(_frames(env, scene), film.palette([*ramps, *((color, levels) for color in colors)]), fps, out)


def _frames(env: Particles, scene: Scene) -> Iterator[Image.Image]:
    shots = film.Film()
    arena = Arena(shots.ax, scene)
    for t, score in enumerate(scene.score):
        arena.show(t, tail=TAIL)
        yield shots.shoot(f"step {t}/{len(scene.score) - 1}", _score(env, float(score)))


def _score(env: Particles, score: float) -> str:
    return f"touches {score:.0f}" if isinstance(env, PredatorPrey) else f"score {score:+.2f}"


def _headline(env: Particles, trace: Trace, scene: Scene) -> str:
    landmarks = len(scene.landmark)
    if isinstance(env, PredatorPrey):
        title = f"{env.num_predators} predators, a prey of top speed {env.prey_speed:g}, {landmarks} obstacles"
    else:
        title = f"{env.num_agents} agents, an opponent, {landmarks} landmarks"
    return f"{title}\n{_score(env, float(trace.score))} after {int(trace.steps)} steps"


def _explain(fig: Figure, env: Particles) -> None:
    """Say below the picture what its symbols mean."""

    def disc(label: str, fill: str, edge: str = "white", size: float = 6.5, width: float = 0.6) -> Line2D:
        line = Line2D([], [], linestyle="", marker="o", markersize=size, markeredgewidth=width, label=label)
        line.set(markerfacecolor=fill, markeredgecolor=edge)
        return line

    touch = disc("touch", "none", GOLD, width=1.3)
    start, colors = disc("start", style.GREY, size=4.0), (style.BLUE, style.VERMILLION)
    if isinstance(env, PredatorPrey):
        team, opponent = (disc(name, color) for name, color in zip(("predator", "prey"), colors, strict=True))
        film.legend(fig, [start, team, opponent, disc("obstacle", OBSTACLE), touch], length=0.9)
        return
    team, opponent = (disc(name, color) for name, color in zip(("agent", "opponent"), colors, strict=True))
    marks = [disc("landmark", LANDMARK), disc("target", LANDMARK, GOLD, width=1.6)]
    film.legend(fig, [start, team, opponent, *marks, *([touch] if isinstance(env, KeepAway) else [])], length=0.9)
