"""Worlds for the reliability tests, registered under names: one that behaves, and some that do not."""

import dataclasses
from functools import partial

import jax.numpy as jnp

from merlax import envs
from tests.probes.rendezvous import Rendezvous

KINDS = ("observation", "team", "agent", "first-observation")


@dataclasses.dataclass(frozen=True)
class Misbehaving(Rendezvous):
    """Breaks in the second step: always, or only for teams whose first agent goes far to the right."""

    kind: str = "none"
    value: float = float("nan")
    picky: bool = False

    def reset(self, key):
        obs, state = super().reset(key)
        return (jnp.full_like(obs, self.value) if self.kind == "first-observation" else obs), state

    def step(self, key, state, action):
        obs, state, reward, terminated, truncated, info = super().step(key, state, action)
        breaks = state.time == 2
        if self.picky:
            breaks &= action[0, 0] > 0.2
        spoil = lambda kind, x: jnp.where(breaks & (self.kind == kind), self.value, x)  # noqa: E731
        reward = dataclasses.replace(reward, team=spoil("team", reward.team), agent=spoil("agent", reward.agent))
        return spoil("observation", obs), state, reward, terminated, truncated, info


def register() -> None:
    """Make them known to the command line."""
    envs.register("rendezvous", Rendezvous)
    for kind in KINDS:
        envs.register(f"broken-{kind}", partial(Misbehaving, kind=kind))
    envs.register("infinite-team", partial(Misbehaving, kind="team", value=float("inf")))
    envs.register("picky-team", partial(Misbehaving, kind="team", picky=True))
    envs.register("picky-observation", partial(Misbehaving, kind="observation", picky=True))
