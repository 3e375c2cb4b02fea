"""The rover domain: rovers must meet at points of interest (POIs) to observe them (paper, §5)."""

from __future__ import annotations

import dataclasses
import math
from typing import Annotated, Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from merlax.config import Checked, Count, Few, Positive, Range
from merlax.envs import drawing, loops, rover_diagnosis, rover_rules
from merlax.envs.base import Action, Flag, Obs, Side
from merlax.envs.diagnosis import History, Measure
from merlax.envs.drawing import Circles, Drawing, Labels, Points, Sectors
from merlax.envs.rules import SCRIPTED, STILL, Rule
from merlax.types import Key, Reward, UserError, shown

Point = tuple[float, float]

PINNED_SPEED = 0.5
TINY_DISTANCE = 0.001  # a target at distance 0 is read as this far away
EMPTY = -1.0  # the intensity of a sector without a target


class RoverState(eqx.Module):
    """One world at one instant. Batch with `jax.vmap`, never with extra axes."""

    position: Float[Array, "agent 2"]
    speed: Float[Array, " agent"]
    turn: Float[Array, " agent"]  # heading / 180°, never wrapped
    poi: Float[Array, "poi 2"]
    observed: Bool[Array, " poi"]
    time: Int[Array, ""]


@dataclasses.dataclass(frozen=True)
class Rover(Checked):
    """The rover domain. A POI is observed once `coupling` rovers are within `observation_distance`.

    Examples:
        >>> env = merlax.Rover(num_agents=12, coupling=4, num_poi=6)
        >>> obs, state = env.reset(jax.random.key(0))
        >>> obs.shape, state.poi.shape
        ((12, 76), (6, 2))
    """

    num_agents: Few = 6
    """Rovers (N)."""
    num_poi: Few = 4
    """Points of interest (K)."""
    coupling: Few = 3
    """Rovers that must be near a POI at the same time to observe it (n)."""
    side: Annotated[int, Range(9, 1_000_000)] = 20  # in a smaller square no place is left for POIs
    """Side of the square in which rovers and POIs start."""
    horizon: Count = 50
    """Steps of an episode."""
    observation_distance: Positive = 3.0
    """How near a rover must be to a POI to count."""
    sectors: Annotated[int, Range(1, 3600)] = 36
    """Sensor sectors around a rover, for each of its two channels."""
    speed: Literal["free", "pinned"] = "free"
    """free: the first action accelerates; pinned: 0.5 always, as very likely in the published runs."""
    encoding: Literal["clean", "published"] = "clean"
    """Observation as published, or the same numbers, each rescaled on its own so that a network can read them."""
    rover_start: tuple[Point, ...] | None = None
    """Fixed instead of random positions of the rovers."""
    poi_start: tuple[Point, ...] | None = None
    """Fixed instead of random positions of the POIs."""

    def check(self) -> None:
        if self.coupling > self.num_agents:
            raise UserError(
                f"coupling is {self.coupling} but there are only {self.num_agents} rovers, so no POI could ever "
                "be observed; lower coupling or raise num_agents."
            )
        for name, size in (("rover_start", self.num_agents), ("poi_start", self.num_poi)):
            points = getattr(self, name)
            if points is not None and len(points) != size:
                raise UserError(f"{name} must hold {size} points (x, y), one for each; it is {shown(points)}.")

    @property
    def start(self) -> tuple[Point, ...] | None:
        """Where the rovers start, if that is fixed."""
        return self.rover_start

    @property
    def sides(self) -> tuple[Side]:
        heading = 2 if self.encoding == "clean" else 1
        return (Side.equal(self.num_agents, obs_size=1 + 2 * self.sectors + 1 + heading, act_size=2),)

    def reset(self, key: Key) -> tuple[Float[Array, "agent obs"], RoverState]:
        key_rovers, key_poi = jax.random.split(key)
        state = RoverState(
            position=_fixed(self.start) if self.start else self._scatter_rovers(key_rovers),
            speed=jnp.zeros(self.num_agents),
            turn=jnp.zeros(self.num_agents),
            poi=_fixed(self.poi_start) if self.poi_start else self._scatter_poi(key_poi),
            observed=jnp.zeros(self.num_poi, bool),
            time=jnp.zeros((), jnp.int32),
        )
        return self._observe(state, _offsets(state.position, state.poi)), state

    def step(
        self, key: Key, state: RoverState, action: Float[Array, "agent act"]
    ) -> tuple[Float[Array, "agent obs"], RoverState, Reward, Flag, Flag, dict[str, Array]]:
        """The order matters: what this step's visits observe counts from the next step on."""
        del key  # the rover domain is deterministic after its reset
        state = self._move(state, jnp.clip(action, -1.0, 1.0))
        to_poi = _offsets(state.position, state.poi)
        distance = jnp.sqrt(jnp.sum(to_poi**2, axis=-1))
        terminated = jnp.all(state.observed)
        truncated = state.time >= self.horizon
        share = jnp.mean(state.observed.astype(jnp.float32))
        reward = Reward(
            team=jnp.where(terminated | truncated, share, 0.0),
            agent=self._agent_reward(distance, state.observed),
        )
        obs = self._observe(state, to_poi)
        visitors = jnp.sum(distance <= self.observation_distance, axis=0)
        observed = state.observed | (visitors >= self.coupling)
        state = eqx.tree_at(lambda s: s.observed, state, observed)
        return obs, state, reward, terminated, truncated, {"observed": observed}

    def rules(self, side: int) -> dict[str, Rule]:
        """The greedy rule, what two coordinated halves do, and nobody moving (at pinned speed: straight on)."""
        del side  # there is only the team
        return {
            SCRIPTED: Rule(_to_nearest, "each rover to the nearest unobserved POI", "state"),
            "halves": Rule(self._in_halves, "two halves of the team, each together to a POI of its own", "state"),
            "sighted": Rule(self._to_nearest_seen, "each rover to the nearest POI that it sees", drawn=False),
            STILL: Rule(_stay, "nobody accelerates or turns"),
        }

    def diagnose(self, history: History) -> tuple[Measure, ...]:
        """Who waits where at the end of an episode, how it ended, and how straight the ways were."""
        return rover_diagnosis.measures(history, self.coupling, self.observation_distance)

    def _to_nearest_seen(self, obs: Obs) -> Action:
        return rover_rules.to_nearest_seen(obs, self.sectors, self.encoding)

    def _in_halves(self, state: RoverState) -> Action:
        return rover_rules.in_halves(state.position, state.turn, state.poi, state.observed, self.coupling)

    def draw(self, states: Any) -> Drawing:
        """Rovers with trails, and POIs that turn gold once they count: a visit counts from the next step on."""
        counted = np.concatenate([states.observed[:1], states.observed[:-1]])
        apart = np.linalg.norm(states.position[:, :, None] - states.poi[:, None], axis=-1)
        visitors = np.sum(apart <= self.observation_distance, axis=1)
        number = counted.sum(axis=1)
        pinned = ", pinned speed" if self.speed == "pinned" else ""
        reach: dict[str, Any] = {
            "position": states.poi,
            "radius": self.observation_distance,
            "lit": counted,
            "style": "dashed",
        }
        power = 1.0 if self.encoding == "clean" else 0.5
        return Drawing(
            marks=(
                Circles(name="reach", color=drawing.FAINT, **reach),
                Points(position=states.poi, name="POI", color=drawing.INK, lit=counted, lit_name="observed POI"),
                Labels(position=states.poi, text=[[f"{v}/{self.coupling}" for v in row] for row in visitors]),
                Points(position=states.position, name="rover", heading=math.pi * states.turn, side=0, trail=True),
            ),
            title=f"{self.num_agents} rovers, {self.num_poi} POIs, coupling {self.coupling}{pinned}",
            score=number / self.num_poi,
            caption=[f"{n} of {self.num_poi} POIs observed" for n in number],
            box=((0.0, 0.0), (float(self.side), float(self.side))),
            sectors=(
                Sectors(name="rovers", first=1, count=self.sectors, color=drawing.GREY, power=power),
                Sectors(name="POIs", first=1 + self.sectors, count=self.sectors, color=drawing.GOLD, power=power),
            ),
        )

    def _move(self, state: RoverState, action: Float[Array, "agent act"]) -> RoverState:
        turn = state.turn + action[:, 1] / 2
        if self.speed == "free":
            speed = jnp.clip(state.speed + (action[:, 0] + 1) / 2, 0.0, 1.0)
        else:
            speed = jnp.full_like(state.speed, PINNED_SPEED)
        heading = math.pi * turn
        velocity = speed[:, None] * jnp.stack([jnp.cos(heading), jnp.sin(heading)], axis=-1)
        return RoverState(
            position=state.position + velocity,
            speed=speed,
            turn=turn,
            poi=state.poi,
            observed=state.observed,
            time=state.time + 1,
        )

    def _agent_reward(
        self, distance: Float[Array, "agent poi"], observed: Bool[Array, " poi"]
    ) -> Float[Array, " agent"]:
        """Nearness of the closest POI that is not observed yet: at most 1, and 1 within reach of it."""
        nearest = jnp.min(jnp.where(observed, jnp.inf, distance), axis=1)
        farthest = 2.0 * self.side
        return jnp.minimum(1.0, self.observation_distance / jnp.minimum(farthest, nearest))

    def _observe(self, state: RoverState, to_poi: Float[Array, "agent poi 2"]) -> Float[Array, "agent obs"]:
        to_rovers = _offsets(state.position, state.position)
        others = ~jnp.eye(self.num_agents, dtype=bool)
        unobserved = jnp.broadcast_to(~state.observed, (self.num_agents, self.num_poi))
        rovers = sense(to_rovers, others, self.sectors)
        poi = sense(to_poi, unobserved, self.sectors)
        index = jnp.arange(self.num_agents, dtype=jnp.float32)[:, None]
        speed, turn = state.speed[:, None], state.turn[:, None]
        if self.encoding == "published":
            return jnp.concatenate([index, rovers, poi, speed, turn], axis=1)
        heading = math.pi * turn
        return jnp.concatenate(
            [index / self.num_agents, nearness(rovers), nearness(poi), speed, jnp.sin(heading), jnp.cos(heading)],
            axis=1,
        )

    def _scatter_rovers(self, key: Key) -> Float[Array, "agent 2"]:
        middle, spread = self.side // 2, _spread(self.side)
        return _integer(jax.random.uniform(key, (self.num_agents, 2)), middle - spread, middle + spread)

    def _scatter_poi(self, key: Key) -> Float[Array, "poi 2"]:
        """POIs take turns: left of the rovers' square, right of it, below or above it."""
        u, v, half = jax.random.uniform(key, (3, self.num_poi))  # one draw: random programs compile slowly
        first, last = _free_square(self.side)
        turn, end = jnp.arange(self.num_poi) % 3, self.side - 1
        below, above = _integer(u, 0, first - 1), _integer(u, last + 1, end)
        x = jnp.select([turn == 0, turn == 1], [below, above], _integer(v, first, last))
        y = jnp.where(turn == 2, jnp.where(half < 0.5, below, above), _integer(v, 0, end))
        return jnp.stack([x, y], axis=1)


