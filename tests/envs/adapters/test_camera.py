"""What Matplotlib draws, as arrays."""

import numpy as np
from matplotlib import pyplot
from matplotlib.animation import FuncAnimation

from merlax.envs.adapters import camera


def drawn(size=2.0):
    figure = pyplot.figure(figsize=(size, size), dpi=100)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    return figure, lambda t: axes.set_facecolor("white" if t % 2 else "black")


def test_states_come_one_by_one():
    found = camera.instants({"x": np.arange(3), "y": np.ones((3, 2))})
    assert [each["x"] for each in found] == [0, 1, 2]
    assert found[0]["y"].shape == (2,)


def test_a_figure_is_shot_at_every_instant_and_closed():
    figure, show = drawn()
    frames = camera.of_figure(figure, show, 3)
    assert frames.shape == (3, 200, 200, 3)
    assert [frame[100, 100, 0] for frame in frames] == [0, 255, 0]
    assert not pyplot.fignum_exists(figure.number)


def test_an_animation_is_shot_at_every_instant_without_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    figure, show = drawn()
    frames = camera.of_animation(FuncAnimation(figure, show, frames=4), 4)
    assert [frame[100, 100, 0] for frame in frames] == [0, 255, 0, 255]
    assert not list(tmp_path.iterdir())


def test_large_pictures_are_made_smaller():
    assert camera.of_figure(*drawn(12.0), 1).shape == (1, camera.PIXELS, camera.PIXELS, 3)
