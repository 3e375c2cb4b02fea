"""A mutation operator of your own: only the heads change, so that what all agents share stays as it was."""

import dataclasses
import sys

import equinox as eqx
import jax
from jax.flatten_util import ravel_pytree

import merlax


@dataclasses.dataclass(frozen=True)
class HeadMutation:
    """Gaussian noise on the heads of a team."""

    strength: float = 0.05

    def __call__(self, key, genome):
        heads, unravel = ravel_pytree(genome.heads)
        noise = self.strength * jax.random.normal(key, heads.shape)
        return eqx.tree_at(lambda team: team.heads, genome, unravel(heads + noise))


if __name__ == "__main__":
    frames = int(sys.argv[1]) if len(sys.argv) > 1 else 500_000
    ea = dataclasses.replace(merlax.preset("fast", "rover-1", "ea"), mutation=HeadMutation(strength=0.1))
    print(merlax.evaluate(merlax.train("rover-1", ea, frames=frames)))
