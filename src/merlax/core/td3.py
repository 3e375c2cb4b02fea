"""TD3 on a multi-headed team policy (paper, Algorithm 1, lines 17–27).

Its configurations are the paper's gradient methods: DDPG (one critic, no delay, no smoothing), MATD3 (joint critics)
and MADDPG (both). `practice.py` says how often it is updated, and from what.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from merlax.config import Checked, Count, Layers, NotNegative, Positive, Range, Share
from merlax.core import actions
from merlax.core.networks import LEARNER_BIAS, Critic, JointCritic, TeamPolicy, first_layers, kaiming
from merlax.envs.base import Side
from merlax.types import Key, Transition, UserError

T = TypeVar("T")
Moments: TypeAlias = Any  # of optax, which is imported only to train: a champion plays without it
Critics: TypeAlias = tuple[Critic, ...] | tuple[JointCritic, ...]
Losses: TypeAlias = tuple[Float[Array, ""], Float[Array, ""]]  # of the critics, of the actor


@dataclasses.dataclass(frozen=True)
class Td3(Checked):
    """A gradient learner: Tables 1 and 2 of the paper, the gradient half.

    Examples:
        >>> merlax.Td3(reward="mixed", team_weight=5.0).discount
        0.5
    """

    reward: Literal["agent", "mixed", "global"] = "agent"
    """agent: each agent's own; global: the team's alone; mixed: agent + `team_weight` × team, each normalised."""
    team_weight: NotNegative = 10.0
    """Weight of the team reward in the mixed one."""
    reward_scale: Positive = 10.0
    """Factor on the reward before the critic sees it."""
    discount: Share = 0.5
    """Discount factor (γ)."""
    actor_rate: Positive = 5e-5
    """Adam's learning rate for the actor."""
    critic_rate: Positive = 1e-5
    """Adam's learning rate for the critics."""
    target_weight: Share = 1e-5
    """Share of the new weights in each move of the targets (τ)."""
    batch: Count = 512
    """Transitions per agent in one gradient step (T)."""
    buffer: Annotated[int, Range(1)] = 100_000  # what is too large for a machine, its memory says
    """Transitions each agent's replay buffer keeps."""
    smoothing: NotNegative = 0.2
    """Noise on the target action (TD3 noise)."""
    smoothing_clip: NotNegative = 0.5
    """Largest noise on the target action (TD3 noise clip)."""
    delay: Count = 2
    """Critic updates per actor update (TD3 update frequency)."""
    critics: Literal[2, 1] = 2
    """2: the smaller of twin critics counts; 1: DDPG."""
    critic: Literal["own", "joint", "shared"] = "own"
    """own: one critic for all, on an agent's own observation and action; joint: one per agent, on everybody's; shared:
    the same, but their first hidden layer, which sees everybody, is one."""
    critic_hidden: Layers = (100, 100)
    """Hidden layers of a critic."""
    critic_normalised: bool = False
    """Normalise every hidden layer of a critic, with a ReLU instead of tanh."""
    huber: NotNegative = 0.0
    """Errors of the critics beyond this count by their size instead of their square (0: all by their square)."""
    order: Literal["sequential", "joint"] = "sequential"
    """sequential: agent after agent, as printed in Algorithm 1; joint: all agents' batches in one step."""
    updates_per_frame: NotNegative = 1.0
    """Rounds of updates (each agent once) for every new joint step."""
    burn_in: Count = 10
    """No update before this many batches are stored."""
    halving_rounds: NotNegative = 0.0
    """Rounds of updates until both rates have halved: they fall with 1 / (1 + rounds / this) (0: they do not fall)."""
    action_penalty: NotNegative = 0.0
    """Weight of a penalty on the actor's squared pre-activation: it keeps the final tanh from saturating."""

    @property
    def sees_all(self) -> bool:
        """Whether critics see everybody's observations and actions."""
        return self.critic != "own"

    def check(self) -> None:
        if self.sees_all and self.order == "sequential":
            raise UserError(
                f"critic is '{self.critic}' but order is 'sequential'; joint critics learn together: set order 'joint'."
            )
        if self.batch > self.buffer:
            raise UserError(
                f"batch is {self.batch} but a buffer keeps only {self.buffer}; lower batch or raise buffer."
            )
        if self.batch * self.burn_in > self.buffer:
            raise UserError(
                f"learning would never begin: burn_in asks for {self.batch * self.burn_in} stored transitions but a "
                f"buffer keeps only {self.buffer}; lower batch or burn_in, or raise buffer."
            )


class Practice(eqx.Module):
    """The rounds of updates of the generation under way."""

    due: Int[Array, ""]
    done: Int[Array, ""]
    losses: Losses  # summed over the rounds that are done
    rest: Float[Array, ""]  # the part of a round that is left for the next generation

    @classmethod
    def of(cls, due: Int[Array, ""], rest: Float[Array, ""]) -> Practice:
        """So many rounds, none of them done yet."""
        return cls(due, jnp.zeros((), jnp.int32), (jnp.zeros(()), jnp.zeros(())), rest)


