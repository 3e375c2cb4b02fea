"""What the algorithms with a population share."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from merlax.core.networks import TeamPolicy
from merlax.envs.base import Env
from merlax.types import Key, Keys, Metrics


def random_teams(key: Key, env: Env, hidden: tuple[int, ...], number: int) -> TeamPolicy:
    """A population of new teams."""
    build = lambda key: TeamPolicy(key, env.num_agents, env.obs_size, env.act_size, hidden)  # noqa: E731
    return jax.vmap(build)(jax.random.split(key, number))


def fitness_keys(key: Key, teams: int, episodes: int, same_instances: bool) -> Keys:
    """The instances [pop, episode] that tell each team's fitness: the same for all, or each team's own."""
    if same_instances:
        return jnp.broadcast_to(jax.random.split(key, episodes), (teams, episodes))
    return jax.random.split(key, (teams, episodes))


def fitness_metrics(fitness: Float[Array, " pop"]) -> Metrics:
    """What is recorded of a population; a broken team has no fitness and is only counted."""
    return {
        "fitness": fitness,
        "best_fitness": jnp.nanmax(fitness),
        "mean_fitness": jnp.nanmean(fitness),
        "broken_teams": jnp.isnan(fitness).sum(),
    }
