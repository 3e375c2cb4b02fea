"""An algorithm of your own: random search around the best team so far, on merlax's rollouts.

merlax train rover-1 --algorithm own_algorithm:RandomSearch --teams 30
"""

import dataclasses

import jax
import jax.numpy as jnp

import merlax
from merlax.core import rollout
from merlax.core.evolution import fitness


@dataclasses.dataclass(frozen=True)
class RandomSearch(merlax.Algorithm):
    """Each generation plays some neighbours of the best team; the state is those teams, the best one first."""

    teams: int = 20
    step: float = 0.1

    def start(self, key, seat):
        team = merlax.TeamPolicy(key, seat.side, hidden=(32,))
        return jax.tree.map(lambda leaf: jnp.repeat(leaf[None], self.teams, axis=0), team)

    def play(self, key, players, field):
        keys = fitness.instances(key, self.teams, 10, same=True)
        return (rollout.play_population(keys, field, players, keep=False),)

    def learn(self, key, state, rollouts, seat):
        scores = rollouts[0].episode.fitness.mean(axis=1)
        best = jax.tree.map(lambda leaf: leaf[jnp.nanargmax(scores)], state)
        search = merlax.GaussianMutation(fraction=1.0, strength=self.step, super_probability=0, reset_probability=0)
        others = jax.vmap(search, in_axes=(0, None))(jax.random.split(key, self.teams - 1), best)
        teams = jax.tree.map(lambda one, rest: jnp.concatenate([one[None], rest]), best, others)
        return teams, fitness.describe(scores)

    def champion(self, state):
        return jax.tree.map(lambda leaf: leaf[0], state)