class Learner(eqx.Module):
    """The gradient learner: networks, their slow copies, and the optimisers' moments."""

    actor: TeamPolicy
    critics: Critics
    target_actor: TeamPolicy
    target_critics: Critics
    actor_moments: Moments
    critic_moments: Moments
    rounds: Int[Array, ""]  # rounds of updates so far: the delay counts them
    practice: Practice


def init(key: Key, side: Side, actor_hidden: tuple[int, ...], config: Td3) -> Learner:
    """A new learner; the targets start as copies."""
    key_actor, key_critics = jax.random.split(key)
    actor = TeamPolicy(key_actor, side, actor_hidden, kaiming, LEARNER_BIAS)
    keys = jax.random.split(key_critics, config.critics)
    hidden, normalised = config.critic_hidden, config.critic_normalised
    if config.sees_all:
        shared = config.critic == "shared"
        critics = tuple(JointCritic(k, side, hidden, shared=shared, normalised=normalised) for k in keys)
    else:
        critics = tuple(Critic(k, side, hidden, normalised) for k in keys)
    copy = lambda tree: jax.tree.map(jnp.copy, tree)  # noqa: E731
    return Learner(
        actor,
        critics,
        copy(actor),
        copy(critics),
        _moments(actor),
        _moments(critics),
        jnp.zeros((), jnp.int32),
        Practice.of(jnp.zeros((), jnp.int32), jnp.zeros(())),
    )


def adopt(learner: Learner, policy: TeamPolicy) -> Learner:
    """The learner with this policy, which has no gains, as its actor; its critics do not know it yet."""
    return eqx.tree_at(lambda each: (each.actor, each.target_actor), learner, (policy, jax.tree.map(jnp.copy, policy)))


def update(
    key: Key,
    learner: Learner,
    batch: Transition,
    config: Td3,
    bounds: tuple[float, float] = (1.0, 1.0),
    average: Callable[[T], T] = lambda tree: tree,
) -> tuple[Learner, Losses]:
    """One round: every agent's minibatch [batch, agent, …], agent after agent or all at once.

    `average` is over the devices that share the round.
    """
    learner = eqx.tree_at(lambda each: each.rounds, learner, learner.rounds + 1)
    agents = jnp.arange(batch.action.shape[1])
    paid = config.reward_scale * pay(batch, config, bounds)
    if config.order == "joint":
        return _gradient_step(key, learner, batch, paid, agents, config, average)

    def one_agent(carry: Learner, xs: tuple[Key, Array, tuple[Transition, Array]]) -> tuple[Learner, Losses]:
        key, agent, own = xs
        one, paid = jax.tree.map(lambda leaf: jnp.expand_dims(leaf, 1), own)
        return _gradient_step(key, carry, one, paid, agent[None], config, average)

    by_agent = jax.tree.map(lambda leaf: jnp.moveaxis(leaf, 1, 0), (batch, paid))
    xs = jax.random.split(key, agents.size), agents, by_agent
    learner, losses = jax.lax.scan(one_agent, learner, xs)
    return learner, jax.tree.map(jnp.mean, losses)


def _gradient_step(
    key: Key,
    learner: Learner,
    batch: Transition,
    paid: Float[Array, "batch agent"],
    agents: Int[Array, " agent"],
    config: Td3,
    average: Callable[[Any], Any],
) -> tuple[Learner, Losses]:
    """One step of the critics and, every `delay` rounds, of the actor; then the targets follow."""
    target = paid + config.discount * _next_value(key, learner, batch, agents, config)
    loss, gradient = average(jax.value_and_grad(_critic_loss)(learner.critics, batch, target, config.huber))
    critic_rate, actor_rate = (_rate(rate, learner.rounds, config) for rate in (config.critic_rate, config.actor_rate))
    critics, critic_moments = _descend(learner.critics, gradient, learner.critic_moments, critic_rate)

    def move_actor(actor: TeamPolicy, moments: Moments, target_actor: TeamPolicy) -> Any:
        loss, gradient = average(jax.value_and_grad(_actor_loss)(actor, critics[0], batch, agents, config))
        actor, moments = _descend(actor, gradient, moments, actor_rate)
        return actor, moments, _follow(target_actor, actor, config.target_weight), loss

    def keep_actor(actor: TeamPolicy, moments: Moments, target_actor: TeamPolicy) -> Any:
        return actor, moments, target_actor, jnp.zeros(())

    actor, actor_moments, target_actor, loss_actor = jax.lax.cond(
        learner.rounds % config.delay == 0,
        move_actor,
        keep_actor,
        learner.actor,
        learner.actor_moments,
        learner.target_actor,
    )
    target_critics = _follow(learner.target_critics, critics, config.target_weight)
    learner = dataclasses.replace(
        learner,
        actor=actor,
        critics=critics,
        target_actor=target_actor,
        target_critics=target_critics,
        actor_moments=actor_moments,
        critic_moments=critic_moments,
    )
    return learner, (loss, loss_actor * config.delay)


