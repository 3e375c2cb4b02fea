"""Who moves the agents of a side: a policy that sees what they see, or a rule of the world's own."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import equinox as eqx

from merlax.core.networks import TeamPolicy
from merlax.envs import base
from merlax.envs.base import Action, Env, Obs, State


@runtime_checkable
class Player(Protocol):
    """A pytree, so that a compiled program can take it."""

    def act(self, env: Env, state: State, obs: Obs) -> Action:
        """What the agents of its side do now, in [-1, 1]."""
        ...


class PolicyPlayer(eqx.Module):
    """Follows a policy, whatever the state."""

    policy: TeamPolicy

    def act(self, env: Env, state: State, obs: Obs) -> Action:
        del env, state
        return self.policy(obs)


class ScriptedPlayer(eqx.Module):
    """Follows the world's own simple rule for a side."""

    side: int = eqx.field(static=True)

    def act(self, env: Env, state: State, obs: Obs) -> Action:
        del obs
        assert isinstance(env, base.Scripted), "the setup refuses a world without a rule"
        return env.script(state, self.side)
