"""Spaces of PettingZoo's as vectors and choices."""

import numpy as np
import pytest
from gymnasium import spaces

from merlax_worker import world
from merlax_worker.world import WorldError


def test_numbers_are_stretched_to_their_bounds_and_choices_start_where_they_do():
    box = spaces.Box(np.array([0.0, -np.inf], np.float32), np.array([10.0, np.inf], np.float32))
    np.testing.assert_allclose(world.taken(box, np.array([0.5, 0.25, 9.0], np.float32)), [7.5, 0.25])
    assert world.taken(spaces.Discrete(3, start=5), np.array([0.0, 1.0, 0.0])) == 6
    assert world.taken(spaces.Box(-1, 1, (2, 1)), np.zeros(2, np.float32)).shape == (2, 1)


def test_observations_become_numbers_side_by_side():
    image = spaces.Box(0, 1, (2, 2))
    masked = spaces.Dict({"observation": image, "action_mask": spaces.MultiBinary(3)})
    told = {"observation": np.eye(2), "action_mask": np.array([1, 0, 1], np.int8)}
    assert world.vector("w", "a", masked, told).tolist() == [1.0, 0.0, 0.0, 1.0]
    assert world.obs_size("w", "a", masked) == 4
    for mask in (world.mask(told, {}), world.mask(0, {"action_mask": [1, 0, 1]})):
        assert mask is not None
        assert mask.tolist() == [True, False, True]
    assert world.vector("w", "a", spaces.Discrete(3, start=1), 2).tolist() == [0.0, 1.0, 0.0]


def test_what_is_no_box_and_no_choice_is_refused():
    with pytest.raises(WorldError, match="w lets a act by a MultiDiscrete; merlax takes Box and Discrete"):
        world.act_size("w", "a", spaces.MultiDiscrete([2, 2]))
    with pytest.raises(WorldError, match="w shows a a Text; merlax takes"):
        world.obs_size("w", "a", spaces.Text(3))
    with pytest.raises(WorldError, match="w shows a 3 numbers, and its space says 4"):
        world.vector("w", "a", spaces.Box(0, 1, (4,)), np.zeros(3))
