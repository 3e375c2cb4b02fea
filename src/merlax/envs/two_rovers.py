"""The motivating example: two rovers, two POIs, and a greedy trap (paper, §3)."""

from __future__ import annotations

from typing import Any

from merlax.envs.rover import Rover


def two_rovers(**options: Any) -> Rover:
    """Rover 1 reaches either POI, rover 2 only the second: going for the nearest one halves the score.

    Args:
        options: Fields of `merlax.Rover` that are to differ.

    Examples:
        >>> env = merlax.two_rovers(horizon=40)
        >>> env.num_agents, env.horizon, env.speed
        (2, 40, 'pinned')
    """
    fixed: dict[str, Any] = {
        "num_agents": 2,
        "num_poi": 2,
        "coupling": 1,
        "side": 20,
        "horizon": 30,
        "observation_distance": 2.0,
        "speed": "pinned",
        "rover_start": ((9.0, 10.0), (14.0, 17.0)),
        "poi_start": ((1.0, 1.0), (1.0, 18.0)),
    }
    return Rover(**(fixed | options))
