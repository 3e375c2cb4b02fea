"""Multiwalker whose infos say how far the package came: `pettingzoo:package_progress:make --env.team progress`."""

from __future__ import annotations

from typing import Any

from pettingzoo.sisl import multiwalker_v9
from pettingzoo.utils.wrappers import BaseParallelWrapper


class Progress(BaseParallelWrapper):
    """Every walker's info has its share of the package's way, so that the team's sum is the way."""

    def reset(self, seed: int | None = None, options: dict | None = None) -> Any:
        obs, infos = self.env.reset(seed=seed, options=options)
        self.before = self.place()
        return obs, infos

    def step(self, actions: dict) -> Any:
        live = len(self.env.agents)
        obs, rewards, terminations, truncations, infos = self.env.step(actions)
        came, self.before = self.place() - self.before, self.place()
        told = {agent: {**infos[agent], "progress": came / live} for agent in infos}
        return obs, rewards, terminations, truncations, told

    def place(self) -> float:
        inner: Any = self.env.unwrapped
        return inner.env.package.position.x


def make(
    n_walkers: int = 3, max_cycles: int = 500, shared_reward: bool = False, render_mode: str | None = None
) -> Progress:
    """Multiwalker with its own reward for each walker."""
    options = {"n_walkers": n_walkers, "max_cycles": max_cycles, "shared_reward": shared_reward}
    return Progress(multiwalker_v9.parallel_env(**options, render_mode=render_mode))
