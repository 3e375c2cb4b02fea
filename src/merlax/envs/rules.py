"""Hand rules: what the agents of a side can do without learning. They are opponents, and yardsticks for a team."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol, runtime_checkable

import jax.numpy as jnp

from merlax.envs.base import Env, Obs, State
from merlax.types import UserError, suggest

SCRIPTED = "scripted"  # the rule of a side, if it has one
STILL = "still"  # nobody does anything: every world has it


@dataclasses.dataclass(frozen=True)
class Rule:
    """What all agents of a side do, at one instant of one world, and what it is that decides it.

    Examples:
        >>> rule = merlax.Rule(lambda obs: jnp.sign(obs[:, :1]), "each away from 0")
        >>> rule(None, jnp.array([[0.3], [-0.2]])).tolist()
        [[1.0], [-1.0]]
    """

    act: Callable[[Any], Any]
    """From the agents' observations (as rows), or from the world's state, to what `step` takes of this side."""
    says: str
    """The rule in words, without a full stop."""
    sees: Literal["observations", "state"] = "observations"
    """What `act` is called with: a rule that sees the state knows more than a team that learns."""
    drawn: bool = True
    """Whether figures show its score as a line."""

    def __call__(self, state: State, obs: Obs) -> Any:
        return self.act(obs if self.sees == "observations" else state)


@runtime_checkable
class Ruled(Protocol):
    """A world that knows simple rules for its sides."""

    def rules(self, side: int) -> Mapping[str, Rule]:
        """The rules of a side by name, SCRIPTED first; none if there is none."""
        ...


def of(env: Env, side: int) -> dict[str, Rule]:
    """All rules of a side by name: the world's own and, at the end, STILL."""
    own_side = env.sides[side]
    zeros = (own_side.num_agents, own_side.act_size)
    still = Rule(lambda obs: own_side.actions(jnp.zeros(zeros)), "all actions are 0")
    own = dict(env.rules(side)) if isinstance(env, Ruled) else {}
    return own if STILL in own else own | {STILL: still}


def drawn(env: Env) -> list[str]:
    """The names of the team's rules that figures show."""
    return [name for name, rule in of(env, 0).items() if rule.drawn and name != STILL]


def check(env: Env, name: str, side: int = 0) -> None:
    """Refuse a rule that a world does not have for its team, or for its opponent."""
    known, whose = list(of(env, side)), ("team", "opponent")[side]
    if name not in known:
        also = "" if side == 0 else ", or name a run folder"
        raise UserError(
            f"This world has no rule '{name}' for its {whose}{suggest(name, known)}; "
            f"choose from {', '.join(known)}{also}."
        )
