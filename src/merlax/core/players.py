"""Who moves the agents of a side: a policy that sees what they see, or a rule of the world's own."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import equinox as eqx
import jax.numpy as jnp

from merlax.core import actions
from merlax.core.networks import TeamPolicy
from merlax.envs import base
from merlax.envs.base import Action, Env, Obs, State


@runtime_checkable
class Player(Protocol):
    """A pytree, so that a compiled program can take it."""

    def act(self, env: Env, state: State, obs: Obs, noise: Action | None = None) -> Action:
        """What the agents of its side do now, as rows, perhaps with noise on it."""
        ...


class PolicyPlayer(eqx.Module):
    """Follows a policy, whatever the state."""

    policy: TeamPolicy

    def act(self, env: Env, state: State, obs: Obs, noise: Action | None = None) -> Action:
        del env, state
        return self.policy(obs, noise)


class ScriptedPlayer(eqx.Module):
    """Follows the world's own simple rule for a side."""

    side: int = eqx.field(static=True)

    def act(self, env: Env, state: State, obs: Obs, noise: Action | None = None) -> Action:
        assert isinstance(env, base.Scripted), "the setup refuses a world without a rule"
        action, side = base.script(env, state, self.side), env.sides[self.side]
        if noise is None:
            return action
        if side.plain:
            return jnp.clip(action + noise, -1.0, 1.0)
        return actions.settle(side, action + noise, obs, jnp.arange(side.num_agents))
