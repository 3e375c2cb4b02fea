"""What shows when a world is played by random actions: whether it is pure, finite, ends, and stays ended."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from merlax.envs import base
from merlax.envs.base import Discrete, Env, Side
from merlax.types import UserError

EPISODES = 4
MOST_STEPS = 2000  # of each, at most
LARGE = 1e4  # a network does not read numbers beyond


def findings(env: Env, action: Any, names: tuple[str, ...]) -> list[str]:
    """All that is wrong; `action` is one that `step` takes, and `names` say whose a side is."""
    return [*_impurities(env, action), *_played_findings(env, names)]


def _impurities(env: Env, action: Any) -> Iterator[str]:
    """A world that is called twice with the same key must answer the same."""
    key, key_step = jax.random.split(jax.random.key(1))
    once, twice = (env.reset(jax.random.clone(key)) for _ in range(2))
    if not _same(once, twice):
        yield "reset gives two different worlds for one key; draw everything from `key`, and keep nothing."
        return
    one, other = (env.step(jax.random.clone(key_step), once[1], action) for _ in range(2))
    if not _same(one, other):
        yield "step gives two different results for one key and state; draw everything from `key`, and keep nothing."


def _played_findings(env: Env, names: tuple[str, ...]) -> list[str]:
    """What random actions show, in a few episodes at once and in one of them alone."""
    steps = min(env.horizon, MOST_STEPS)
    keys = jax.random.split(jax.random.key(2), EPISODES)
    play = lambda key: _episode(env, key, steps + 2)  # noqa: E731
    try:
        many, one = jax.jit(jax.vmap(play))(jax.random.clone(keys)), jax.jit(play)(keys[0])
    except UserError:
        raise
    except Exception as error:
        return [f"It cannot be played under jax.jit and jax.vmap ({reason(error)}); write it for one world, in JAX."]
    found: list[str] = []
    if not _same(jax.tree.map(lambda leaf: leaf[0, :2], many), jax.tree.map(lambda leaf: leaf[:2], one), 1e-3):
        found.append("Several worlds under jax.vmap play otherwise than one alone; keep nothing between two calls.")
    alive = np.asarray(many["alive"])
    for name, side in zip(names, range(len(env.sides)), strict=False):
        here, stays = (alive[:, :, None] & np.asarray(many[part][side]) for part in ("present", "stays"))
        obs, agent = (np.asarray(many[part][side]) for part in ("obs", "agent"))
        team = np.where(alive, np.asarray(many["team"][side]), 0.0)
        numbers = np.where(stays[..., None], obs, 0.0), team, np.where(here, agent, 0.0)
        found += _number_findings(name, *numbers, getattr(env, "reward_bounds", ()) if side == 0 else ())
        if np.asarray(many["back"][side]).any():
            found.append(f"`present` lets {name} agents come back; let whoever has left stay away.")
        if (np.asarray(many["stuck"][side]) & here).any():
            found.append(f"`legal` left {name} agents without any choice; let at least one be legal, such as to wait.")
    ended = np.asarray(many["ended"])
    if steps == env.horizon and not ended[:, :steps].any(axis=1).all():
        found.append(f"An episode had not ended after `horizon` ({steps}) steps; return truncated=True from then on.")
    elif (ended[:, :-1] & ~ended[:, 1:]).any():
        found.append(
            "After its end the world goes on as if nothing had ended; merlax wants no reset within step, and the last "
            "observation as it is: compare the time with >= and leave starting anew to the caller."
        )
    return found


def _number_findings(
    name: str, obs: np.ndarray, team: np.ndarray, agent: np.ndarray, bounds: tuple[float, ...]
) -> Iterator[str]:
    for what, numbers in (("observations", obs), ("reward.team", team), ("reward.agent", agent)):
        if not np.isfinite(numbers).all():
            yield f"Among {name} {what} is one that is not finite; guard divisions, roots and logarithms."
    if np.isfinite(obs).all() and np.abs(obs).max() > LARGE:
        yield f"Among {name} observations is {np.abs(obs).max():.3g}; divide them so that most lie in [-1, 1]."
    for what, numbers, bound in zip(("team", "agent"), (team, agent), bounds, strict=False):
        largest = np.abs(numbers).max()
        if np.isfinite(largest) and largest > bound * 1.001:
            yield f"reward.{what} reached {largest:.3g}, though reward_bounds says {bound:g}; correct one of them."


def _episode(env: Env, key: Any, steps: int) -> dict[str, Any]:
    """One episode by random legal actions, and as many steps after its end as are left."""
    key_reset, key_steps = jax.random.split(key)
    obs, state = base.reset(env, key_reset)

    def step(carry: Any, key: Any) -> Any:
        obs, state, alive, here = carry
        key_act, key_step = jax.random.split(key)
        after = base.step(env, key_step, state, _random_actions(env, key_act, obs))
        ends = after.terminated | after.truncated
        later = _everybody(env, after.state)
        told = {
            "obs": after.obs,
            "team": tuple(reward.team for reward in after.reward),
            "agent": tuple(reward.agent for reward in after.reward),
            "alive": alive,
            "ended": ends,
            "present": here,
            "stays": tuple(was & now for was, now in zip(here, later, strict=True)),
            "back": tuple(now & ~was & alive for was, now in zip(here, later, strict=True)),
            "stuck": tuple(_stuck(side, rows) for side, rows in zip(env.sides, obs, strict=True)),
        }
        return (after.obs, after.state, alive & ~ends, told["stays"]), told

    carry = obs, state, jnp.ones((), bool), _everybody(env, state)
    return jax.lax.scan(step, carry, jax.random.split(key_steps, steps))[1]


def _everybody(env: Env, state: Any) -> tuple[Array, ...]:
    """Who is there, by side; where nobody leaves, all."""
    told = base.present(env, state)
    return tuple(
        jnp.ones(side.num_agents, bool) if flags is None else flags for side, flags in zip(env.sides, told, strict=True)
    )


def _stuck(side: Side, rows: Array) -> Array:
    """Which agents have no legal choice."""
    chooses = jnp.array([isinstance(space, Discrete) for space in side.action])
    if not side.masked:
        return jnp.zeros(side.num_agents, bool)
    return chooses & ~(rows[:, -side.act_size :] > 0.5).any(axis=1)


def _random_actions(env: Env, key: Any, obs: tuple[Array, ...]) -> tuple[Array, ...]:
    def one(key: Any, side: Side, rows: Array) -> Array:
        drawn = jax.random.uniform(key, (side.num_agents, side.act_size), minval=-1.0)
        return jnp.where(rows[:, -side.act_size :] > 0.5, drawn, -2.0) if side.masked and side.alike else drawn

    keys = jax.random.split(key, len(env.sides))
    return tuple(one(*each) for each in zip(keys, env.sides, obs, strict=True))


def reason(error: Exception) -> str:
    """The first line of an error, short."""
    line = next(iter(str(error).splitlines()), "") or type(error).__name__
    return line[:200].rstrip(". ")


def _same(one: Any, other: Any, tolerance: float = 0.0) -> bool:
    def numbers(leaf: Any) -> np.ndarray:
        is_key = isinstance(leaf, jax.Array) and jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)
        return np.asarray(jax.random.key_data(leaf) if is_key else leaf)

    pairs = zip(map(numbers, jax.tree.leaves(one)), map(numbers, jax.tree.leaves(other)), strict=True)
    return all(
        a.shape == b.shape and np.allclose(a.astype(float), b.astype(float), tolerance, tolerance, equal_nan=True)
        for a, b in pairs
    )
