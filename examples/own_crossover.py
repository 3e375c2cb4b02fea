"""A crossover of your own: whole agents change places. The child has its elite parent's trunk, and heads of both."""

import dataclasses
import sys

import equinox as eqx
import jax
import jax.numpy as jnp

import merlax


@dataclasses.dataclass(frozen=True)
class SwapHeads:
    """Each head comes from the second parent with this probability."""

    share: float = 0.5

    def __call__(self, key, first, second):
        swap = jax.random.bernoulli(key, self.share, (first.num_agents,))
        wide = jnp.repeat(swap, first.heads.bias.shape[0] // first.num_agents)  # heads lie side by side: (agent, act)
        heads = jax.tree.map(lambda a, b: jnp.where(jnp.broadcast_to(wide, a.shape), b, a), first.heads, second.heads)
        return eqx.tree_at(lambda team: team.heads, first, heads)


if __name__ == "__main__":
    frames = int(sys.argv[1]) if len(sys.argv) > 1 else 500_000
    ea = dataclasses.replace(merlax.preset("fast", "rover-1", "ea"), crossover=SwapHeads())
    print(merlax.evaluate(merlax.train("rover-1", ea, frames=frames)))
