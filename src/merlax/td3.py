"""TD3 on a multi-headed team policy (paper, Algorithm 1, lines 17–27). DDPG is one configuration of it."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int

from merlax import checks, replay
from merlax.networks import LEARNER_BIAS, Critic, TeamPolicy, first_layers, kaiming
from merlax.types import Key, Metrics, Transition, UserError

T = TypeVar("T")


@dataclasses.dataclass(frozen=True)
class TD3Config:
    """Tables 1 and 2 of the paper, the gradient half."""

    actor_rate: float = 5e-5
    """Adam's learning rate for the actor."""
    critic_rate: float = 1e-5
    """Adam's learning rate for the critics."""
    target_weight: float = 1e-5
    """Share of the new weights in each move of the targets (τ)."""
    discount: float = 0.5
    """Discount factor (γ)."""
    batch: int = 512
    """Transitions per agent in one gradient step (T)."""
    buffer: int = 100_000
    """Transitions each agent's replay buffer keeps."""
    smoothing: float = 0.2
    """Noise on the target action (TD3 noise)."""
    smoothing_clip: float = 0.5
    """Largest noise on the target action (TD3 noise clip)."""
    delay: int = 2
    """Critic updates per actor update (TD3 update frequency)."""
    critics: int = 2
    """2: the smaller of twin critics counts; 1: DDPG."""
    reward_scale: float = 10.0
    """Factor on the reward before the critic sees it."""
    order: Literal["sequential", "joint"] = "sequential"
    """sequential: agent after agent, as printed in Algorithm 1; joint: all agents' batches in one step."""
    updates_per_frame: float = 1.0
    """Rounds of updates (each agent once) for every new joint step."""
    burn_in: int = 10
    """No update before this many batches are stored."""
    action_penalty: float = 0.0
    """Weight of a penalty on the actor's squared pre-activation: it keeps the final tanh from saturating."""

    def __post_init__(self) -> None:
        checks.whole(self, "batch", "buffer", "delay", "burn_in")
        checks.positive(self, "actor_rate", "critic_rate", "reward_scale")
        checks.not_negative(self, "smoothing", "smoothing_clip", "updates_per_frame", "action_penalty")
        checks.share(self, "target_weight", "discount")
        checks.choice(self, "critics", 2, 1)
        checks.choice(self, "order", "sequential", "joint")
        if self.batch > self.buffer:
            raise UserError(
                f"batch is {self.batch} but a buffer keeps only {self.buffer}; lower batch or raise buffer."
            )
        if self.batch * self.burn_in > self.buffer:
            raise UserError(
                f"learning would never begin: burn_in asks for {self.batch * self.burn_in} stored transitions but a "
                f"buffer keeps only {self.buffer}; lower batch or burn_in, or raise buffer."
            )


class Learner(eqx.Module):
    """The gradient learner: networks, their slow copies, and the optimisers' moments."""

    actor: TeamPolicy
    critics: tuple[Critic, ...]
    target_actor: TeamPolicy
    target_critics: tuple[Critic, ...]
    actor_moments: optax.OptState
    critic_moments: optax.OptState
    rounds: Int[Array, ""]  # rounds of updates so far: the delay counts them


def init(
    key: Key,
    num_agents: int,
    obs_size: int,
    act_size: int,
    actor_hidden: tuple[int, ...],
    critic_hidden: tuple[int, ...],
    config: TD3Config,
) -> Learner:
    """A new learner; the targets start as copies."""
    key_actor, key_critics = jax.random.split(key)
    actor = TeamPolicy(key_actor, num_agents, obs_size, act_size, actor_hidden, kaiming, LEARNER_BIAS)
    critics = tuple(Critic(k, obs_size, act_size, critic_hidden) for k in jax.random.split(key_critics, config.critics))
    copy = lambda tree: jax.tree.map(jnp.copy, tree)  # noqa: E731
    return Learner(
        actor,
        critics,
        copy(actor),
        copy(critics),
        _moments(actor),
        _moments(critics),
        jnp.zeros((), jnp.int32),
    )


def learn(
    key: Key, learner: Learner, buffer: replay.Buffer, frames: Int[Array, ""], config: TD3Config
) -> tuple[Learner, Metrics]:
    """Every round of updates that `frames` new joint steps pay for."""
    ready = buffer.size >= config.burn_in * config.batch
    rounds = jnp.where(ready, jnp.floor(frames.astype(jnp.float32) * config.updates_per_frame), 0.0).astype(jnp.int32)

    def one_round(i: Array, carry: tuple[Learner, Metrics]) -> tuple[Learner, Metrics]:
        learner, totals = carry
        key_sample, key_update = jax.random.split(jax.random.fold_in(key, i))
        batch = replay.sample(key_sample, buffer, config.batch)
        learner, losses = update(key_update, learner, batch, config)
        return learner, jax.tree.map(jnp.add, totals, losses)

    zeros = {"critic_loss": jnp.zeros(()), "actor_loss": jnp.zeros(())}
    learner, totals = jax.lax.fori_loop(0, rounds, one_round, (learner, zeros))
    updates = jnp.maximum(rounds, 1).astype(jnp.float32)
    return learner, jax.tree.map(lambda total: total / updates, totals) | {"updates": rounds}


