"""The few types that every room shares."""

from __future__ import annotations

import difflib
import reprlib
from collections.abc import Iterable
from typing import Any, TypeAlias

import equinox as eqx
import jaxtyping
from jaxtyping import Array, Bool, Float, PRNGKeyArray

Key: TypeAlias = PRNGKeyArray
Keys: TypeAlias = jaxtyping.Key[Array, "..."]  # a batch of them


class UserError(Exception):
    """A mistake of the caller's, explained in one sentence that says what to change.

    Examples:
        >>> merlax.make("rover-33")
        Traceback (most recent call last):
            ...
        merlax.types.UserError: There is no world 'rover-33' (did you mean 'rover-3'?); `merlax envs` lists them all.
    """


class Reward(eqx.Module):
    """What one joint step pays one side: the sparse reward of the team, and the dense reward of each agent.

    Attributes:
        team: One number; its sum over an episode is the team's fitness.
        agent: One number for each agent, which it learns from.

    Examples:
        >>> reward = merlax.Reward(team=jnp.zeros(()), agent=jnp.array([0.5, 1.0]))
        >>> reward.agent.shape
        (2,)
    """

    team: Float[Array, ""]
    agent: Float[Array, " agent"]


class Transition(eqx.Module):
    """What each agent's replay buffer keeps of one joint step (paper, Algorithm 2, line 12), with both rewards.

    What a learner is paid is its own affair, decided when it samples.
    """

    obs: Float[Array, "*batch agent obs"]
    action: Float[Array, "*batch agent act"]
    agent_reward: Float[Array, "*batch agent"]
    team_reward: Float[Array, "*batch agent"]  # the same for all agents of a step
    next_obs: Float[Array, "*batch agent obs"]
    terminated: Bool[Array, "*batch agent"]  # True: the target does not bootstrap
    present: Bool[Array, "*batch agent"] | None = None  # where agents leave early: who was there; zeros for the others


def suggest(name: str, known: Iterable[str]) -> str:
    """The half sentence "(did you mean 'x'?)" for a name that is nearly right, or nothing."""
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f" (did you mean '{near[0]}'?)" if near else ""


def shown(value: Any) -> str:
    """A value as Python writes it, for a sentence: of long ones the beginning and the end."""
    try:
        return _SHORT.repr(value)
    except ValueError:  # Python does not write whole numbers of more than some thousand digits
        return "a number with too many digits"


_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 80
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxdict = 6
_SHORT.maxlevel = 4
