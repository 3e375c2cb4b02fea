"""Team policies and critics. Leading axes of the input are batch axes: one matmul serves them all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

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
    """`x @ weight + bias`. Unlike `eqx.nn.Linear` it takes batches, as one large matmul."""

    weight: Float[Array, "inputs outputs"]
    bias: Float[Array, " outputs"]

    def __init__(self, key: Key, inputs: int, outputs: int, init: Initialiser, bias: float):
        self.weight = init(key, (inputs, outputs))
        self.bias = jnp.full((outputs,), bias, jnp.float32)

    def __call__(self, x: Float[Array, "*batch inputs"]) -> Float[Array, "*batch outputs"]:
        return x @ self.weight + _under(self.bias, x)


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
        """The actions before the final tanh. All heads are computed, then each agent's own is kept."""
        every_head = self._every_head(obs)  # [*batch, agent, head, act]
        own = jnp.eye(self.num_agents, dtype=every_head.dtype)[:, :, None]
        return jnp.sum(every_head * _under(own, every_head), axis=-2)

    def head(self, agent: Int[Array, ""], obs: Float[Array, "*batch obs"]) -> Float[Array, "*batch act"]:
        """The pre-activation of one agent's head, for observations of that agent alone."""
        return jnp.take(self._every_head(obs), agent, axis=-2)

    def _every_head(self, obs: Float[Array, "*batch obs"]) -> Float[Array, "*batch head act"]:
        x = obs
        for layer in self.trunk:
            x = jnp.tanh(layer(x))
        return self.heads(x).reshape(*x.shape[:-1], self.num_agents, -1)


class Critic(eqx.Module):
    """The value of an action at an observation: Q(o, a)."""

    layers: tuple[Linear, ...]

    def __init__(self, key: Key, obs_size: int, act_size: int, hidden: Sequence[int]):
        sizes = [obs_size + act_size, *hidden, 1]
        keys = jax.random.split(key, len(sizes) - 1)
        self.layers = tuple(
            Linear(k, i, o, kaiming, LEARNER_BIAS) for k, (i, o) in zip(keys, pairwise(sizes), strict=True)
        )

    def __call__(self, obs: Float[Array, "*batch obs"], action: Float[Array, "*batch act"]) -> Float[Array, "*batch"]:
        first, *middle, last = self.layers
        # The first layer on the pair (o, a), without a concatenated copy of it: measured, a tenth faster.
        on_obs, on_action = jnp.split(first.weight, [obs.shape[-1]])
        x = jnp.tanh(obs @ on_obs + action @ on_action + _under(first.bias, obs))
        for layer in middle:
            x = jnp.tanh(layer(x))
        return last(x).squeeze(-1)


def _under(x: Array, y: Array) -> Array:
    """`x` with leading axes of length 1, so that it broadcasts against `y` without an implicit change of rank."""
    return x.reshape((1,) * (y.ndim - x.ndim) + x.shape)
