"""How a team fails: what its world says of its episodes, and what every team can be asked."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from merlax.core import devices, rollout
from merlax.core.networks import TeamPolicy, with_heads
from merlax.core.players import Benched, Player, PolicyPlayer
from merlax.core.rollout import Field
from merlax.envs import diagnosis
from merlax.envs.diagnosis import Diagnosed, History
from merlax.runs import evaluation, terminal
from merlax.runs.evaluation import Score
from merlax.runs.reader import Run
from merlax.runs.teams import Lineup
from merlax.types import Key, Keys

EPISODES = 400
BOUND = 0.95  # an action beyond it is at its bound
_QUANTILES = {"worst": 0.0, "10%": 0.1, "median": 0.5, "90%": 0.9, "best": 1.0}


@dataclasses.dataclass(frozen=True)
class Finding:
    """One thing that was measured, by class."""

    says: str
    classes: tuple[str, ...]
    values: tuple[float | None, ...]  # nothing where it never applied
    percent: bool = False
    """Whether the values are shares."""
    interval95: tuple[float | None, ...] | None = None
    """Half-widths, where they are known."""


@dataclasses.dataclass(frozen=True)
class Diagnosis:
    """All findings of a team.

    Examples:
        >>> found = merlax.diagnose("two-rovers", episodes=4, team="scripted")
        >>> len(found.scores), found.findings[0].says
        (4, 'score of an episode')
    """

    title: str
    """Who plays where."""
    score: Score
    """What the team scores."""
    scores: tuple[float, ...]
    """Of every episode."""
    findings: tuple[Finding, ...]
    """The rows of the table."""


def diagnose(team: Run | Lineup, episodes: int = EPISODES, seed: int = 0) -> Diagnosis:
    """Play fresh episodes, and the same ones again with agents that stand still or exchange their heads."""
    field, player, agents = team.field, team.player, team.env.sides[0].num_agents
    variants = {"without": [_benched(player, agents, agent) for agent in range(agents)]}
    if isinstance(player, PolicyPlayer) and agents > 1 and _alike(team):
        variants["heads"] = [_benched(_on_head(player.policy, head), agents) for head in range(agents)]
    everybody = [*itertools.chain(*variants.values())]
    work = _work(evaluation.evaluation_key(seed), field, player, episodes, everybody)
    parts = evaluation.num_parts(field.env, episodes)
    done = terminal.bar(work, parts * (1 + len(everybody)), f"{episodes:,} episodes")

    played = [next(done) for _ in range(parts)]
    scores = np.concatenate([score for score, _ in played])
    others = {name: [np.concatenate([next(done) for _ in range(parts)]) for _ in own] for name, own in variants.items()}
    quantiles = tuple(float(np.quantile(scores, share)) for share in _QUANTILES.values())
    findings = [
        Finding("score of an episode", tuple(_QUANTILES), quantiles),
        *_pooled([sums for _, sums in played]),
        _mean("score lost if an agent stands still", [scores - other for other in others["without"]]),
    ]  # fmt: skip
    if "heads" in others:
        findings.append(_mean("score if all agents have the head of", others["heads"]))
    return Diagnosis(team.title, evaluation.score([scores]), tuple(map(float, scores)), tuple(findings))


def _work(key: Key, field: Field, player: Player, episodes: int, variants: Sequence[Player]) -> Iterator[Any]:
    """All episodes, part by part: those of the team itself with what happened in them, then the variants' scores."""
    for keys, number in evaluation.instances(key, field.env, episodes):
        scores, sums = _examine(keys, field, player, jnp.arange(keys.shape[0]) < number)
        yield np.asarray(scores, np.float64)[:number], sums
    for variant in variants:
        yield from evaluation.play(jax.random.clone(key), field, variant, episodes)


class Sums(eqx.Module):
    """A measure of many episodes: what it was on those that it applies to, and how many these were."""

    says: str = eqx.field(static=True)
    classes: tuple[str, ...] = eqx.field(static=True)
    percent: bool = eqx.field(static=True)
    total: Float[Array, " classes"]
    number: Float[Array, " classes"]


@partial(jax.jit, compiler_options=devices.QUICK_COMPILE)
def _examine(keys: Keys, field: Field, player: Player, counts: Array) -> tuple[Array, list[Sums]]:
    def one(key: Key) -> tuple[Array, list[diagnosis.Measure]]:
        score, history = rollout.history(key, field, player)
        return score, _measures(field.env, history)

    scores, measures = jax.vmap(one)(keys)
    return scores, [_sums(measure, counts) for measure in measures]


def _measures(env: Any, history: History) -> list[diagnosis.Measure]:
    """What is measured on every world, then what this one adds."""
    played = history.valid[:, None]
    at_bound = jnp.mean((jnp.abs(history.actions) > BOUND).astype(jnp.float32), axis=-1)
    own = env.diagnose(history) if isinstance(env, Diagnosed) else ()
    return [
        diagnosis.by_agent("agent reward per step", jnp.where(played, history.agent_reward, jnp.nan)),
        diagnosis.by_agent("actions at their bounds", jnp.where(played, at_bound, jnp.nan), percent=True),
        *own,
    ]


def _sums(measure: diagnosis.Measure, counts: Array) -> Sums:
    values = measure.value.reshape(counts.shape[0], -1, len(measure.classes))
    known = jnp.isfinite(values) & counts[:, None, None]
    total = jnp.sum(jnp.where(known, values, 0.0), axis=(0, 1))
    return Sums(measure.says, measure.classes, measure.percent, total, jnp.sum(known.astype(jnp.float32), axis=(0, 1)))


def _pooled(parts: Sequence[Sequence[Sums]]) -> Iterator[Finding]:
    for same in zip(*parts, strict=True):
        total = np.sum([np.asarray(one.total, np.float64) for one in same], axis=0)
        number = np.sum([np.asarray(one.number, np.float64) for one in same], axis=0)
        values = tuple(float(t / n) if n else None for t, n in zip(total, number, strict=True))
        yield Finding(same[0].says, same[0].classes, values, same[0].percent)


def _mean(says: str, values: Sequence[np.ndarray]) -> Finding:
    """A number for each agent, with its interval over the episodes."""
    means = tuple(float(own.mean()) for own in values)
    halves = tuple(1.96 * float(own.std(ddof=1)) / math.sqrt(own.size) if own.size > 1 else None for own in values)
    return Finding(says, diagnosis.agents(len(values)), means, interval95=halves)


def _benched(player: Player, agents: int, idle: int | None = None) -> Benched:
    return Benched(player, jnp.arange(agents) == (-1 if idle is None else idle))


def _on_head(policy: TeamPolicy, head: int) -> PolicyPlayer:
    return PolicyPlayer(with_heads(policy, jnp.full(policy.num_agents, head)))


def _alike(team: Run | Lineup) -> bool:
    """Whether all agents could have each other's heads."""
    side = team.env.sides[0]
    return len({*side.obs}) == len({*side.action}) == 1
