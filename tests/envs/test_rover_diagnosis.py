"""How episodes of rovers end."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from merlax.envs import Rover
from merlax.envs.diagnosis import History
from merlax.envs.rover import RoverState

POI = [(0.0, 0.0), (20.0, 0.0), (0.0, 20.0), (20.0, 20.0)]
STEPS, FAR = 8, (50.0, 50.0)


def told(places, observed=(False,) * 4, turn=0.0, before=None, coupling=3) -> dict[str, list]:
    """The diagnosis of an episode whose rovers stand in these places, by what it says: the mean of every class."""
    num = len(places)
    end = jnp.array(places, jnp.float32)
    start = end if before is None else jnp.array(before, jnp.float32)
    share = jnp.linspace(0.0, 1.0, STEPS + 1)[:, None, None]
    states = jax.vmap(RoverState)(
        start[None] + share * (end - start)[None],
        jnp.zeros((STEPS + 1, num)),
        jnp.full((STEPS + 1, num), turn),
        jnp.broadcast_to(jnp.array(POI), (STEPS + 1, 4, 2)),
        jnp.broadcast_to(jnp.array(observed), (STEPS + 1, 4)),
        jnp.arange(STEPS + 1),
    )
    history = History(states, jnp.zeros((STEPS, num, 2)), jnp.zeros((STEPS, num)), jnp.ones(STEPS, bool))
    found = jax.jit(Rover(num_agents=num, coupling=coupling).diagnose)(history)
    flat = {one.says: np.asarray(one.value).reshape(-1, len(one.classes)) for one in found}
    known = {says: [column[np.isfinite(column)] for column in value.T] for says, value in flat.items()}
    return {says: [float(c.mean()) if c.size else None for c in columns] for says, columns in known.items()}


ENDS, WAITING = "how episodes end", "rovers within reach of a POI left unobserved"
PLACES = "rovers at the end of a failed episode"


@pytest.mark.parametrize(
    ("places", "observed", "how"),
    [
        (POI[:3] * 2, (False, False, False, True), 1),  # 2 + 2 + 2
        ([*POI[:2] * 2, FAR, FAR], (False, False, True, True), 2),
        ([POI[0], POI[0], FAR, FAR, FAR, FAR], (False, True, True, True), 3),
        (POI[:3] * 2, (True,) * 4, 0),
    ],
    ids=["deadlock", "split", "too few", "solved"],
)
def test_an_episode_ends_in_one_of_four_ways(places, observed, how):
    assert told(places, observed)[ENDS] == [float(kind == how) for kind in range(4)]


def test_a_poi_left_unobserved_is_told_by_how_many_rovers_wait_there():
    assert told([POI[0], POI[0], POI[1], FAR, FAR, FAR], (False, False, False, True))[WAITING] == pytest.approx(
        [1 / 3, 1 / 3, 1 / 3, 0.0]
    )


def test_a_visit_in_the_last_step_comes_too_late():
    assert told([POI[0]] * 3 + [FAR] * 3, (False, True, True, True))[WAITING] == [0.0, 0.0, 0.0, 1.0]


def test_rovers_wait_are_near_or_far_and_move_or_not():
    places = [POI[0], (4.0, 0.0), (5.0, 0.0), (0.0, -30.0)]
    before = [POI[0], (9.0, 0.0), (5.0, 0.0), (0.0, -60.0)]
    shares = told(places, (False, True, True, True), before=before)[PLACES]
    assert shares == [0.25, 0.25, 0.25, 0.25, 0.0]
    assert told(places, (True,) * 4)[PLACES] == [None] * 5  # nothing failed


@pytest.mark.parametrize(("turn", "cosine"), [(0.0, 1.0), (0.5, 0.0)])
def test_a_heading_is_compared_with_the_best_aligned_unobserved_poi(turn, cosine):
    heading = told([(-8.0, 0.0)], (False, True, True, True), turn=turn, coupling=1)
    every, *by_distance = heading["heading: cosine with the best-aligned unobserved POI, by its distance"]
    assert every == pytest.approx(cosine, abs=1e-6)
    assert by_distance == [None, None, pytest.approx(cosine, abs=1e-6), None]


def test_a_poi_observed_from_the_start_took_no_step_and_one_never_observed_has_no_time():
    assert told([FAR] * 3, (True, True, False, False))["steps until so many POIs were observed"] == [
        0.0,
        0.0,
        None,
        None,
    ]
