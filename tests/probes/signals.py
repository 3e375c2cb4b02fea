"""A world of PettingZoo's whose agents differ, choose and leave, whose optimum is known, and that misbehaves on demand.

It imports nothing of merlax: workers play it.
"""

import os
import signal
import time
from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import ParallelEnv


class Signals(ParallelEnv):
    """`switch` is paid 1 for choosing what it sees; `dial` is paid for turning to what it sees, and leaves early.

    Whoever does both well is paid 1 a step each: `best` in all.
    """

    metadata = {"name": "signals", "render_modes": ["rgb_array"]}  # noqa: RUF012
    possible_agents = ["switch", "dial"]  # noqa: RUF012

    def __init__(
        self, max_cycles: int = 4, leaves: int = 3, trouble: str = "", while_there: str = "", render_mode=None
    ):
        self.max_cycles, self.leaves, self.render_mode = max_cycles, leaves, render_mode
        self.trouble, self.while_there = trouble, while_there
        self.agents = []
        self._obs = {"switch": spaces.Box(0, 1, (3,)), "dial": spaces.Box(-1, 1, (1, 1))}
        self._act = {"switch": spaces.Discrete(3, start=1), "dial": spaces.Box(np.float32(0), np.float32(10), (1,))}
        if trouble == "spaces":
            self._act["dial"] = spaces.MultiDiscrete([2, 2])

    def observation_space(self, agent):
        return self._obs[agent]

    def action_space(self, agent):
        return self._act[agent]

    def reset(self, seed=None, options=None):
        self._draws = np.random.default_rng(None if self.trouble == "random" else seed)
        self.agents, self._time = list(self.possible_agents), 0
        return self._look(), {agent: {} for agent in self.agents}

    def _look(self):
        self._wanted, self._angle = int(self._draws.integers(3)), float(self._draws.uniform(-1, 1))
        return {"switch": np.eye(3)[self._wanted], "dial": np.array([[self._angle]])}

    def step(self, actions):
        self._misbehave()
        self._time += 1
        live, over = self.agents, self._time >= self.max_cycles
        paid: dict[str, Any] = {"switch": float(actions["switch"] - 1 == self._wanted)}
        if "dial" in live:
            paid["dial"] = 1.0 - abs(float(actions["dial"][0]) / 5.0 - 1.0 - self._angle)
        if self.trouble == "words":
            paid["switch"] = "plenty"
        left = {agent: agent == "dial" and self._time >= self.leaves for agent in live}
        obs = {agent: seen for agent, seen in self._look().items() if agent in live}
        infos = {agent: {"right": paid["switch"] == 1.0} for agent in live if agent == "switch"}
        self.agents = [] if over else [agent for agent in live if not left[agent]]
        return obs, paid, left, dict.fromkeys(live, over), infos

    def _misbehave(self):
        if self.while_there and not os.path.exists(self.while_there):
            return
        if self.trouble == "crash":
            raise ValueError("a broken wire")
        if self.trouble == "hang":
            time.sleep(1000)
        if self.trouble == "kill":
            os.kill(os.getpid(), signal.SIGKILL)

    def render(self):
        shade = 255 if self.agents else 0
        return np.full((20, 30, 3), shade, np.uint8)

    def close(self):
        pass


def make(**options):
    """The world, as a user's own factory."""
    return Signals(**options)
