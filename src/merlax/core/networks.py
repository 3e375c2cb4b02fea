"""Team policies and critics. Leading axes of the input are batch axes: one matmul serves them all."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from merlax.core import actions
from merlax.envs.base import Side
from merlax.types import Key

Initialiser = Callable[..., Array]  # (key, shape) -> weights

# How the authors' code initialises the population, and the learner with its critics (docs/open-values.md).
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
    """One network for the whole team: a shared trunk and one head per agent (paper, Figure 2).

    Args:
        key: Of its random weights.
        side: For whom it acts.
        hidden: Sizes of the trunk's layers.
        init: How weights are drawn.
        bias: What every bias begins with.

    Examples:
        >>> side = merlax.Side.equal(num_agents=3, obs_size=4, act_size=2)
        >>> team = merlax.TeamPolicy(jax.random.key(0), side, hidden=(16,))
        >>> team(jnp.zeros((3, 4))).shape
        (3, 2)
    """

    trunk: tuple[Linear, ...]
    heads: Linear  # all heads side by side: outputs are (agent, act), flattened
    num_agents: int = eqx.field(static=True)
    gain: Float[Array, "agent obs"] | None = None  # how strongly each agent heeds each input; nothing: all alike
    side: Side | None = eqx.field(static=True, default=None)  # its spaces, unless all agents act by as many numbers

    def __init__(
        self,
        key: Key,
        side: Side,
        hidden: Sequence[int],
        init: Initialiser = xavier,
        bias: float = POPULATION_BIAS,
    ):
        *keys_trunk, key_heads = jax.random.split(key, len(hidden) + 1)
        sizes = [side.obs_size, *hidden]
        self.trunk = tuple(Linear(k, i, o, init, bias) for k, (i, o) in zip(keys_trunk, pairwise(sizes), strict=True))
        # Each head is initialised as a layer of its own, so the scale does not depend on the team's size.
        keys_heads = jax.random.split(key_heads, side.num_agents)
        heads = jax.vmap(lambda k: Linear(k, sizes[-1], side.act_size, init, bias), out_axes=-2)(keys_heads)
        self.heads = jax.tree.map(lambda leaf: leaf.reshape(*leaf.shape[:-2], -1), heads)
        self.num_agents = side.num_agents
        self.gain = None
        self.side = None if side.plain else dataclasses.replace(side, leaving=False)

    def __call__(
        self, obs: Float[Array, "*batch agent obs"], noise: Float[Array, "*batch agent act"] | None = None
    ) -> Float[Array, "*batch agent act"]:
        """Every agent's action, each from its own head: numbers in [-1, 1], or a 1 at its choice."""
        outputs = jnp.tanh(self.preactivation(obs if self.gain is None else heed(obs, self.gain)))
        if self.side is None:
            return outputs if noise is None else jnp.clip(outputs + noise, -1.0, 1.0)
        return actions.settle(
            self.side, outputs if noise is None else outputs + noise, obs, jnp.arange(self.num_agents)
        )

    def preactivation(self, obs: Float[Array, "*batch agent obs"]) -> Float[Array, "*batch agent act"]:
        """The actions before the final tanh."""
        rows = _rows(obs)
        agents = jnp.tile(jnp.arange(self.num_agents), rows.shape[0] // self.num_agents)
        return self.complete(rows @ self.obs_weight, agents).reshape(*obs.shape[:-1], -1)

    @property
    def obs_weight(self) -> Float[Array, "obs hidden"]:
        """The weights of the first layer."""
        return self.trunk[0].weight

    def complete(self, on_obs: Float[Array, "row hidden"], agents: Int[Array, " row"]) -> Float[Array, "row act"]:
        """The pre-activations from `obs @ obs_weight`. All heads are computed, then each row's own is kept."""
        first, *others = self.trunk
        x = jnp.tanh(on_obs + first.bias[None])
        for layer in others:
            x = jnp.tanh(layer(x))
        every_head = self.heads(x).reshape(x.shape[0], self.num_agents, -1)
        own = jax.nn.one_hot(agents, self.num_agents, dtype=x.dtype)
        return jnp.sum(every_head * own[:, :, None], axis=1)


def heed(obs: Float[Array, "*batch agent obs"], gain: Float[Array, "agent obs"]) -> Float[Array, "*batch agent obs"]:
    """Every input times the exponential of its agent's gain, but never more than 1 because of it."""
    largest = jnp.maximum(jnp.abs(obs), 1.0)
    return jnp.clip(obs * jnp.exp(jnp.broadcast_to(gain, obs.shape)), -largest, largest)


def tuned(policy: TeamPolicy, gain: Float[Array, "agent obs"]) -> TeamPolicy:
    """The policy with these gains."""
    return eqx.tree_at(lambda p: p.gain, policy, gain, is_leaf=lambda x: x is None)


def with_heads(policy: TeamPolicy, of: Int[Array, " agent"]) -> TeamPolicy:
    """The policy in which every agent has the head, and the gains, of the agent that `of` names for it."""

    def exchange(leaf: Float[Array, "*layer outputs"]) -> Float[Array, "*layer chosen"]:
        heads = leaf.reshape(*leaf.shape[:-1], policy.num_agents, -1)
        return jnp.take(heads, of, axis=-2).reshape(*leaf.shape[:-1], -1)

    other = eqx.tree_at(lambda p: p.heads, policy, jax.tree.map(exchange, policy.heads))
    return other if policy.gain is None else tuned(other, policy.gain[of])


def without_gains(policy: TeamPolicy) -> TeamPolicy:
    """The policy as a genome that has no gains."""
    return eqx.tree_at(lambda p: p.gain, policy, None, is_leaf=lambda x: x is None)


def untuned(policy: TeamPolicy) -> TeamPolicy:
    """The same policy as a genome that has gains: it heeds every input as it is."""
    return tuned(policy, jnp.zeros((policy.num_agents, policy.obs_weight.shape[0])))


class Critic(eqx.Module):
    """The value of an agent's own action at its own observation: Q(o, a), one network for all agents."""

    layers: tuple[Linear, ...]
    obs_size: int = eqx.field(static=True)
    normalised: bool = eqx.field(static=True)  # every hidden layer, before a ReLU; else tanh

    def __init__(self, key: Key, side: Side, hidden: Sequence[int], normalised: bool = False):
        self.obs_size = side.obs_size
        self.normalised = normalised
        sizes = [side.obs_size + side.act_size, *hidden, 1]
        keys = jax.random.split(key, len(sizes) - 1)
        self.layers = tuple(
            Linear(k, i, o, kaiming, LEARNER_BIAS) for k, (i, o) in zip(keys, pairwise(sizes), strict=True)
        )

    def __call__(
        self, obs: Float[Array, "batch agent obs"], action: Float[Array, "batch agent act"]
    ) -> Float[Array, "batch agent"]:
        return self.complete(_rows(obs) @ self.obs_weight, action)

    @property
    def obs_weight(self) -> Float[Array, "obs hidden"]:
        """The weights of the first layer that see the observation."""
        return self.layers[0].weight[: self.obs_size]

    def complete(
        self, on_obs: Float[Array, "row hidden"], action: Float[Array, "batch agent act"]
    ) -> Float[Array, "batch agent"]:
        """The values from `obs @ obs_weight`."""
        first, *middle, last = self.layers
        x = _activate(on_obs + _rows(action) @ first.weight[self.obs_size :] + first.bias[None], self.normalised)
        for layer in middle:
            x = _activate(layer(x), self.normalised)
        return last(x).reshape(action.shape[:-1])

    def complete_with_own(
        self,
        on_obs: Float[Array, "row hidden"],
        action: Float[Array, "batch agent act"],
        own: Float[Array, "batch agent act"],
    ) -> Float[Array, "batch agent"]:
        """The values if each agent does `own` where all did `action`: here the others do not matter."""
        del action
        return self.complete(on_obs, own)


class JointCritic(eqx.Module):
    """One centralised critic per agent, each on the joint observations and actions (MADDPG, MATD3).

    All critics see the same input, so their first layers are one wide matmul; or they share one first layer, which
    is most of what they cost where agents are many.
    """

    on_obs: Float[Array, "joint_obs wide"]  # wide: (agent, hidden), flattened, or hidden alone
    on_action: Float[Array, "joint_act wide"]
    bias: Float[Array, " wide"]
    others: tuple[Linear, ...]  # [agent, ...]
    num_agents: int = eqx.field(static=True)
    shared: bool = eqx.field(static=True)  # the first layer
    normalised: bool = eqx.field(static=True)  # as in `Critic`

    def __init__(self, key: Key, side: Side, hidden: Sequence[int], *, shared: bool = False, normalised: bool = False):
        num_agents = side.num_agents
        joint_obs, joint = num_agents * side.obs_size, num_agents * (side.obs_size + side.act_size)
        key_first, *keys = jax.random.split(key, len(hidden) + 1)
        # As many critics as agents, each initialised as a network of its own.
        stack = lambda k, i, o, number=num_agents: jax.vmap(lambda k: Linear(k, i, o, kaiming, LEARNER_BIAS))(  # noqa: E731
            jax.random.split(k, number)
        )
        first = stack(key_first, joint, hidden[0], 1 if shared else num_agents)
        weight = jnp.moveaxis(first.weight, 0, 1).reshape(joint, -1)
        self.on_obs, self.on_action, self.bias = weight[:joint_obs], weight[joint_obs:], first.bias.reshape(-1)
        self.others = tuple(stack(k, i, o) for k, (i, o) in zip(keys, pairwise([*hidden, 1]), strict=True))
        self.num_agents = num_agents
        self.shared, self.normalised = shared, normalised

    def __call__(
        self, obs: Float[Array, "batch agent obs"], action: Float[Array, "batch agent act"]
    ) -> Float[Array, "batch agent"]:
        return self.complete(_joint(obs) @ self.obs_weight, action)

    @property
    def obs_weight(self) -> Float[Array, "joint_obs wide"]:
        """The weights of all first layers that see the observations."""
        return self.on_obs

    def complete(
        self, on_obs: Float[Array, "batch wide"], action: Float[Array, "batch agent act"]
    ) -> Float[Array, "batch agent"]:
        """The values from `joint obs @ obs_weight`: one per agent."""
        return self._rest(self._first(on_obs, action))

    def complete_with_own(
        self,
        on_obs: Float[Array, "batch wide"],
        action: Float[Array, "batch agent act"],
        own: Float[Array, "batch agent act"],
    ) -> Float[Array, "batch agent"]:
        """The values if agent k alone, as its critic sees it, does `own` and the others do `action`."""
        agents, sizes = jnp.arange(self.num_agents), (self.num_agents, action.shape[-1])
        if self.shared:
            by_agent = self.on_action.reshape(*sizes, -1)
        else:
            by_agent = self.on_action.reshape(*sizes, self.num_agents, -1)[agents, :, agents]
        change = jnp.einsum("bka,kah->bkh", own - action, by_agent)
        first = self._first(on_obs, action)
        return self._rest(jnp.broadcast_to(first, change.shape) + change)

    def _first(self, on_obs: Array, action: Array) -> Float[Array, "batch _agent hidden"]:
        """What the first layers say, for each agent's critic or, where they share one, for all."""
        wide = on_obs + _joint(action) @ self.on_action + self.bias[None]
        return wide.reshape(wide.shape[0], 1 if self.shared else self.num_agents, -1)

    def _rest(self, x: Float[Array, "batch _agent hidden"]) -> Float[Array, "batch agent"]:
        for layer in self.others:
            x = _activate(x, self.normalised)
            if x.shape[1] < self.num_agents:  # all see the same, so this is one wide matmul, too
                x = jnp.einsum("bi,kio->bko", x[:, 0], layer.weight) + layer.bias[None]
            else:
                x = jnp.einsum("bki,kio->bko", x, layer.weight) + layer.bias[None]
        return x.squeeze(-1)


def _activate(x: Float[Array, "*rows hidden"], normalised: bool) -> Float[Array, "*rows hidden"]:
    return jax.nn.relu(jax.nn.standardize(x)) if normalised else jnp.tanh(x)


def first_layers(
    obs: Float[Array, "batch agent obs"], *networks: TeamPolicy | Critic | JointCritic
) -> list[Float[Array, "row wide"]]:
    """`obs @ obs_weight` of several networks; those that see the same rows share one wide matmul.

    Measured on two cores: the wider a matmul, the faster per operation.
    """
    results: dict[int, Array] = {}
    for joint in (False, True):
        alike = {i: n.obs_weight for i, n in enumerate(networks) if isinstance(n, JointCritic) is joint}
        if alike:
            ends = list(accumulate(weight.shape[1] for weight in alike.values()))[:-1]
            rows = _joint(obs) if joint else _rows(obs)
            parts = jnp.split(rows @ jnp.concatenate(list(alike.values()), axis=1), ends, axis=1)
            results |= dict(zip(alike, parts, strict=True))
    return [results[i] for i in range(len(networks))]


def _rows(x: Float[Array, "*batch size"]) -> Float[Array, "row size"]:
    """All batch axes as one: the gradient of a matmul over several would cost a transposed copy."""
    return x.reshape(-1, x.shape[-1])


def _joint(x: Float[Array, "batch agent size"]) -> Float[Array, "batch joint"]:
    """All agents' numbers side by side."""
    return x.reshape(x.shape[0], -1)
