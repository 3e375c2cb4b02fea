"""Team policies and critics. Leading axes of the input are batch axes: one matmul serves them all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from merlax.types import Key

Initialiser = Callable[..., Array]  # (key, shape) -> weights

# FACTS §4: how the authors' code initialises the population, and the learner with its critics.
xavier: Initialiser = jax.nn.initializers.variance_scaling(0.25, "fan_avg", "uniform")  # gain 0.5
kaiming: Initialiser = jax.nn.initializers.he_uniform()
POPULATION_BIAS, LEARNER_BIAS = 0.0, 0.01


class Linear(eqx.Module):
    """`x @ weight + bias`. Unlike `eqx.nn.Linear` it takes a batch, as one large matmul."""

    weight: Float[Array, "inputs outputs"]
    bias: Float[Array, " outputs"]

    def __init__(self, key: Key, inputs: int, outputs: int, init: Initialiser, bias: float):
        self.weight = init(key, (inputs, outputs))
        self.bias = jnp.full((outputs,), bias, jnp.float32)

    def __call__(self, x: Float[Array, "row inputs"]) -> Float[Array, "row outputs"]:
        return x @ self.weight + self.bias[None]


class TeamPolicy(eqx.Module):
    """One network for the whole team: a shared trunk and one head per agent (paper, Figure 2)."""

    trunk: tuple[Linear, ...]
    heads: Linear  # all heads side by side: outputs are (agent, act), flattened
    num_agents: int = eqx.field(static=True)

    def __init__(
        self,
        key: Key,
        num_agents: int,
        obs_size: int,
        act_size: int,
        hidden: Sequence[int],
        init: Initialiser = xavier,
        bias: float = POPULATION_BIAS,
    ):
        *keys_trunk, key_heads = jax.random.split(key, len(hidden) + 1)
        sizes = [obs_size, *hidden]
        self.trunk = tuple(Linear(k, i, o, init, bias) for k, (i, o) in zip(keys_trunk, pairwise(sizes), strict=True))
        # Each head is initialised as a layer of its own, so the scale does not depend on the team's size.
        keys_heads = jax.random.split(key_heads, num_agents)
        heads = jax.vmap(lambda k: Linear(k, sizes[-1], act_size, init, bias), out_axes=-2)(keys_heads)
        self.heads = jax.tree.map(lambda leaf: leaf.reshape(*leaf.shape[:-2], -1), heads)
        self.num_agents = num_agents

    def __call__(self, obs: Float[Array, "*batch agent obs"]) -> Float[Array, "*batch agent act"]:
        """Every agent's action, each from its own head, in [-1, 1]."""
        return jnp.tanh(self.preactivation(obs))

    def preactivation(self, obs: Float[Array, "*batch agent obs"]) -> Float[Array, "*batch agent act"]:
        """The actions before the final tanh."""
        rows = _rows(obs)
        agents = jnp.tile(jnp.arange(self.num_agents), rows.shape[0] // self.num_agents)
        return self.finish(rows @ self.obs_weight, agents).reshape(*obs.shape[:-1], -1)

    @property
    def obs_weight(self) -> Float[Array, "obs hidden"]:
        """The weights of the first layer."""
        return self.trunk[0].weight

    def finish(self, on_obs: Float[Array, "row hidden"], agents: Int[Array, " row"]) -> Float[Array, "row act"]:
        """The pre-activations from `obs @ obs_weight`. All heads are computed, then each row's own is kept."""
        first, *others = self.trunk
        x = jnp.tanh(on_obs + first.bias[None])
        for layer in others:
            x = jnp.tanh(layer(x))
        every_head = self.heads(x).reshape(x.shape[0], self.num_agents, -1)
        own = jax.nn.one_hot(agents, self.num_agents, dtype=x.dtype)
        return jnp.sum(every_head * own[:, :, None], axis=1)


class Critic(eqx.Module):
    """The value of an action at an observation: Q(o, a)."""

    layers: tuple[Linear, ...]
    obs_size: int = eqx.field(static=True)

    def __init__(self, key: Key, obs_size: int, act_size: int, hidden: Sequence[int]):
        self.obs_size = obs_size
        sizes = [obs_size + act_size, *hidden, 1]
        keys = jax.random.split(key, len(sizes) - 1)
        self.layers = tuple(
            Linear(k, i, o, kaiming, LEARNER_BIAS) for k, (i, o) in zip(keys, pairwise(sizes), strict=True)
        )

    def __call__(self, obs: Float[Array, "*batch obs"], action: Float[Array, "*batch act"]) -> Float[Array, "*batch"]:
        return self.finish(_rows(obs) @ self.obs_weight, _rows(action)).reshape(obs.shape[:-1])

    @property
    def obs_weight(self) -> Float[Array, "obs hidden"]:
        """The weights of the first layer that see the observation."""
        return self.layers[0].weight[: self.obs_size]

    def finish(self, on_obs: Float[Array, "row hidden"], action: Float[Array, "row act"]) -> Float[Array, " row"]:
        """The values from `obs @ obs_weight`."""
        first, *middle, last = self.layers
        x = jnp.tanh(on_obs + action @ first.weight[self.obs_size :] + first.bias[None])
        for layer in middle:
            x = jnp.tanh(layer(x))
        return last(x).squeeze(-1)


def first_layers(obs: Float[Array, "row obs"], *networks: TeamPolicy | Critic) -> list[Float[Array, "row hidden"]]:
    """`obs @ obs_weight` of several networks that see the same observations, as one wide matmul.

    Measured on two cores: the wider a matmul, the faster per operation.
    """
    weights = [network.obs_weight for network in networks]
    ends = list(accumulate(weight.shape[1] for weight in weights))[:-1]
    return jnp.split(obs @ jnp.concatenate(weights, axis=1), ends, axis=1)


def _rows(x: Float[Array, "*batch size"]) -> Float[Array, "row size"]:
    """All batch axes as one: the gradient of a matmul over several would cost a transposed copy."""
    return x.reshape(-1, x.shape[-1])
