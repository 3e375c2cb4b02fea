"""Hand rules of the rover domain."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from merlax.envs import Rover, rover_rules
from tests.support.steering import head_for_nearest
from tests.support.worlds import rover

FAR = (100.0, 100.0)


def placed(env: Rover, position, poi, observed, turn=0.0):
    """A state of the world with these places."""
    _, state = env.reset(jax.random.key(0))
    fields = {"position": jnp.array(position), "poi": jnp.array(poi), "observed": jnp.array(observed)}
    changed = {**vars(state), **fields, "turn": jnp.full(len(position), turn)}
    return type(state)(**changed)


def goals(env: Rover, state):
    """Which way each rover turns under the rule of two halves, as signs: to the east 0, up 1, down -1."""
    return np.sign(np.asarray(env.rules(0)["halves"].act(state))[:, 1]).tolist()


def test_the_greedy_rule_drives_straight_to_the_nearest_unobserved_poi():
    env = Rover(num_agents=2, num_poi=2, coupling=1)
    state = placed(env, [(0.0, 0.0), (9.0, 9.0)], [(5.0, 5.0), (-3.0, 1.0)], [False, True], turn=0.3)
    np.testing.assert_allclose(env.rules(0)["scripted"].act(state), head_for_nearest(state), atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["clean", "published"])
@pytest.mark.parametrize("turn", [0.0, 0.9, -2.7])
def test_by_sight_it_turns_to_within_half_a_sector_of_where_the_poi_is(encoding, turn):
    env = rover("rover-3", num_agents=3, encoding=encoding)
    state = placed(
        env, [(10.0, 10.0), (4.0, 7.0), (11.0, 2.0)], [(14.0, 11.0), FAR, FAR, FAR], [False, True, True, True], turn
    )
    obs = env._observe(state, state.poi[None] - state.position[:, None])
    action = env.rules(0)["sighted"].act(obs)
    np.testing.assert_allclose(action, head_for_nearest(state), atol=2.0 * math.radians(5.0) / math.pi + 1e-5)


def test_two_halves_take_the_two_pois_with_the_shortest_ways():
    env = Rover(num_agents=4, num_poi=3, coupling=2)
    start = [(0.0, 0.0)] * 2 + [(0.0, 1.0)] * 2
    state = placed(env, start, [(0.0, 10.0), (0.0, -10.0), FAR], [False] * 3)
    assert goals(env, state) == [-1.0, -1.0, 1.0, 1.0]
    one_left = placed(env, start, [(0.0, 10.0), (0.0, -10.0), FAR], [True, False, True])
    assert goals(env, one_left) == [-1.0] * 4


def test_a_team_too_small_for_two_halves_stays_together():
    env = Rover(num_agents=3, num_poi=2, coupling=2)
    state = placed(env, [(0.0, 0.0), (0.0, 0.0), (0.0, 3.0)], [(0.0, 9.0), (0.0, -5.0)], [False, False])
    assert len(set(goals(env, state))) == 1


def test_who_turns_does_so_by_the_shorter_way():
    heading, wanted = jnp.array([math.pi * 0.9]), jnp.array([-math.pi * 0.9])
    np.testing.assert_allclose(rover_rules.drive(heading, wanted), [[1.0, 0.4]], atol=1e-5)