def sense(
    offset: Float[Array, "agent target 2"], visible: Bool[Array, "agent target"], sectors: int
) -> Float[Array, "agent sector"]:
    """The strongest intensity, 1 / d², in each sector around an agent; -1 in an empty one."""
    dx, dy = offset[..., 0], offset[..., 1]
    squared = dx**2 + dy**2
    intensity = 1.0 / jnp.where(squared == 0.0, TINY_DISTANCE**2, squared)
    intensity = jnp.where(visible, intensity, EMPTY)
    degrees = jnp.mod(jnp.degrees(jnp.arctan2(dx, dy)), 360.0)
    # An angle a hair below zero is rounded to 360° itself: hence the cap.
    sector = jnp.minimum(sectors - 1, jnp.floor(degrees * (sectors / 360.0))).astype(jnp.int32)
    # One fused pass per target: no [agent, target, sector] intermediate.
    numbers = jnp.arange(sectors)[None]

    def sense_one(target: Any, channel: Float[Array, "agent sector"]) -> Float[Array, "agent sector"]:
        hit = sector[:, target, None] == numbers
        return jnp.where(hit, jnp.maximum(channel, intensity[:, target, None]), channel)

    return loops.repeat(offset.shape[1], sense_one, jnp.full((offset.shape[0], sectors), EMPTY))


