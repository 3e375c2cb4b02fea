"""Episodes of finished teams, to be seen."""

from __future__ import annotations

import dataclasses
import html
from pathlib import Path

import pytest

from merlax.runs import evaluation, reader, replays
from merlax.types import UserError

OLD = Path(__file__).parents[1] / "data" / "before-redesign"
pytestmark = pytest.mark.slow  # episodes are played


@pytest.fixture(scope="module")
def run():
    return reader.load(OLD / "rover")


def test_a_page_holds_the_instances_of_the_next_seeds(run, tmp_path):
    episodes = replays.episodes([run], 4, 2)
    assert [episode.seed for episode in episodes] == [4, 5]
    for episode in episodes:
        assert episode.scenes[0].final == pytest.approx(float(evaluation.trace(run, episode.seed).score))
    replays.render([run], tmp_path / "a.html", number=2)
    assert (tmp_path / "a.html").stat().st_size < 400_000


def test_a_notebook_gets_the_page_in_a_frame_of_its_own(run):
    shown = run.replay(seed=4, episodes=1, compare="still")
    frame, text, end = shown._repr_html_().rpartition('srcdoc="')[0], *shown._repr_html_().split('"')[-2:]
    assert frame.startswith('<iframe sandbox="allow-scripts" ')
    assert (html.unescape(text), end) == (shown.page, "></iframe>")
    assert repr(shown) == f"Replay of {run.title}"


def test_two_teams_meet_the_same_instance(run):
    other = dataclasses.replace(run, path=Path("other"))
    (episode,) = replays.episodes([run, other], 0, 1)
    first, second = episode.scenes
    assert (first.label, second.label) == ("rover", "other")
    assert (first.drawing.marks[0].position == second.drawing.marks[0].position).all()


def test_what_cannot_be_shown_is_refused(run, tmp_path):
    with pytest.raises(UserError, match="cannot be compared, for their worlds differ"):
        replays.episodes([run, reader.load(OLD / "prey")], 0, 1)
    with pytest.raises(UserError, match="episodes is 0; choose a whole number from 1 to 100"):
        replays.render([run], tmp_path / "a.html", number=0)
    with pytest.raises(UserError, match=r"shows a single episode; leave --episodes out"):
        replays.render([run], tmp_path / "a.png", number=3)
    with pytest.raises(UserError, match=r"end in \.html, \.gif, \.mp4, \.png, \.pdf or \.svg"):
        replays.render([run], tmp_path / "a.txt")
    assert not list(tmp_path.iterdir())
