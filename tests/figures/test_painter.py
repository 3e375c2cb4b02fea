"""A scene on the axes of a figure."""

from __future__ import annotations

import numpy as np

from merlax.envs import Rover
from merlax.figures import film
from merlax.figures.painter import Painter, arrows
from merlax.figures.scene import scene, view
from tests.support.drawing import walk


def test_arrows_point_along_the_heading():
    heading = np.pi * np.array([0.0, 0.5, 1.25, -3.0])
    tips = arrows(np.ones((4, 2)), heading, 2.0)[:, 0] - 1.0
    np.testing.assert_allclose(tips, 2.0 * np.stack([np.cos(heading), np.sin(heading)], axis=1), atol=1e-12)


def test_a_trail_goes_back_over_its_tail_and_grows_fainter():
    env = Rover(num_agents=1, num_poi=3, coupling=1)
    _, ax = film.square(3.0, above=0.0)
    one = scene(env, walk(env, np.tile([1.0, 0.0], (20, 1, 1))))
    painter = Painter(ax, one, view([one]))
    painter.show(10, tail=4)
    ((_, lines),) = painter._trails
    ends = np.array([segment[:, 0] for segment in lines.get_segments()])
    np.testing.assert_allclose(ends, [(16, 17), (17, 18), (18, 19), (19, 20)])
    paleness = np.asarray(lines.get_color())[:, :3].sum(axis=1)
    assert (np.diff(paleness) < 0).all()
