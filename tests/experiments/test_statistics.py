"""What a few seeds can tell, against scipy and against numbers worked out by hand."""

import math

import numpy as np
import pytest
from scipy import stats

from merlax.experiments import statistics

FIVE = [0.754, 0.693, 0.720, 0.615, 0.689]


def test_the_mean_has_student_t_interval():
    found = statistics.mean(FIVE)
    low, high = stats.t.interval(0.95, 4, loc=np.mean(FIVE), scale=stats.sem(FIVE))
    np.testing.assert_allclose((found.value, found.low, found.high), (np.mean(FIVE), low, high))
    assert found.half_width == pytest.approx(0.0637, abs=1e-4)  # docs/results.md, by hand


def test_the_t_interval_covers_the_truth_in_95_of_100_experiments():
    rng = np.random.default_rng(0)
    _, low, high = statistics.mean_band(rng.normal(2.0, 3.0, size=(5, 20_000)))
    assert np.mean((low < 2.0) & (high > 2.0)) == pytest.approx(0.95, abs=0.006)


def test_one_seed_has_a_mean_but_no_interval():
    for found in (
        statistics.mean([0.5]),
        statistics.iqm([0.5]),
        statistics.probability_of_improvement([[0.5]], [[0.5]]),
    ):
        assert found.value == 0.5
        assert math.isnan(found.low)
        assert math.isnan(found.high)


def test_equal_scores_have_an_interval_of_no_width():
    found = statistics.mean([1.0, 1.0, 1.0])
    assert (found.low, found.high) == (1.0, 1.0)


def test_the_interquartile_mean_drops_a_quarter_at_each_end():
    assert statistics.iqm([0.0, 1.0, 2.0, 100.0]).value == 1.5
    assert statistics.iqm([-50.0, 1.0, 2.0, 3.0, 1000.0]).value == 2.0


@pytest.mark.parametrize("number", range(1, 14))
def test_the_interquartile_mean_is_scipys_trimmed_mean(number):
    scores = np.random.default_rng(number).normal(size=number)
    assert statistics.iqm(scores).value == pytest.approx(stats.trim_mean(scores, 0.25))


def test_one_odd_seed_moves_the_mean_but_not_the_interquartile_mean():
    calm, odd = [0.5, 0.6, 0.6, 0.7, 0.7], [0.0, 0.6, 0.6, 0.7, 0.7]
    assert statistics.iqm(calm).value == statistics.iqm(odd).value
    assert statistics.mean(calm).value != statistics.mean(odd).value


def test_the_bootstrap_never_mixes_worlds():
    """Each world's runs agree, so nothing is uncertain, however far apart the worlds are."""
    found = statistics.iqm([0.9, 0.9, 0.9, 0.9], [0.1, 0.1, 0.1, 0.1])
    assert (found.value, found.low, found.high) == (0.5, 0.5, 0.5)


def test_the_bootstrap_interval_resembles_scipys():
    scores = np.random.default_rng(1).normal(size=30)
    found = statistics.iqm(scores)
    theirs = stats.bootstrap(
        (scores,), lambda x, axis: stats.trim_mean(x, 0.25, axis=axis), method="percentile", n_resamples=5000, rng=0
    ).confidence_interval
    np.testing.assert_allclose((found.low, found.high), (theirs.low, theirs.high), atol=0.06)


def test_the_same_scores_give_the_same_interval():
    assert statistics.iqm(FIVE) == statistics.iqm(FIVE)


def test_the_probability_of_improvement_counts_pairs():
    # 3 beats both, 1 beats neither but ties with 1: (2 + 0.5) of 4 pairs.
    assert statistics.probability_of_improvement([[3.0, 1.0]], [[1.0, 2.0]]).value == 2.5 / 4


def test_the_probability_of_improvement_is_mann_whitneys_u():
    rng = np.random.default_rng(2)
    ours, theirs = rng.normal(0.3, 1.0, 7), rng.normal(0.0, 1.0, 9)
    found = statistics.probability_of_improvement([ours], [theirs])
    assert found.value == pytest.approx(stats.mannwhitneyu(ours, theirs).statistic / (7 * 9))
    assert found.low < found.value < found.high


def test_winning_and_losing_probabilities_add_up_to_one():
    ours, theirs = [[0.1, 0.5, 0.5], [2.0, 3.0]], [[0.5, 0.2], [2.0, 2.0, 9.0]]
    forth = statistics.probability_of_improvement(ours, theirs)
    back = statistics.probability_of_improvement(theirs, ours)
    assert forth.value + back.value == pytest.approx(1.0)


def test_no_scores_and_unequal_worlds_are_refused():
    with pytest.raises(ValueError, match="no score"):
        statistics.mean([])
    with pytest.raises(ValueError, match="worlds"):
        statistics.probability_of_improvement([[1.0]], [[1.0], [2.0]])
