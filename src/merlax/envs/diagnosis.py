"""How a world tells where its teams fail: what it is asked, and what it answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from merlax.envs.base import State


class History(eqx.Module):
    """One episode of a team, from its first instant on; what follows its end does not belong to it.

    Args:
        states: The world's state, with a leading time axis of horizon + 1.
        actions: What each agent did, step by step.
        agent_reward: What each was paid.
        valid: Whether a step was played.

    Examples:
        >>> ones = jnp.ones((3, 2))
        >>> history = merlax.History(jnp.arange(4.0), ones[:, :, None], ones, jnp.array([True, True, False]))
        >>> int(history.steps), float(history.at(history.steps))
        (2, 2.0)
    """

    states: State  # the world's state, with a leading time axis of horizon + 1
    actions: Float[Array, "time agent act"]
    agent_reward: Float[Array, "time agent"]
    valid: Bool[Array, " time"]  # whether a step was played

    @property
    def steps(self) -> Int[Array, ""]:
        """How many steps were played."""
        return jnp.sum(self.valid)

    def at(self, time: Int[Array, ""]) -> State:
        """The state after so many steps, the first one after none."""
        return jax.tree.map(lambda leaf: leaf[time], self.states)


class Measure(eqx.Module):
    """One row of a diagnosis: a number for each class, averaged over everything that it applies to.

    Args:
        says: What is measured.
        classes: What the numbers belong to.
        value: A number for each class, NaN where it does not apply; other axes come first.
        percent: Whether the numbers are shares.

    Examples:
        >>> merlax.Measure("touches", ("agent 1", "agent 2"), jnp.array([3.0, 1.0])).classes
        ('agent 1', 'agent 2')
    """

    says: str = eqx.field(static=True)
    classes: tuple[str, ...] = eqx.field(static=True)
    value: Float[Array, "*each classes"]  # NaN where it does not apply
    percent: bool = eqx.field(static=True, default=False)


@runtime_checkable
class Diagnosed(Protocol):
    """A world that says what is worth knowing about its teams' episodes."""

    def diagnose(self, history: History) -> Sequence[Measure]:
        """The measures of one episode; pure, as `step` is."""
        ...


def shares(says: str, classes: Sequence[str], which: Int[Array, "*each"], counts: Bool[Array, "*each"]) -> Measure:
    """How many of those that count fall into each class, by its number."""
    hits = which[..., None] == jnp.arange(len(classes)).reshape((1,) * which.ndim + (-1,))
    value = jnp.where(counts[..., None], hits.astype(jnp.float32), jnp.nan)
    return Measure(says, tuple(classes), value, percent=True)


def over_time(says: str, value: Float[Array, " time"], instants: int = 6) -> Measure:
    """A number at some instants of an episode, the first and the last among them; NaN where it has ended."""
    last = value.shape[0] - 1
    times = sorted({round(last * part / (instants - 1)) for part in range(instants)})
    return Measure(says, tuple(f"step {time}" for time in times), value[jnp.array(times)])


def by_agent(says: str, value: Float[Array, "*each agent"], percent: bool = False) -> Measure:
    """A number for each agent."""
    return Measure(says, agents(value.shape[-1]), value, percent)


def agents(number: int) -> tuple[str, ...]:
    """What the agents of a team are called."""
    return tuple(f"agent {1 + agent}" for agent in range(number))
