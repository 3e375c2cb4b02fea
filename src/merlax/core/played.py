"""What episodes leave: records of them, and where they are played."""

from __future__ import annotations

from collections.abc import Iterable

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from merlax.core.players import Gallery, Player
from merlax.envs.base import Env, State
from merlax.types import Transition

FAULTS = ("an observation", "the team's reward", "an agent's reward")  # of a world that may not be finite


class Episode(eqx.Module):
    """What one episode paid; what happened after its end does not count."""

    fitness: Float[Array, "*batch"]  # sum of the team's reward; NaN if anything in the episode was not finite
    agent_reward: tuple[Float[Array, "*batch"], ...]  # by side: sum of its agents' mean reward
    frames: Int[Array, "*batch"]
    fault: Bool[Array, "*batch fault"]  # which of FAULTS happened


def num_frames(episodes: Iterable[Episode]) -> Int[Array, ""]:
    """The joint steps that were played."""
    return jnp.stack([each.frames.sum() for each in episodes]).sum()


class Rollout(eqx.Module):
    """Episodes, and the transitions of those sides that are to learn from them."""

    episode: Episode
    valid: Bool[Array, "*batch time"]  # not so after an episode's end
    transitions: tuple[Transition | None, ...]  # by side: [*batch, time, agent, ...], or nothing


class Field(eqx.Module):
    """Where a team plays: a world, and who is on its other sides."""

    env: Env = eqx.field(static=True)
    opponents: tuple[Player | Gallery, ...] = ()
    opponents_learn: bool = eqx.field(static=True, default=False)  # then their transitions are kept


class Trace(eqx.Module):
    """One episode as it can be drawn: the world at every instant, the first one included, and what led on."""

    states: State  # the world's state, with a leading time axis of horizon + 1
    steps: Int[Array, ""]  # how many steps were played; what follows them is not part of the episode
    score: Float[Array, ""]
    # By side, of every step: what its agents saw before it, did, and were paid. Nothing of what is too large.
    obs: tuple[Float[Array, "time _agent _obs"], ...] = ()
    action: tuple[Float[Array, "time _agent _act"], ...] = ()
    team_reward: tuple[Float[Array, " time"], ...] = ()
    agent_reward: tuple[Float[Array, "time _agent"], ...] = ()
