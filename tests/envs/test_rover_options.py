"""Options of the rover worlds: what works, and one sentence for everything that does not."""

import jax
import pytest

from merlax.envs import Rover, Side
from merlax.types import UserError
from tests.support.worlds import rover

TABLE = {1: (3, 3, 30), 2: (4, 4, 20), 3: (6, 4, 20), 4: (8, 4, 20), 5: (10, 4, 20), 6: (12, 4, 20), 7: (14, 4, 20)}


def is_one_sentence(error):
    message = str(error.value)
    return message.endswith(".") and "\n" not in message and ". " not in message


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"num_agents": 0}, "num_agents is 0"),
        ({"num_agents": -3}, "num_agents is -3"),
        ({"num_agents": 2.5}, "num_agents is 2.5"),
        ({"num_agents": True}, "num_agents is True"),
        ({"num_poi": 0}, "num_poi is 0"),
        ({"coupling": 0}, "coupling is 0"),
        ({"coupling": 7}, "coupling is 7 but there are only 6 rovers"),
        ({"horizon": 0}, "horizon is 0"),
        ({"sectors": 0}, "sectors is 0"),
        ({"side": 8}, "side is 8"),
        ({"side": -20}, "side is -20"),
        ({"side": 20.5}, "side is 20.5"),
        ({"observation_distance": 0.0}, "observation_distance is 0.0"),
        ({"observation_distance": -1.0}, "observation_distance is -1.0"),
        ({"observation_distance": float("nan")}, "observation_distance is nan"),
        ({"observation_distance": float("inf")}, "observation_distance is inf"),
        ({"speed": "fast"}, "choose 'free' or 'pinned'"),
        ({"encoding": "raw"}, "choose 'clean' or 'published'"),
        ({"rover_start": ((1.0, 1.0),)}, "rover_start must hold 6 points"),
        ({"rover_start": ()}, "rover_start must hold 6 points"),
        ({"rover_start": ((1.0,),) * 6}, r"rover_start is \(1.0,\); give 2 values"),
        ({"poi_start": ((1.0, 1.0),) * 5}, "poi_start must hold 4 points"),
    ],
)
def test_a_bad_option_is_refused_in_one_sentence(options, says):
    with pytest.raises(UserError, match=says) as error:
        Rover(**options)
    assert is_one_sentence(error)


@pytest.mark.parametrize("coupling", TABLE)
def test_the_named_worlds_have_the_sizes_of_the_table(coupling):
    env = rover(f"rover-{coupling}")
    assert (env.num_agents, env.num_poi, env.side) == TABLE[coupling]
    assert (env.coupling, env.horizon, env.observation_distance, env.sectors) == (coupling, 50, 3.0, 36)
    assert (env.speed, env.encoding) == ("free", "clean")
    assert env.sides == (Side.equal(TABLE[coupling][0], obs_size=76, act_size=2),)
    assert rover(f"rover-{coupling}", encoding="published").sides[0].obs_size == 75


def test_a_world_of_other_sizes_works():
    env = Rover(num_agents=12, coupling=4, num_poi=6)
    obs, state = jax.jit(env.reset)(jax.random.key(0))
    result = jax.jit(env.step)(jax.random.key(1), state, jax.numpy.zeros((12, 2)))
    assert obs.shape == result[0].shape == (12, env.sides[0].obs_size)
    assert result[1].observed.shape == (6,)