def nearness(intensity: Float[Array, "agent sector"]) -> Float[Array, "agent sector"]:
    """The `clean` encoding of 1 / d²: 1 / (1 + d / 5), which is 1 at no distance, and 0 if empty."""
    distance = jax.lax.rsqrt(jnp.maximum(intensity, 1e-9))
    return jnp.where(intensity > 0.0, 1.0 / (1.0 + 0.2 * distance), 0.0)


def _to_nearest(state: RoverState) -> Action:
    return rover_rules.to_nearest(state.position, state.turn, state.poi, state.observed)


def _stay(obs: Obs) -> Action:
    return jnp.broadcast_to(jnp.array([-1.0, 0.0]), (obs.shape[0], 2))


def _offsets(origin: Float[Array, "agent 2"], target: Float[Array, "target 2"]) -> Float[Array, "agent target 2"]:
    return target[None, :, :] - origin[:, None, :]


def _integer(uniform: Float[Array, "*n"], first: int, last: int) -> Float[Array, "*n"]:
    """A whole number from first to last, both included, from a number in [0, 1)."""
    return first + jnp.floor(uniform * (last - first + 1))


def _fixed(points: tuple[Point, ...]) -> Float[Array, "point 2"]:
    return jnp.asarray(points, jnp.float32)


def _spread(side: int) -> int:
    """Rovers start at most this far from the middle, along each axis."""
    return math.floor(side / (2 * math.sqrt(10)))


def _free_square(side: int) -> tuple[int, int]:
    """The first and the last coordinate of the square around the start that stays free of POIs."""
    middle, margin = (side - 1) // 2, _spread(side) + 2
    return middle - margin, middle + margin
