"""Jumanji's worlds of several agents, inside the compiled program.

What an agent sees: its row of every part of the observation that has one for each agent, and every number that all
share. An end at the limit of time is a truncation, whatever Jumanji calls it.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array
from jumanji import registration, specs  # pyright: ignore[reportMissingImports]

from merlax.envs.adapters import camera, foreign
from merlax.envs.adapters.foreign import Foreign, ForeignState, lenient
from merlax.envs.base import Box, Discrete, Side
from merlax.envs.spaces import Space
from merlax.types import Key, Reward, UserError

MASK = "action_mask"
SMALL = 64  # numbers of a part that is shown to every agent, at most


class Jumanji(Foreign):
    """A world of Jumanji's."""

    @property
    def sides(self) -> tuple[Side]:
        return (_side(self),)

    def _own_limit(self) -> int:
        return int(getattr(_made(self), "time_limit", 0) or 0)

    def reset(self, key: Key) -> tuple[Array, ForeignState]:
        with lenient():
            inner, timestep = _made(self).reset(key)
            shown = _shown(_made(self), timestep.observation)
        here = jnp.ones(_side(self).num_agents, bool)
        return shown, ForeignState((inner, _mask(timestep)), here, jnp.zeros((), jnp.int32))

    def step(self, key: Key, state: ForeignState, action: Array) -> Any:
        del key  # its states carry their own
        made, spec = _made(self), _made(self).action_spec
        if isinstance(_space(self, spec), Box):
            action = foreign.rescaled(action, spec.minimum, spec.maximum)
        with lenient():
            inner, timestep = made.step(state.inner[0], action)
            shown = _shown(made, timestep.observation)
            agents = _side(self).num_agents
            paid = jnp.broadcast_to(jnp.asarray(timestep.reward).astype(jnp.float32), (agents,))
            info = dict(timestep.extras or {})
            reward = Reward(self.team_reward(paid, info), self.agent_reward(paid, info))
        time = state.time + 1
        over = time >= self.horizon
        ends = timestep.last() & ~over
        return shown, ForeignState((inner, _mask(timestep)), state.here, time), reward, ends, over, {}

    def legal(self, state: ForeignState) -> Array:
        return state.inner[1]

    def film(self, states: ForeignState) -> np.ndarray:
        """Jumanji's own pictures of an episode."""
        inner = camera.instants(states.inner[0])
        with lenient():
            return camera.of_animation(_made(self).animate(inner, 100), len(inner))


def ids() -> list[str]:
    """Those with several agents."""
    return [each for each in registration.registered_environments() if each.rpartition("-v")[0] in _TEAMS]


_TEAMS = ("Cleaner", "Connector", "LevelBasedForaging", "RobotWarehouse", "SearchAndRescue")


@functools.cache
def kind(identifier: str) -> type:
    """The class of the worlds of this id, with Jumanji's own options, and those of its generator, as fields."""
    example = _make(identifier, {})
    generator = _generator(example)
    constructors = [type(example).__init__, *([] if generator is None else [type(generator).__init__])]
    options = foreign.simple_options(constructors)
    if generator is not None:  # what the world's own generator has, which need not be its class's default
        options |= _sizes(generator)
    return foreign.subclass(Jumanji, f"jumanji:{identifier}", options)


def _generator(made: Any) -> Any:
    return getattr(made, "generator", None) or getattr(made, "_generator", None)


def _sizes(generator: Any) -> dict[str, Any]:
    """The numbers of a generator that its constructor takes."""
    import inspect

    names = [name for name in inspect.signature(type(generator).__init__).parameters if name != "self"]
    found = {name: getattr(generator, name, getattr(generator, f"_{name}", None)) for name in names}
    return {name: value for name, value in found.items() if isinstance(value, bool | int | float | str)}


@functools.cache
def _made(env: Jumanji) -> Any:
    """Jumanji's object, one for each of ours."""
    return _make(env.name.partition(":")[2], env.changed())


def _make(identifier: str, options: dict[str, Any]) -> Any:
    try:
        with jax.ensure_compile_time_eval(), lenient():
            plain = registration.make(identifier)
            if not options:
                return plain
            generator = _generator(plain)
            sizes = {} if generator is None else _sizes(generator)
            own = {name: value for name, value in options.items() if name not in sizes}
            if len(own) < len(options):
                own["generator"] = type(generator)(**(sizes | {n: v for n, v in options.items() if n in sizes}))
            return registration.make(identifier, **own)
    except Exception as error:  # whatever Jumanji throws
        reason = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
        raise UserError(
            f"Jumanji cannot make '{identifier}' with {options or 'its own options'} ({reason})."
        ) from error


@functools.cache
def _side(env: Jumanji) -> Side:
    """Its spaces; agents are alike."""
    made = _made(env)
    space = _space(env, made.action_spec)
    with lenient():
        shown = jax.eval_shape(lambda key: _shown(made, made.reset(key)[1].observation), jax.random.key(0))
        timestep = jax.eval_shape(lambda key: made.reset(key)[1], jax.random.key(0))
    agents, width = shown.shape
    masked = isinstance(space, Discrete) and getattr(timestep.observation, MASK, None) is not None
    return Side((Box(width),) * agents, (space,) * agents, masked)


def _space(env: Jumanji, spec: Any) -> Space:
    if isinstance(spec, specs.MultiDiscreteArray) and len(set(np.asarray(spec.num_values).tolist())) == 1:
        return Discrete(int(np.asarray(spec.num_values)[0]))
    if type(spec) is specs.BoundedArray and len(spec.shape) == 2:
        return Box(int(spec.shape[1]))
    raise UserError(
        f"{env.name} acts by a {type(spec).__name__} of shape {spec.shape}; merlax takes one box or choice per agent."
    )


def _shown(made: Any, observation: Any) -> Array:
    """What each agent sees, as one row."""
    agents = int(made.num_agents)
    limit = float(getattr(made, "time_limit", 0) or 1)
    rows = []
    for name, part in observation._asdict().items():
        if name == MASK:
            continue
        part = jnp.asarray(part).astype(jnp.float32) / (limit if name in ("step", "step_count") else 1.0)
        if part.ndim and part.shape[0] == agents:
            rows.append(part.reshape(agents, -1))
        elif math.prod(part.shape) <= SMALL or not rows:
            rows.append(jnp.broadcast_to(part.reshape(1, -1), (agents, part.size)))
    return jnp.concatenate(rows, axis=1)


def _mask(timestep: Any) -> Array | None:
    told = getattr(timestep.observation, MASK, None)
    return None if told is None else jnp.asarray(told).astype(bool)
