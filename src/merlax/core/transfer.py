"""A team's policy for another team: with more or fewer agents, where what they see and do has the same form."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from merlax.core.networks import TeamPolicy, untuned, with_heads
from merlax.envs.base import Box, Discrete, Side
from merlax.envs.spaces import Space
from merlax.types import UserError


def fit(policy: TeamPolicy, side: Side, what: str) -> TeamPolicy:
    """The policy for the agents of a side: each has the head of the agent in its place, and those beyond the last copy
    them in turn; where agents differ, among those of its own kind. `what` names the policy at the start of a sentence.
    """
    own = spaces(policy)
    if (own.kinds, own.masked) != (side.kinds, side.masked):
        raise UserError(
            f"{what} does not fit this world: its agents {_told(own)}, this world's {_told(side)}; "
            "choose a run on a world with the same sizes."
        )
    chosen = with_heads(policy, jnp.array(_sources(own, side)))
    hidden = tuple(layer.weight.shape[1] for layer in policy.trunk)

    def empty() -> TeamPolicy:
        team = TeamPolicy(jax.random.key(0), side, hidden)
        return team if policy.gain is None else untuned(team)

    return jax.tree.unflatten(jax.tree.structure(jax.eval_shape(empty)), jax.tree.leaves(chosen))


def spaces(policy: TeamPolicy) -> Side:
    """For whom a policy acts."""
    if policy.side is not None:
        return policy.side
    act_size = policy.heads.weight.shape[1] // policy.num_agents
    return Side.equal(policy.num_agents, policy.obs_weight.shape[0], act_size)


def _sources(own: Side, side: Side) -> list[int]:
    """Whose head every agent of a side gets."""
    alike = {kind: [agent for agent, other in enumerate(_kinds(own)) if other == kind] for kind in own.kinds}
    given = dict.fromkeys(alike, 0)
    sources = []
    for kind in _kinds(side):
        sources.append(alike[kind][given[kind] % len(alike[kind])])
        given[kind] += 1
    return sources


def _kinds(side: Side) -> list[tuple[Box, Space]]:
    return list(zip(side.obs, side.action, strict=True))


def _told(side: Side) -> str:
    """What agents see and do, in words."""
    kinds = " or ".join(f"see {obs.size} numbers and {_does(action)}" for obs, action in side.kinds[:3])
    more = " or …" if len(side.kinds) > 3 else ""
    return f"{kinds}{more}{', not all of it always legal' if side.masked else ''}"


def _does(space: Space) -> str:
    return f"choose one of {space.size}" if isinstance(space, Discrete) else f"act by {space.size}"
