"""The rover domain once more, in NumPy and double precision, written from its description (docs/worlds/rover.md) alone.

All arrays have a leading episode axis. The world never ends by itself: it says when it would.
"""

import dataclasses

import numpy as np

SECTORS = 36


@dataclasses.dataclass
class Step:
    """What one step shows and pays."""

    obs: dict[str, np.ndarray]  # by encoding
    team: np.ndarray
    agent: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray
    observed: np.ndarray


class RoverReference:
    """Rovers at `position` [episode, agent, 2] and POIs at `poi` [episode, poi, 2]."""

    def __init__(self, position, poi, *, coupling, side, horizon=50, r_obs=3.0, speed="free"):
        self.position = np.array(position, float)
        self.poi = np.array(poi, float)
        self.coupling, self.side, self.horizon, self.r_obs, self.variant = coupling, side, horizon, r_obs, speed
        self.speed = np.zeros(self.position.shape[:2])
        self.turn = np.zeros(self.position.shape[:2])
        self.observed = np.zeros(self.poi.shape[:2], bool)
        self.time = 0

    def step(self, action):
        action = np.clip(np.asarray(action, float), -1, 1)
        self.turn = self.turn + action[..., 1] / 2
        if self.variant == "free":
            self.speed = np.clip(self.speed + (action[..., 0] + 1) / 2, 0, 1)
        else:
            self.speed = np.full_like(self.speed, 0.5)
        theta = np.radians(180 * self.turn)
        self.position = self.position + self.speed[..., None] * np.stack([np.cos(theta), np.sin(theta)], axis=-1)
        self.time += 1

        terminated = np.asarray(self.observed.all(axis=1))
        truncated = np.full(terminated.shape, self.time >= self.horizon)
        team = np.where(terminated | truncated, self.observed.mean(axis=1), 0.0)
        obs = self.observe()
        agent = self.agent_reward()
        visitors = (self.distance() <= self.r_obs).sum(axis=1)
        self.observed = self.observed | (visitors >= self.coupling)
        return Step(obs, team, agent, terminated, truncated, self.observed)

    def distance(self):
        """[episode, agent, poi]"""
        return np.linalg.norm(offsets(self.position, self.poi), axis=-1)

    def agent_reward(self):
        unobserved = np.where(self.observed[:, None, :], np.inf, self.distance())
        return np.minimum(1, self.r_obs / np.minimum(2 * self.side, unobserved.min(axis=-1)))

    def observe(self):
        num_agents = self.position.shape[1]
        index = np.broadcast_to(np.arange(num_agents, dtype=float), self.speed.shape)
        rovers, poi = (channel(offset, seen) for offset, seen in self.targets())
        theta = np.radians(180 * self.turn)
        published = [index[..., None], rovers, poi, self.speed[..., None], self.turn[..., None]]
        clean = [index[..., None] / num_agents, nearness(rovers), nearness(poi), self.speed[..., None]]
        clean += [np.sin(theta)[..., None], np.cos(theta)[..., None]]
        return {"published": np.concatenate(published, axis=-1), "clean": np.concatenate(clean, axis=-1)}

    def targets(self):
        """Offsets and visibility [episode, agent, target] of the other rovers and of the POIs."""
        to_rovers, to_poi = offsets(self.position, self.position), offsets(self.position, self.poi)
        others = np.broadcast_to(~np.eye(self.position.shape[1], dtype=bool), to_rovers.shape[:-1])
        return (to_rovers, others), (to_poi, np.broadcast_to(~self.observed[:, None, :], to_poi.shape[:-1]))

    def uncertain(self, error):
        """The entries of the observation, common to both encodings, that an error of position could change.

        These are the two sectors on either side of a boundary, if a target lies within 0.001° of it, or within what the
        error makes of its angle. A target exactly on an axis is certain. [episode, agent, 1 + 2 * sectors]
        """
        num_episodes, num_agents, _ = self.position.shape
        masks = [np.zeros((num_episodes, num_agents, 1), bool)]
        for offset, seen in self.targets():
            distance = np.maximum(np.linalg.norm(offset, axis=-1), 1e-12)
            beyond = np.mod(degrees(offset), 10)
            doubt = np.minimum(beyond, 10 - beyond) < 1e-3 + np.degrees(error / distance)
            doubt &= seen & (offset != 0).all(axis=-1)
            boundary = np.rint(degrees(offset) / 10).astype(int)
            sides = np.stack([(boundary - 1) % SECTORS, boundary % SECTORS], axis=-1)
            hit = (sides[..., None] == np.arange(SECTORS)).any(axis=-2)
            masks.append((doubt[..., None] & hit).any(axis=-2))
        return np.concatenate(masks, axis=-1)


def poi_ranges(side, poi):
    """The first and the last x and y of a POI: one or two pairs of ranges, equally likely."""
    r = int(np.floor(side / (2 * np.sqrt(10))))
    c, q = (side - 1) // 2, r + 2
    low, high, middle, whole = (0, c - q - 1), (c + q + 1, side - 1), (c - q, c + q), (0, side - 1)
    return {0: [(low, whole)], 1: [(high, whole)], 2: [(middle, low), (middle, high)]}[poi % 3]


def rover_range(side):
    """The first and the last coordinate of a rover."""
    r = int(np.floor(side / (2 * np.sqrt(10))))
    return side // 2 - r, side // 2 + r


def scatter(rng, num_episodes, num_agents, num_poi, side):
    """Random positions and POIs of many worlds."""
    position = rng.integers(*rover_range(side), (num_episodes, num_agents, 2), endpoint=True)
    poi = np.zeros((num_episodes, num_poi, 2))
    for episode, i in np.ndindex(num_episodes, num_poi):
        ranges = poi_ranges(side, i)
        for axis, (first, last) in enumerate(ranges[rng.integers(len(ranges))]):
            poi[episode, i, axis] = rng.integers(first, last, endpoint=True)
    return position.astype(float), poi


def offsets(origin, target):
    return target[:, None, :, :] - origin[:, :, None, :]


def degrees(offset):
    """From the +y axis, clockwise."""
    return np.mod(np.degrees(np.arctan2(offset[..., 0], offset[..., 1])), 360)


def channel(offset, seen):
    """The strongest 1 / d² of each sector, -1 if it is empty. [episode, agent, sector]"""
    distance = np.linalg.norm(offset, axis=-1)
    intensity = 1 / np.where(distance == 0, 0.001, distance) ** 2
    sector = np.minimum(SECTORS - 1, np.floor(degrees(offset) / 10))
    hit = seen[..., None] & (sector[..., None] == np.arange(SECTORS))
    return np.where(hit, intensity[..., None], -1.0).max(axis=-2)


def nearness(intensity):
    """The clean encoding of an intensity: 1 / (1 + 0.2 d), 0 if there is none."""
    with np.errstate(invalid="ignore"):
        return np.where(intensity > 0, 1 / (1 + 0.2 / np.sqrt(intensity)), 0.0)


def head_for(world, target):
    """The action [episode, agent, 2] that turns as far as it may towards `target` [episode, agent, 2] at full speed."""
    dx, dy = np.moveaxis(target - world.position, -1, 0)
    turn = np.mod(np.arctan2(dy, dx) / np.pi - world.turn + 1, 2) - 1
    return np.stack([np.ones_like(turn), np.clip(2 * turn, -1, 1)], axis=-1)
