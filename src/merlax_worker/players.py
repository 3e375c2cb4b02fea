"""Who moves the agents of a side, in NumPy: a team's policy, or nobody."""

from __future__ import annotations

import dataclasses

import numpy as np

from merlax_worker.rows import Rows, Sizes, settle


@dataclasses.dataclass(frozen=True)
class Policy:
    """The weights of a `merlax.TeamPolicy`: a shared trunk and one head per agent."""

    trunk: tuple[tuple[np.ndarray, np.ndarray], ...]  # weight [input, output], bias
    heads: np.ndarray  # [agent, hidden, act]
    bias: np.ndarray  # [agent, act]
    gain: np.ndarray | None = None  # [agent, obs]: how strongly each agent heeds each input

    def outputs(self, obs: Rows) -> Rows:
        """What the heads say, in [-1, 1]."""
        x = obs
        if self.gain is not None:
            largest = np.maximum(np.abs(obs), 1.0)
            x = np.clip(obs * np.exp(self.gain), -largest, largest)
        for weight, bias in self.trunk:
            x = np.tanh(x @ weight + bias)
        return np.tanh((x[:, None, :] @ self.heads)[:, 0] + self.bias)


@dataclasses.dataclass(frozen=True)
class Player:
    """A policy; without one all actions are 0, as they are of whoever is idle."""

    policy: Policy | None = None
    idle: tuple[bool, ...] = ()

    def act(self, sizes: Sizes, obs: Rows, noise: Rows | None = None) -> Rows:
        """What the agents do, as rows."""
        still = np.zeros((len(sizes.agents), sizes.act_size), np.float32)
        still[list(sizes.chooses), 0] = 1.0
        if self.policy is None:
            return settle(sizes, still if noise is None else still + noise, obs)
        outputs = self.policy.outputs(obs)
        action = settle(sizes, outputs if noise is None else outputs + noise, obs)
        if not any(self.idle):
            return action
        return np.where(np.array(self.idle)[:, None], settle(sizes, still, obs), action)
