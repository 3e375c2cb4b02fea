import dataclasses

import pytest

from merlax import config
from merlax.algorithms import presets
from merlax.envs import Rover, two_rovers
from merlax.types import UserError


def test_a_configuration_survives_the_way_to_plain_data_and_back():
    changed = dataclasses.replace(presets.FAST_ROVER, noise=0.25, actor_hidden=(7, 8, 9))
    assert config.merge(presets.PAPER_ROVER, config.to_dict(changed)) == changed


def test_a_world_with_fixed_positions_survives_too():
    assert config.merge(Rover(), config.to_dict(two_rovers())) == two_rovers()


def test_a_whole_number_serves_as_a_float():
    assert config.merge(presets.FAST_ROVER, {"noise": 1}).noise == 1.0


@pytest.mark.parametrize(
    "changes",
    [
        {"td3": {"batch": 1.5}},
        {"td3": {"batch": True}},
        {"td3": {"order": "random"}},
        {"actor_hidden": 100},
        {"actor_hidden": [100, None]},
        {"evolution": {"same_instances": 1}},
        {"noise": float("inf")},
    ],
    ids=str,
)
def test_a_value_of_the_wrong_type_is_refused(changes):
    with pytest.raises(UserError):
        config.merge(presets.FAST_ROVER, changes)
