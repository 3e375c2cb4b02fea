"""Whether a world keeps its contract: every finding is a sentence that says what to change, and all come at once."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from merlax.envs import rules, trials
from merlax.envs.base import Abandoned, Env, Restricted, Side
from merlax.envs.outside import Outside
from merlax.types import Reward, UserError, shown

_LOG = logging.getLogger("merlax")
_NAMES = ("the team's", "the opponent's")


def check(env: Any) -> list[str]:
    """All that is wrong with a world: its shapes, then what shows when it is played; nothing if it is sound.

    Args:
        env: The world, as an object.
    """
    if isinstance(env, Outside):
        found, repeats = env.findings()
        return found if repeats else [*found, _varies(env)]
    found = shape_findings(env)
    return found or trials.findings(env, _actions(env), _NAMES)


def refuse_misshapen(env: Any) -> None:
    """Refuse a world that cannot be trained on, with all reasons; it is traced but not played.

    One outside JAX, of which tracing tells nothing, is played for an episode.
    """
    if isinstance(env, Outside):
        found, repeats = env.findings()
        if not repeats and not found:
            _LOG.warning(_varies(env))
    else:
        found = shape_findings(env)
    if found:
        raise UserError(" ".join(found))


def _varies(env: Outside) -> str:
    return (
        f"{env.name} does not repeat an episode that is reset with the same seed, so a run on it cannot be repeated, "
        "and one that is resumed goes on with other numbers; let reset(seed) decide everything."
    )


def shape_findings(env: Any) -> list[str]:
    """What tracing tells, without playing: missing parts, shapes and types."""
    parts = list(_parts(env))
    if parts:
        return parts
    keys = jax.random.split(jax.random.key(0))
    try:
        obs, state = jax.eval_shape(env.reset, keys[0])
    except UserError as error:
        return [str(error)]
    except Exception as error:
        return [_untraceable("reset", "`obs, state`", error)]
    found = [*_obs_findings(env, obs, "reset"), *_option_findings(env, state)]
    try:
        after = jax.eval_shape(env.step, keys[1], state, _some_actions(env))
        obs, later, reward, terminated, truncated, info = after
    except UserError as error:
        return [*found, str(error)]
    except Exception as error:
        return [*found, _untraceable("step", "`obs, state, reward, terminated, truncated, info`", error)]
    found += _obs_findings(env, obs, "step")
    found += _reward_findings(env, reward)
    for name, flag in (("terminated", terminated), ("truncated", truncated)):
        if not _is(flag, (), jnp.bool_):
            found.append(f"`{name}` is {_told(flag)}; return one flag of type bool, such as jnp.zeros((), bool).")
    if not isinstance(info, dict):
        found.append(f"`info` is {_told(info)}; return a dict, which may be empty.")
    return found + _state_findings(state, later)


def _parts(env: Any) -> Iterator[str]:
    """What a world must have before anything of it can be called."""
    missing = [name for name in ("sides", "horizon", "reset", "step") if not hasattr(env, name)]
    if missing:
        yield f"It has no {' and no '.join(f'`{name}`' for name in missing)}; a world has sides, horizon, reset, step."
        return
    try:
        hash(env)
    except TypeError as error:
        yield f"It cannot be hashed ({error}); make it a frozen dataclass whose fields are numbers, texts and tuples."
    else:
        if dataclasses.is_dataclass(type(env)) and dataclasses.replace(env) != env:
            yield "Two worlds with the same fields are not equal, so each compiles anew; let dataclass write __eq__."
    if not _whole(env.horizon) or env.horizon < 1:
        yield f"`horizon` is {shown(env.horizon)}; make it a whole number of at least 1, the most steps of an episode."
    sides = env.sides
    if not isinstance(sides, tuple) or not sides or not all(isinstance(side, Side) for side in sides):
        yield f"`sides` is {shown(sides)}; make it a tuple of merlax.Side, the team's first."
        return
    if len(sides) > 2:
        yield f"It has {len(sides)} sides; merlax trains one team against one opponent: make it one or two."
    for side, name in zip(sides, _NAMES, strict=False):
        yield from _side_findings(env, side, name)


def _side_findings(env: Any, side: Side, name: str) -> Iterator[str]:
    sizes = [*side.obs, *side.action]
    if not side.obs or len(side.obs) != len(side.action):
        yield f"On {name} side are {len(side.obs)} observations and {len(side.action)} actions; give each agent both."
    elif not all(_whole(space.size) and space.size >= 1 for space in sizes):
        yield f"On {name} side a space has no whole number as its size: {shown(sizes)}; make all sizes at least 1."
    if side.masked and not side.chooses:
        yield f"{name.capitalize()} side is masked, but nobody there chooses; unset masked."
    if side.masked and not isinstance(env, Restricted):
        yield f"{name.capitalize()} side is masked, but the world has no `legal(state)`; add it, or unset masked."
    if side.leaving and not isinstance(env, Abandoned):
        yield f"{name.capitalize()} side is leaving, but the world has no `present(state)`; add it, or unset leaving."


def _obs_findings(env: Env, obs: Any, where: str) -> list[str]:
    return [
        f"{where} shows {name} agents {_told(own)}; return {_asked(side)}, of float32."
        for side, name, own in _sided(env, obs)
        if not _fits(side, own, [(space.size,) for space in side.obs], jnp.float32)
    ]


def _option_findings(env: Env, state: Any) -> list[str]:
    """What the methods that a world may have return."""
    found: list[str] = []
    if any(side.masked for side in env.sides) and isinstance(env, Restricted):
        for side, name, own in _sided(env, jax.eval_shape(env.legal, state)):
            shapes = [(space.size,) for space in side.action]
            if side.masked and not _fits(side, _all_said(side, own), shapes, jnp.bool_):
                found.append(f"`legal` says {_told(own)} of {name} agents; return a bool for every choice of each.")
    if any(side.leaving for side in env.sides) and isinstance(env, Abandoned):
        for side, name, own in _sided(env, jax.eval_shape(env.present, state)):
            if side.leaving and not _is(own, (side.num_agents,), jnp.bool_):
                found.append(f"`present` says {_told(own)} of {name} agents; return a bool for each of them.")
    return found + _rule_findings(env, state)


def _rule_findings(env: Env, state: Any) -> list[str]:
    """What the world's hand rules return."""
    found: list[str] = []
    if not isinstance(env, rules.Ruled):
        return found
    for index, (side, _, asked) in enumerate(_sided(env, _some_actions(env))):
        obs = jnp.zeros((side.num_agents, side.obs_size))
        for name, rule in env.rules(index).items():
            told = jax.eval_shape(lambda rule=rule, obs=obs: rule(_zeros(state), obs))
            if jax.tree.map(_form, told) != jax.tree.map(_form, asked):
                named = f'`rules({index})["{name}"]`'
                found.append(f"{named} returns {_told(told)}; return what `step` takes: {_told(asked)}.")
    return found


