"""The motivating example: two rovers, two POIs, and a greedy trap (paper, §3)."""

from __future__ import annotations

import dataclasses
import math
from typing import Annotated, Any, Literal

from merlax.config import Count, Few, Positive, Range
from merlax.envs.rover import Point, Rover
from merlax.types import UserError

_ROVERS: tuple[Point, ...] = ((9.0, 10.0), (14.0, 17.0))


@dataclasses.dataclass(frozen=True)
class TwoRovers(Rover):
    """Rover 1 reaches either POI, rover 2 only the second: going for the nearest one halves the score.

    Two knobs make it harder: with a smaller `observation_distance` nobody stumbles on a POI, and the larger `nearer`
    is, the more rover 1 is paid for going to the POI that rover 2 could have had.
    """

    num_agents: Few = 2
    num_poi: Few = 2
    coupling: Few = 1
    horizon: Count = 30
    observation_distance: Positive = 2.0
    speed: Literal["free", "pinned"] = "pinned"
    rover_start: tuple[Point, ...] | None = _ROVERS
    poi_start: tuple[Point, ...] | None = ((1.0, 1.0), (1.0, 18.0))
    nearer: Annotated[float, Range(0.0, 5.0)] | None = None  # beyond 5, rover 1 cannot reach the farther one in time
    """How much nearer to rover 1 the second POI is than the first, which moves rover 1; by default about 0.73."""

    def check(self) -> None:
        super().check()
        if self.nearer is not None and (self.rover_start != _ROVERS or len(self.poi_start or ()) != 2):
            raise UserError("nearer moves rover 1 itself; leave out rover_start, and let there be two poi_start.")

    @property
    def start(self) -> tuple[Point, ...] | None:
        """With `nearer`, rover 1 is on the hyperbola of all points so much nearer to the second POI."""
        if self.nearer is None or self.rover_start is None or self.poi_start is None:
            return self.rover_start
        (x, _), *others = self.rover_start
        (left, low), (_, high) = self.poi_start
        half, focus = self.nearer / 2, (high - low) / 2
        up = half * math.sqrt(1 + (x - left) ** 2 / (focus**2 - half**2))
        return ((x, (low + high) / 2 + up), *others)


def two_rovers(**options: Any) -> TwoRovers:
    """Rover 1 reaches either POI, rover 2 only the second: going for the nearest one halves the score.

    Args:
        options: Fields of `merlax.Rover` that are to differ, or `nearer`: how much nearer to rover 1 the second POI is.

    Examples:
        >>> env = merlax.two_rovers(horizon=40)
        >>> env.num_agents, env.horizon, env.speed
        (2, 40, 'pinned')
    """
    return TwoRovers(**options)
