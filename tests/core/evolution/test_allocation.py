"""Gradient steps go to those whose migrants are selected, and nobody is left without any."""

import jax.numpy as jnp
import numpy as np

from merlax.core.evolution import allocation


def test_at_first_all_have_an_equal_share():
    np.testing.assert_allclose(allocation.shares(allocation.nothing_known(3)), 1.0, rtol=1e-6)


def test_who_is_always_selected_gets_nearly_all_and_nobody_nothing():
    rates = allocation.nothing_known(4)
    for _ in range(200):
        rates = allocation.follow(rates, jnp.array([True, False, False, False]))
    np.testing.assert_allclose(rates, [1.0, 0.0, 0.0, 0.0], atol=1e-3)
    np.testing.assert_allclose(allocation.shares(rates), [3.7, 0.1, 0.1, 0.1], atol=1e-2)


def test_shares_are_in_proportion_to_the_rates_and_the_sum_of_all_steps_stays():
    shares = allocation.shares(jnp.array([0.2, 0.4]))
    np.testing.assert_allclose(shares.sum(), 2.0, rtol=1e-6)
    np.testing.assert_allclose((shares[1] - allocation.LEAST) / (shares[0] - allocation.LEAST), 2.0, rtol=1e-5)


def test_shares_stay_numbers_when_nobody_is_selected_for_long():
    rates = allocation.nothing_known(2)
    for _ in range(3_000):
        rates = allocation.follow(rates, jnp.array([False, False]))
    np.testing.assert_allclose(allocation.shares(rates), 1.0, rtol=1e-5)
