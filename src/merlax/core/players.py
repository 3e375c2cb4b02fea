"""Who moves the agents of a side: a policy that sees what they see, or a rule of the world's own."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int

from merlax.core import actions
from merlax.core.networks import TeamPolicy
from merlax.envs import rules
from merlax.envs.base import Action, Env, Obs, State
from merlax.envs.rules import SCRIPTED, STILL
from merlax.types import Key


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


class Gallery(eqx.Module):
    """A policy and earlier ones of the same side: the newest plays half of the episodes, one of the others the rest."""

    newest: TeamPolicy
    earlier: TeamPolicy  # [earlier, ...]

    def draw(self, key: Key) -> Int[Array, ""]:
        """Whose turn it is: the place of an earlier one, or a negative number for the newest."""
        number = jax.tree.leaves(self.earlier)[0].shape[0]
        return jax.random.randint(key, (), -number, number)

    def of_episode(self, key: Key) -> PolicyPlayer:
        """Who plays an episode."""
        place = self.draw(key)
        pick = lambda new, old: jnp.where(place < 0, new, old[place])  # noqa: E731
        return PolicyPlayer(jax.tree.map(pick, self.newest, self.earlier))


class Benched(eqx.Module):
    """Plays as another does, but some agents of the side do nothing, by the world's rule for that."""

    player: Player
    idle: Bool[Array, " agent"]
    side: int = eqx.field(static=True, default=0)

    def act(self, env: Env, state: State, obs: Obs, noise: Action | None = None) -> Action:
        still = _by_rule(env, self.side, STILL, state, obs)
        return jnp.where(self.idle[:, None], still, self.player.act(env, state, obs, noise))


class ScriptedPlayer(eqx.Module):
    """Follows one of the world's own simple rules for a side."""

    side: int = eqx.field(static=True)
    rule: str = eqx.field(static=True, default=SCRIPTED)

    def act(self, env: Env, state: State, obs: Obs, noise: Action | None = None) -> Action:
        return _by_rule(env, self.side, self.rule, state, obs, noise)


def _by_rule(env: Env, index: int, rule: str, state: State, obs: Obs, noise: Action | None = None) -> Action:
    """What a rule does, as rows, with noise perhaps; of choices only what is legal."""
    known, side = rules.of(env, index), env.sides[index]
    assert rule in known, "the setup refuses a world without a rule"
    action = side.action_rows(known[rule](state, obs))
    action = action if noise is None else action + noise
    if side.plain:
        return action if noise is None else jnp.clip(action, -1.0, 1.0)
    return actions.settle(side, action, obs, jnp.arange(side.num_agents))
