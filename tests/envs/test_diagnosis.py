"""What a world can say of its teams' episodes."""

import jax.numpy as jnp
import numpy as np

from merlax.envs import diagnosis
from merlax.envs.diagnosis import History


def test_the_state_after_so_many_steps_is_the_one_that_they_led_to():
    history = History(jnp.arange(4.0), jnp.zeros((3, 1, 1)), jnp.zeros((3, 1)), jnp.array([True, True, False]))
    assert history.at(history.steps) == 2.0


def test_shares_count_only_those_that_count():
    measure = diagnosis.shares("", ("a", "b"), jnp.array([0, 1, 1, 0]), jnp.array([True, True, True, False]))
    np.testing.assert_allclose(np.nanmean(measure.value, axis=0), [1 / 3, 2 / 3])
    assert measure.percent


def test_what_is_told_over_time_has_the_first_and_the_last_instant():
    measure = diagnosis.over_time("", jnp.arange(26.0))
    assert measure.classes == ("step 0", "step 5", "step 10", "step 15", "step 20", "step 25")
    assert measure.value.tolist() == [0.0, 5.0, 10.0, 15.0, 20.0, 25.0]
    assert diagnosis.over_time("", jnp.arange(3.0)).classes == ("step 0", "step 1", "step 2")
