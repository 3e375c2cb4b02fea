"""Who moves the agents of a side: a policy that sees what they see, or a rule of the world's own."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool

from merlax.core.networks import TeamPolicy
from merlax.envs import rules
from merlax.envs.base import Action, Env, Obs, State
from merlax.envs.rules import SCRIPTED, STILL


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


class Benched(eqx.Module):
    """Plays as another does, but some agents of the side do nothing, by the world's rule for that."""

    player: Player
    idle: Bool[Array, " agent"]
    side: int = eqx.field(static=True, default=0)

    def act(self, env: Env, state: State, obs: Obs) -> Action:
        still = rules.of(env, self.side)[STILL](state, obs)
        return jnp.where(self.idle[:, None], still, self.player.act(env, state, obs))


class ScriptedPlayer(eqx.Module):
    """Follows one of the world's own simple rules for a side."""

    side: int = eqx.field(static=True)
    rule: str = eqx.field(static=True, default=SCRIPTED)

    def act(self, env: Env, state: State, obs: Obs) -> Action:
        known = rules.of(env, self.side)
        assert self.rule in known, "the setup refuses a world without a rule"
        return known[self.rule](state, obs)