def pay(batch: Transition, config: Td3, bounds: tuple[float, float]) -> Float[Array, "*batch agent"]:
    """What each agent is to learn from, of the two rewards that a step paid."""
    if config.reward == "agent":
        return batch.agent_reward
    if config.reward == "global":
        return batch.team_reward
    largest_team, largest_agent = bounds
    return batch.agent_reward / largest_agent + config.team_weight * batch.team_reward / largest_team


def _next_value(
    key: Key, learner: Learner, batch: Transition, agents: Int[Array, " agent"], config: Td3
) -> Float[Array, "batch agent"]:
    """What the targets of Algorithm 1 expect after a step: truncated ends have a value, terminal ones do not."""
    for_actor, *for_critics = first_layers(batch.next_obs, learner.target_actor, *learner.target_critics)
    action = jnp.tanh(_preactivation(learner.target_actor, for_actor, batch, agents))
    noise = config.smoothing * jax.random.normal(key, action.shape)
    noise = jnp.clip(noise, -config.smoothing_clip, config.smoothing_clip)
    side = learner.target_actor.side
    if side is None:
        action = jnp.clip(action + noise, -1.0, 1.0)
    else:
        action = actions.settle(side, action + noise, batch.next_obs, agents)
    if batch.present is not None:  # who has left does nothing
        action = jnp.where((batch.present & ~batch.terminated)[:, :, None], action, jnp.zeros_like(action))
    values = [q.complete(on_obs, action) for q, on_obs in zip(learner.target_critics, for_critics, strict=True)]
    return jnp.where(batch.terminated, 0.0, jax.tree.reduce(jnp.minimum, values))


def _critic_loss(
    critics: Critics, batch: Transition, target: Float[Array, "batch agent"], huber: float = 0.0
) -> Float[Array, ""]:
    """The errors of all critics: their squares, or those of the small ones and the sizes of the large ones (Huber)."""
    on_obs = first_layers(batch.obs, *critics)
    values = [q.complete(seen, batch.action) for q, seen in zip(critics, on_obs, strict=True)]
    return jax.tree.reduce(jnp.add, [_mean(_error(value - target, huber), batch.present) for value in values])


def _mean(values: Float[Array, "batch agent"], present: Bool[Array, "batch agent"] | None) -> Float[Array, ""]:
    """The mean over all agents that were there."""
    if present is None:
        return jnp.mean(values)
    weight = present.astype(values.dtype)
    return jnp.sum(values * weight) / jnp.maximum(jnp.sum(weight), 1.0)


def _error(miss: Float[Array, "batch agent"], huber: float) -> Float[Array, "batch agent"]:
    """What a miss costs; a Huber error has the slope 1 wherever it is linear."""
    if not huber:
        return miss**2
    size = jnp.abs(miss)
    return jnp.where(size <= huber, miss**2 / (2.0 * huber), size - huber / 2.0)


def _rate(rate: float, rounds: Int[Array, ""], config: Td3) -> Float[Array, ""] | float:
    """A learning rate after this many rounds of updates."""
    if not config.halving_rounds:
        return rate
    return rate / (1.0 + rounds.astype(jnp.float32) / config.halving_rounds)


def _actor_loss(
    actor: TeamPolicy, critic: Critic | JointCritic, batch: Transition, agents: Int[Array, " agent"], config: Td3
) -> Float[Array, ""]:
    """Minus the value of each agent's own action; of choices, minus the value that is to be expected."""
    # Two calls: the gradient of one wide matmul would include the critic's weights.
    (for_actor,), (for_critic,) = first_layers(batch.obs, actor), first_layers(batch.obs, critic)
    raw = _preactivation(actor, for_actor, batch, agents)
    penalty: Any = config.action_penalty
    if actor.side is None:
        value = critic.complete_with_own(for_critic, batch.action, jnp.tanh(raw))
    else:
        penalty = actions.penalty(actor.side, agents, config.action_penalty)
        weight, own = actions.ways(actor.side, jnp.tanh(raw), batch.obs, agents)
        values = jax.vmap(lambda each: critic.complete_with_own(for_critic, batch.action, each))(own)
        value = jnp.sum(weight * values, axis=0)
    return jnp.mean(penalty * raw**2) - _mean(value, batch.present)


def _preactivation(
    actor: TeamPolicy, on_obs: Float[Array, "row hidden"], batch: Transition, agents: Int[Array, " agent"]
) -> Float[Array, "batch agent act"]:
    """Each agent's own head, before the final tanh."""
    return actor.complete(on_obs, jnp.tile(agents, batch.action.shape[0])).reshape(batch.action.shape)


def _moments(params: Any) -> Moments:
    """Adam's moments before the first step; they do not depend on the rate."""
    import optax

    return optax.adam(0.0).init(params)


def _descend(params: T, gradient: T, moments: Moments, rate: Float[Array, ""] | float) -> tuple[T, Moments]:
    """One step of Adam."""
    import optax

    steps, moments = optax.adam(rate).update(gradient, moments)  # pyright: ignore[reportArgumentType]
    return eqx.apply_updates(params, steps), moments


def _follow(target: T, source: T, weight: float) -> T:
    """Move the slow copy a little towards its source (soft update)."""
    return jax.tree.map(lambda slow, fast: slow + weight * (fast - slow), target, source)
