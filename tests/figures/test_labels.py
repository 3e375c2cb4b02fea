"""Names at the ends of lines stay apart, in order, and on the figure."""

from __future__ import annotations

import numpy as np
import pytest

from merlax.figures import labels, style
from merlax.figures.labels import Label


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


def test_written_labels_stand_right_of_the_axes_apart_from_each_other_and_on_the_figure():
    fig, ax = style.figure()
    ax.set_ylim(0.0, 1.0)
    labels.write_labels(fig, {ax: [Label(0.50, "a long name", style.BLUE, bold=True), Label(0.51, "b", style.GREEN)]})
    fig.draw_without_rendering()
    lower, upper = (text.get_window_extent() for text in ax.texts)
    assert upper.y0 >= lower.y1 - 1.0
    assert min(lower.x0, upper.x0) > ax.get_window_extent().x1
    assert max(lower.x1, upper.x1) <= fig.bbox.x1


@pytest.mark.parametrize(
    ("value", "text"), [(0.5, "0.50"), (99.994, "99.99"), (100.4, "100"), (-0.126, "−0.13"), (-220.0, "−220")]
)
def test_a_number_is_short_and_has_a_true_minus(value, text):
    assert labels.number(value) == text