def update(key: Key, learner: Learner, batch: Transition, config: TD3Config) -> tuple[Learner, Metrics]:
    """One round: every agent's minibatch [batch, agent, …], agent after agent or all at once."""
    learner = eqx.tree_at(lambda each: each.rounds, learner, learner.rounds + 1)
    size, num_agents = batch.reward.shape
    if config.order == "joint":
        rows = jax.tree.map(lambda leaf: leaf.reshape(size * num_agents, *leaf.shape[2:]), batch)
        return _gradient_step(key, learner, rows, jnp.tile(jnp.arange(num_agents), size), config)

    def one_agent(carry: Learner, xs: tuple[Key, Array, Transition]) -> tuple[Learner, Metrics]:
        key, agent, own = xs
        return _gradient_step(key, carry, own, jnp.full(size, agent), config)

    by_agent = jax.tree.map(lambda leaf: jnp.moveaxis(leaf, 1, 0), batch)
    xs = jax.random.split(key, num_agents), jnp.arange(num_agents), by_agent
    learner, losses = jax.lax.scan(one_agent, learner, xs)
    return learner, jax.tree.map(jnp.mean, losses)


def _gradient_step(
    key: Key, learner: Learner, rows: Transition, agents: Int[Array, " row"], config: TD3Config
) -> tuple[Learner, Metrics]:
    """One step of the critics and, every `delay` rounds, of the actor; then the targets follow."""
    target = _bootstrap(key, learner, rows, agents, config)
    loss, gradient = jax.value_and_grad(_critic_loss)(learner.critics, rows, target)
    critics, critic_moments = _descend(learner.critics, gradient, learner.critic_moments, config.critic_rate)

    def move_actor(actor: TeamPolicy, moments: optax.OptState, target_actor: TeamPolicy) -> Any:
        loss, gradient = jax.value_and_grad(_actor_loss)(actor, critics[0], rows, agents, config)
        actor, moments = _descend(actor, gradient, moments, config.actor_rate)
        return actor, moments, _follow(target_actor, actor, config.target_weight), loss

    def keep_actor(actor: TeamPolicy, moments: optax.OptState, target_actor: TeamPolicy) -> Any:
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
    learner = Learner(actor, critics, target_actor, target_critics, actor_moments, critic_moments, learner.rounds)
    return learner, {"critic_loss": loss, "actor_loss": loss_actor * config.delay}


def _bootstrap(
    key: Key, learner: Learner, rows: Transition, agents: Int[Array, " row"], config: TD3Config
) -> Float[Array, " row"]:
    """The target y of Algorithm 1: truncated ends bootstrap, terminal ones do not."""
    for_actor, *for_critics = first_layers(rows.next_obs, learner.target_actor, *learner.target_critics)
    action = jnp.tanh(learner.target_actor.finish(for_actor, agents))
    noise = config.smoothing * jax.random.normal(key, action.shape)
    noise = jnp.clip(noise, -config.smoothing_clip, config.smoothing_clip)
    action = jnp.clip(action + noise, -1.0, 1.0)
    values = [q.finish(on_obs, action) for q, on_obs in zip(learner.target_critics, for_critics, strict=True)]
    value = jax.tree.reduce(jnp.minimum, values)
    return config.reward_scale * rows.reward + config.discount * jnp.where(rows.terminated, 0.0, value)


def _critic_loss(critics: tuple[Critic, ...], rows: Transition, target: Float[Array, " row"]) -> Float[Array, ""]:
    """The squared errors of all critics."""
    values = [
        q.finish(on_obs, rows.action) for q, on_obs in zip(critics, first_layers(rows.obs, *critics), strict=True)
    ]
    return jax.tree.reduce(jnp.add, [jnp.mean((value - target) ** 2) for value in values])


def _actor_loss(
    actor: TeamPolicy, critic: Critic, rows: Transition, agents: Int[Array, " row"], config: TD3Config
) -> Float[Array, ""]:
    """Minus the value of the actor's actions."""
    # Not as `first_layers`: the gradient of that would include the critic's weights.
    raw = actor.finish(rows.obs @ actor.obs_weight, agents)
    return config.action_penalty * jnp.mean(raw**2) - jnp.mean(critic(rows.obs, jnp.tanh(raw)))


def _moments(params: Any) -> optax.OptState:
    """Adam's moments before the first step; they do not depend on the rate."""
    return optax.adam(0.0).init(params)


def _descend(params: T, gradient: T, moments: optax.OptState, rate: float) -> tuple[T, optax.OptState]:
    """One step of Adam."""
    steps, moments = optax.adam(rate).update(gradient, moments)  # pyright: ignore[reportArgumentType]
    return eqx.apply_updates(params, steps), moments


def _follow(target: T, source: T, weight: float) -> T:
    """Move the slow copy a little towards its source (soft update)."""
    return jax.tree.map(lambda slow, fast: slow + weight * (fast - slow), target, source)