def _all_said(side: Side, legal: Any) -> Any:
    """What is legal, with everything for agents of whom nothing is said."""
    if side.alike or not isinstance(legal, tuple | list) or len(legal) != side.num_agents:
        return legal
    everything = (jax.ShapeDtypeStruct((space.size,), jnp.bool_) for space in side.action)
    return tuple(every if own is None else own for own, every in zip(legal, everything, strict=True))


def _reward_findings(env: Env, reward: Any) -> Iterator[str]:
    for side, name, own in _sided(env, reward):
        if not isinstance(own, Reward):
            yield f"{name.capitalize()} reward is {_told(own)}; return merlax.Reward(team=…, agent=…) for each side."
            continue
        if not _is(own.team, (), jnp.float32):
            yield f"{name.capitalize()} reward.team is {_told(own.team)}; make it one number of float32."
        if not _is(own.agent, (side.num_agents,), jnp.float32):
            told = f"{name.capitalize()} reward.agent is {_told(own.agent)}"
            yield f"{told}; make it one number of float32 for each of the {side.num_agents} agents."


def _state_findings(before: Any, after: Any) -> list[str]:
    """A state keeps its form, so that steps can follow each other."""
    if jax.tree.structure(before) != jax.tree.structure(after):
        return ["The state after a step has other parts than the one after reset; return the same structure from both."]
    pairs = zip(jax.tree_util.tree_leaves_with_path(before), jax.tree.leaves(after), strict=True)
    return [
        f"The state's part {jax.tree_util.keystr(path) or 'itself'} is {_told(one)} after reset and {_told(other)} "
        "after a step; give both the same shape and type."
        for (path, one), other in pairs
        if _form(one) != _form(other)
    ]


def _actions(env: Env) -> Any:
    """What `step` takes, all zeros."""
    own = tuple(side.actions(jnp.zeros((side.num_agents, side.act_size))) for side in env.sides)
    return own if len(own) > 1 else next(iter(own))


def _some_actions(env: Env) -> Any:
    return jax.eval_shape(lambda: _actions(env))


def _zeros(state: Any) -> Any:
    def one(leaf: Any) -> Array:
        if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
            return jax.random.split(jax.random.key(0), leaf.shape) if leaf.shape else jax.random.key(0)
        return jnp.zeros(leaf.shape, leaf.dtype)

    return jax.tree.map(one, state)


def _sided(env: Env, value: Any) -> list[tuple[Side, str, Any]]:
    """Each side, its name, and its part of a value; the value itself where it does not have as many parts."""
    many = len(env.sides) > 1
    split = many and isinstance(value, tuple) and len(value) == len(env.sides)
    parts = value if split else (value,) * len(env.sides)
    return list(zip(env.sides, _NAMES, parts, strict=False))


def _fits(side: Side, value: Any, shapes: list[tuple[int, ...]], dtype: Any) -> bool:
    """Whether a value has a row for each agent, or, where they differ, an entry."""
    if side.alike:
        return _is(value, (side.num_agents, *shapes[0]), dtype)
    entries = isinstance(value, tuple | list) and len(value) == side.num_agents
    return entries and all(_is(each, shape, dtype) for each, shape in zip(value, shapes, strict=True))


def _asked(side: Side) -> str:
    if side.alike:
        return f"an array [{side.num_agents}, {side.widest}]"
    return f"a tuple with an array per agent, of {', '.join(str(space.size) for space in side.obs)} numbers"


def _is(value: Any, shape: tuple[int, ...], dtype: Any) -> bool:
    return getattr(value, "shape", None) == shape and getattr(value, "dtype", None) == dtype


def _form(leaf: Any) -> tuple[Any, Any]:
    return jnp.shape(leaf), jnp.result_type(leaf)


def _told(value: Any) -> str:
    """What a value is, in a few words."""
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return f"{value.dtype}[{', '.join(map(str, value.shape))}]"
    if isinstance(value, tuple | list):
        return f"a {type(value).__name__} ({', '.join(map(_told, value))})"
    return f"a {type(value).__name__}"


def _whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _untraceable(method: str, returns: str, error: Exception) -> str:
    said = f"{type(error).__name__}: {trials.reason(error)}"
    if isinstance(error, jax.errors.ConcretizationTypeError | jax.errors.TracerArrayConversionError):
        return (
            f"{method} decides by values that are not known yet ({said}); use jnp.where and jax.lax, not if and while."
        )
    return f"{method} does not return {returns} ({said}); call it by hand to see where."
