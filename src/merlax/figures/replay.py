"""Episodes as a page that plays them: its data, the page itself, and how a notebook shows it."""

from __future__ import annotations

import base64
import dataclasses
import html
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from merlax.envs.drawing import Circles, Labels, Mark, Points
from merlax.figures import page, palette
from merlax.figures.scene import Scene, Told, view

LONGEST = 2000  # instants of an episode that are kept; of longer ones every second, third, …
PIXELS, QUALITY = 480, 60  # a picture of a world that draws itself: its longer side; of 100
MOST_SEEN = 3_000_000  # numbers of observations in a page: about a megabyte, and often much less


@dataclasses.dataclass(frozen=True)
class Episode:
    """One instance of a world, as one team or several played it."""

    seed: int
    scenes: tuple[Scene, ...]


@dataclasses.dataclass(frozen=True)
class Replay:
    """A page that plays episodes. A notebook shows it as the value of a cell.

    Args:
        page: The whole page, as HTML that needs nothing else.
        title: Of the window.
        height: Pixels that a notebook gives it.

    Examples:
        >>> replay = merlax.load("runs/tiny").replay(episodes=1)
        >>> replay
        Replay of two-rovers (speed pinned, encoding clean)
        >>> print(replay.save("episode.html"))
        episode.html
    """

    page: str
    title: str
    height: int = 700

    def save(self, out: str | Path) -> Path:
        """Write the page to a file; its name ends in .html."""
        page.write(self.page, Path(out))
        return Path(out)

    def _repr_html_(self) -> str:
        """A frame of its own that may run its scripts, and neither reads nor changes the notebook around it."""
        look = f"width: 100%; height: {self.height}px; border: 0; border-radius: 8px"
        title, text = html.escape(self.title), html.escape(self.page)
        return f'<iframe sandbox="allow-scripts" title="{title}" style="{look}" srcdoc="{text}"></iframe>'

    def __repr__(self) -> str:
        return f"Replay of {self.title}"


def make_replay(title: str, subtitle: str, episodes: Sequence[Episode]) -> Replay:
    """A page that plays these episodes."""
    data = replay_data(title, subtitle, episodes)
    return Replay(page.page(title, data, page.REPLAY, "start_replay.js"), title)


def replay_data(title: str, subtitle: str, episodes: Sequence[Episode]) -> dict[str, Any]:
    """All that a page needs to play these episodes."""
    seen = sum(told.obs.size for episode in episodes for scene in episode.scenes for told in scene.told
               if told.obs is not None)  # fmt: skip
    return {
        "title": title,
        "subtitle": subtitle,
        "episodes": [_episode(episode, with_obs=seen <= MOST_SEEN) for episode in episodes],
    }


def _episode(episode: Episode, *, with_obs: bool) -> dict[str, Any]:
    low, size = view(episode.scenes, astray=0.25)
    scenes = [_scene(scene, with_obs) for scene in episode.scenes]
    return {"seed": episode.seed, "view": [float(low[0]), float(low[1]), size], "scenes": scenes}


def _scene(scene: Scene, with_obs: bool) -> dict[str, Any]:
    every = -(-scene.steps // LONGEST) or 1
    kept = np.unique([*range(0, scene.steps + 1, every), scene.steps])
    words = sorted({scene.caption[t] for t in kept})
    return {
        "label": scene.label,
        "title": scene.drawing.title,
        "headline": scene.headline,
        "final": scene.final,
        "times": kept,
        "score": scene.score[kept],
        "words": words,
        "caption": np.array([words.index(scene.caption[t]) for t in kept]),
        "box": None if scene.drawing.box is None else [list(map(float, corner)) for corner in scene.drawing.box],
        "marks": [_mark(mark, scene, kept) for mark in scene.drawing.marks],
        "sectors": [
            dataclasses.asdict(part) | {"hexes": palette.hexes(part.color, 1)}
            for part in scene.drawing.sectors
        ],
        "told": [_told(told, kept, with_obs) for told in scene.told],
        "table": [{"name": name, "values": values[kept]} for name, values in scene.table],
        "pictures": [] if scene.frames is None else list(map(_picture, scene.frames)),
    }  # fmt: skip


def _picture(frame: np.ndarray) -> str:
    """Small enough that a page of them can be sent."""
    image, file = Image.fromarray(frame), io.BytesIO()
    image.thumbnail((PIXELS, PIXELS))
    image.save(file, "WEBP", quality=QUALITY)
    return base64.b64encode(file.getvalue()).decode()


def _mark(mark: Mark, scene: Scene, kept: np.ndarray) -> dict[str, Any]:
    position = _moving(np.asarray(mark.position), kept)
    if isinstance(mark, Labels):
        words = sorted({str(word) for word in np.asarray(mark.text)[kept].flat})
        place = {word: number for number, word in enumerate(words)}
        text = np.array([[place[str(word)] for word in row] for row in np.asarray(mark.text)[kept]])
        return {"kind": "labels", "position": position, "words": words, "text": text.reshape(len(kept), -1)}
    return _thing(mark, scene, kept) | {"position": position}


def _thing(mark: Points, scene: Scene, kept: np.ndarray) -> dict[str, Any]:
    number = np.asarray(mark.position).shape[1]
    own = {
        "kind": "circles" if isinstance(mark, Circles) else "points",
        "name": mark.name,
        "litName": mark.lit_name,
        "color": mark.color,
        "hexes": palette.hexes(mark.color, number, contest=scene.contest),
        "side": mark.side,
        "trail": mark.trail,
        "heading": None if mark.heading is None else _moving(np.asarray(mark.heading), kept),
        "lit": None if mark.lit is None else _moving(np.asarray(mark.lit, float), kept),
    }
    if isinstance(mark, Circles):
        own |= {"radius": np.asarray(mark.radius), "style": mark.style}
    return own


def _moving(array: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """What never moves is told once."""
    array = array[kept]
    return array[:1] if (array == array[:1]).all() else array


def _told(told: Told, kept: np.ndarray, with_obs: bool) -> dict[str, Any]:
    """What the step that led to each instant paid, and what is seen and done there: nothing more at the end."""
    steps = len(told.team_reward)
    after = np.minimum(kept, max(steps - 1, 0))
    return {
        "obs": None if told.obs is None or not with_obs or not steps else told.obs[after],
        "action": told.action[after] if steps else None,
        "agent": _so_far(told.agent_reward, kept),
        "team": _so_far(told.team_reward, kept),
    }


def _so_far(paid: np.ndarray, kept: np.ndarray) -> np.ndarray:
    total = np.cumsum(np.concatenate([np.zeros((1, *paid.shape[1:])), paid]), axis=0)
    return total[kept]
