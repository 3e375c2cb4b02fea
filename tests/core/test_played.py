"""What episodes leave."""

import jax.numpy as jnp

from merlax.core.played import FAULTS, Episode, num_frames


def test_the_frames_of_all_episodes_are_added():
    flags = jnp.zeros((2, len(FAULTS)), bool)
    some = Episode(jnp.zeros(2), (jnp.zeros(2),), jnp.array([3, 4]), flags)
    assert int(num_frames([some, some])) == 14
