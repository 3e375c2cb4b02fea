"""Evolution of what each agent heeds: an evolution strategy on the team reward, over the gains of a policy's inputs.

A learner on the agents' rewards makes all agents alike, and weights by the thousand are too many to turn them into a
team by noisy scores. Here few numbers decide: how strongly an agent heeds each input. Mirrored pairs of teams play the
same episode, and the difference of their team rewards tells where the mean should move.

Two things move together: the agents of a role, and inputs that are neighbours. The number of roles is a setting.
Neighbours are learnt from what the agents see: of two such inputs, each is likeliest to show what the other shows, a
few steps earlier or later.
"""

from __future__ import annotations

import dataclasses
from typing import Annotated

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from merlax.config import Checked, Count, Positive, Range, Share
from merlax.envs.base import Side
from merlax.types import Key

DIFFUSIONS = 64  # steps in which gains spread from neighbour to neighbour


class TuningState(eqx.Module):
    """The mean of the gains, and what its next move needs."""

    gain: Float[Array, "agent obs"]
    momentum: Float[Array, "agent obs"]
    noise: Float[Array, "pair agent obs"]  # of the pairs that play next
    together: Float[Array, "obs obs"]  # how well inputs foretell each other, averaged over all generations
    generations: Int[Array, ""]


@dataclasses.dataclass(frozen=True)
class Tuning(Checked):
    """An evolution strategy over the gains of the learner's inputs.

    Examples:
        >>> merlax.Merl(tuning=merlax.Tuning(pairs=40, roles=3)).num_migrants
        2
    """

    pairs: Annotated[int, Range(0, 1_000_000)] = 0
    """Mirrored pairs of teams per generation, of one episode each (0: nothing is tuned)."""
    sigma: Positive = 0.2
    """Standard deviation of a gain around its mean; a gain is the logarithm of a factor (σ)."""
    rate: Positive = 1.2
    """Step of the mean, in units of σ."""
    momentum: Share = 0.9
    """Share of the former steps in each step."""
    halving: Positive = 60.0
    """Generations until the step has halved: it falls with 1 / (1 + generations / this)."""
    roles: Count = 2
    """Groups of agents, as equal as can be, that are tuned alike."""
    reach: Annotated[float, Range(0, DIFFUSIONS / 4)] = 4.5  # beyond, the diffusion would not be stable
    """How far a change of one gain spreads to neighbouring inputs: over the root of twice this many (0: not at all)."""
    lags: Count = 6
    """Steps, at most, between what two neighbouring inputs show."""
    after: Annotated[int, Range(0)] = 0
    """Generations of learning before it begins."""

    def start(self, key: Key, side: Side) -> TuningState:
        """All inputs heeded as they are."""
        zero = jnp.zeros((side.num_agents, side.obs_size))
        together = jnp.zeros((side.obs_size, side.obs_size))
        noise = self._draw(key, side.num_agents, together)
        return TuningState(zero, zero, noise, together, jnp.zeros((), jnp.int32))

    def active(self, state: TuningState) -> Bool[Array, ""]:
        """Whether the pairs are to play."""
        return state.generations >= self.after

    def teams(self, state: TuningState) -> Float[Array, "team agent obs"]:
        """The gains of all teams of the next generation: one of each pair, then the other."""
        step = self.sigma * state.noise
        return jnp.concatenate([state.gain[None] + step, state.gain[None] - step])

    def watch(
        self,
        state: TuningState,
        seen: Float[Array, "episode time agent obs"],
        valid: Bool[Array, "episode time *who"],
    ) -> TuningState:
        """Learn the neighbourhood from what a generation's episodes showed."""
        weight = 1.0 / (state.generations + 1).astype(jnp.float32)
        together = state.together + weight * (foretell(seen, valid, self.lags) - state.together)
        return dataclasses.replace(state, together=together)

    def __call__(self, key: Key, state: TuningState, fitness: Float[Array, " team"]) -> TuningState:
        """Move the mean by what the pairs scored, and draw new pairs."""
        momentum = self.momentum * state.momentum + (1.0 - self.momentum) * slope(state.noise, fitness)
        age = jnp.maximum(state.generations - self.after, 0).astype(jnp.float32)
        step = self.rate / (1.0 + age / self.halving) * self.sigma * momentum
        active = self.active(state)
        return TuningState(
            gain=jnp.where(active, state.gain + step, state.gain),
            momentum=jnp.where(active, momentum, state.momentum),
            noise=self._draw(key, state.gain.shape[0], state.together),
            together=state.together,
            generations=state.generations + 1,
        )

    def _draw(self, key: Key, agents: int, together: Float[Array, "obs obs"]) -> Float[Array, "pair agent obs"]:
        """Noise of variance 1 that the agents of a role share, and neighbouring inputs nearly so."""
        roles = min(self.roles, agents)
        free = jax.random.normal(key, (self.pairs, roles, together.shape[0]))
        return (free @ spread(together, self.reach).T)[:, jnp.arange(agents) * roles // agents]


def slope(noise: Float[Array, "pair agent obs"], fitness: Float[Array, " team"]) -> Float[Array, "agent obs"]:
    """Where fitness rises, in units of what chance alone would show; a pair that broke tells nothing."""
    plus, minus = jnp.split(fitness, 2)
    difference = jnp.nan_to_num(plus - minus)
    size = jnp.sqrt(jnp.sum(difference**2))
    return jnp.einsum("p,pko->ko", difference / jnp.where(size > 0.0, size, 1.0), noise)


def foretell(
    obs: Float[Array, "episode time agent obs"], valid: Bool[Array, "episode time *who"], lags: int
) -> Float[Array, "obs obs"]:
    """The correlation of every two inputs of an agent, a few steps apart, averaged over 1 to `lags` steps."""
    lags = min(lags, obs.shape[1] - 1)
    weight = valid.astype(obs.dtype).reshape(*valid.shape, *[1] * (4 - valid.ndim))
    count = jnp.maximum(weight.sum() * (obs.shape[2] // weight.shape[2]), 1.0)
    mean = (obs * weight).sum(axis=(0, 1, 2)) / count
    centred = (obs - mean[None, None, None]) * weight
    deviation = jnp.sqrt((centred**2).sum(axis=(0, 1, 2)) / count)
    scaled = centred / jnp.where(deviation > 1e-3, deviation, jnp.inf)[None, None, None]
    products = [jnp.einsum("etki,etkj->ij", scaled[:, :-lag], scaled[:, lag:]) for lag in range(1, lags + 1)]
    total = jax.tree.reduce(jnp.add, products) / (lags * count)
    return (total + total.T) / 2.0


def neighbours(together: Float[Array, "obs obs"]) -> Bool[Array, "obs obs"]:
    """Which inputs are neighbours: each is among the two that foretell the other best."""
    size = together.shape[0]
    others = jnp.where(jnp.eye(size, dtype=bool), -jnp.inf, together)
    second = jnp.sort(others, axis=1)[:, -2:][:, :1]
    near = (others >= second) & (others > 0.0)
    return near & near.T


def spread(together: Float[Array, "obs obs"], reach: float) -> Float[Array, "obs obs"]:
    """How independent noise becomes noise that neighbours share: rows of length 1 of a diffusion among them."""
    size = together.shape[0]
    near = neighbours(together).astype(together.dtype)
    flow = near - jnp.diag(near.sum(axis=1))
    heat = jnp.linalg.matrix_power(jnp.eye(size) + (reach / DIFFUSIONS) * flow, DIFFUSIONS)
    scale = jax.lax.rsqrt(jnp.diagonal(heat))
    heat = heat * scale[:, None] * scale[None, :]
    return heat / jnp.linalg.norm(heat, axis=1, keepdims=True)
