"""The replay in a browser: it plays, steps, scrubs, and says a sentence where it cannot."""

from __future__ import annotations

import base64
import dataclasses
import io
import time

import numpy as np
import pytest
from PIL import Image

from merlax.envs import make, two_rovers
from merlax.envs.drawing import Drawing
from merlax.figures.replay import Episode, make_replay
from merlax.figures.scene import Told, scene
from tests.support import browser
from tests.support.drawing import contest, steer

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(browser.PROGRAM is None, reason="there is no Chromium here to open pages with"),
]
ROOT = "document.querySelector('.replay')"


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    env, prey = two_rovers(), make("predator-prey")
    out = tmp_path_factory.mktemp("pages")
    one = scene(env, steer(env))
    made = make_replay("<b>two</b> rovers", "a team", [Episode(0, (one,)), Episode(1, (one,))])
    made.save(out / "one.html")
    (out / "notebook.html").write_text(f"<!doctype html><title>a cell</title>{made._repr_html_()}")
    both = (scene(prey, contest(prey), "first"), scene(prey, contest(prey), "second"))
    make_replay("a contest", "two teams", [Episode(0, both)]).save(out / "two.html")
    greys = np.linspace(0, 180, 4).astype(np.uint8)
    frames = np.broadcast_to(greys[:, None, None, None], (4, 20, 20, 3))
    steps = both[0].steps
    told = Told(None, np.zeros((steps, 2, 1)), np.ones(steps), np.ones((steps, 2)))
    filmed = dataclasses.replace(both[0], drawing=Drawing(marks=()), frames=frames, told=(told,))
    make_replay("a film", "a team", [Episode(0, (filmed,))]).save(out / "film.html")
    return out


@pytest.fixture(scope="module")
def shown():
    with browser.Browser() as opened:
        yield opened


def at(shown):
    return int(shown.run(f"{ROOT}.dataset.at"))


def test_it_plays_pauses_steps_scrubs_and_changes_the_episode(shown, pages):
    shown.open(pages / "one.html")
    shown.wait(f"{ROOT} && Number({ROOT}.dataset.at) > 1")  # it plays from the start
    shown.press(" ")
    shown.wait(f"{ROOT}.dataset.playing === 'false'")
    before = at(shown)
    shown.press("ArrowRight")
    assert at(shown) in (before + 1, before + 2)
    shown.press("ArrowLeft")
    shown.press("End")
    assert at(shown) == 30
    assert shown.run("document.querySelector('figcaption span').textContent") == "1 of 2 POIs observed"
    shown.run("document.querySelector('input[type=range]').value = 17")
    shown.run("document.querySelector('input[type=range]').dispatchEvent(new Event('input'))")
    assert at(shown) == 17
    assert shown.run("document.querySelector('.time').textContent") == "step 17 / 30"
    shown.press("]")
    assert shown.run(f"{ROOT}.dataset.episode") == "1"
    assert shown.run("document.querySelector('h1').textContent") == "<b>two</b> rovers"
    assert shown.problems == []


def test_a_world_that_draws_itself_plays_in_its_own_pictures(shown, pages):
    shown.open(pages / "film.html")
    picture = "document.querySelector('.stage canvas').toDataURL()"
    shown.wait(f"{ROOT} && {ROOT}.player.episode.scenes[0].images.every((image) => image.naturalWidth)")
    for key, grey in (("Home", 0), ("End", 180)):
        shown.press(key)
        photo = np.asarray(Image.open(io.BytesIO(base64.b64decode(shown.run(picture).partition(",")[2]))))
        np.testing.assert_allclose(photo[9, 9], [grey, grey, grey, 255], atol=3)
    assert "agent 1" in shown.run("document.querySelector('.aside').textContent")
    assert shown.problems == []


def test_a_press_on_the_score_moves_the_time_and_the_picture_changes(shown, pages):
    shown.open(pages / "one.html")
    left, right, top = (
        shown.run(f"document.querySelector('.track').getBoundingClientRect().{edge}")
        for edge in ("left", "right", "top")
    )
    picture = "document.querySelector('.stage canvas').toDataURL()"
    shown.mouse("pressed", left + 46, top + 30)
    shown.mouse("released", left + 46, top + 30)
    assert at(shown) == 0
    first = shown.run(picture)
    shown.mouse("pressed", right - 10, top + 30)
    shown.mouse("released", right - 10, top + 30)
    assert at(shown) == 30
    assert shown.run(picture) != first
    assert shown.problems == []


def test_teams_beside_each_other_are_in_step_and_the_theme_can_be_chosen(shown, pages):
    shown.open(pages / "two.html")
    shown.wait(f"{ROOT} && document.querySelectorAll('.stage canvas').length === 2")
    shown.press("Home")
    shown.press("ArrowRight")
    pictures = shown.run("[...document.querySelectorAll('.stage canvas')].map((c) => c.toDataURL())")
    assert pictures[0] == pictures[1]  # the same episode twice
    before = shown.run("getComputedStyle(document.body).backgroundColor")
    shown.run("document.getElementById('theme').click()")
    assert shown.run("getComputedStyle(document.body).backgroundColor") != before
    assert shown.problems == []


def test_what_a_notebook_shows_plays_in_its_frame(shown, pages):
    shown.open(pages / "notebook.html")
    shown.photograph(pages / "first.png")
    end = time.monotonic() + 30
    moved = False
    while not moved and time.monotonic() < end:
        shown.photograph(pages / "later.png")
        moved = (pages / "first.png").read_bytes() != (pages / "later.png").read_bytes()
    assert moved
    assert shown.problems == []


def test_on_a_phone_nothing_is_wider_than_the_screen(shown, pages):
    shown.resize(390, 844, touch=True)
    for name in ("one.html", "two.html"):
        shown.open(pages / name)
        shown.wait(f"!!{ROOT}")
        assert shown.run("document.documentElement.scrollWidth") <= 390
    shown.resize(1280, 860)
    assert shown.problems == []


def test_a_browser_that_lacks_something_and_a_torn_page_get_a_sentence(shown, pages):
    text = (pages / "one.html").read_text()
    start = text.index('id="data">') + 10
    torn = text[: start + 400] + text[text.index("</script>", start) :]
    (pages / "torn.html").write_text(torn)
    shown.open(pages / "torn.html")
    assert "damaged or incomplete" in shown.run("document.querySelector('.sentence').textContent")
    shown.problems.clear()  # which the console tells, too
    shown.open(pages / "one.html")
    shown.run("(() => { delete window.DecompressionStream; window.DecompressionStream = undefined; })()")
    shown.run("merlax.begin(() => {})")
    assert "needs a newer browser" in shown.run("document.querySelector('.sentence').textContent")
    shown.open(pages / "one.html")
    shown.run("(() => { HTMLCanvasElement.prototype.getContext = () => null; })()")
    shown.run("merlax.begin(() => {})")
    assert "draws on a canvas" in shown.run("document.querySelector('.sentence').textContent")
