"""JaxMARL's worlds, inside the compiled program.

Steps go through `step_env`: JaxMARL's own `step` resets by itself and loses the last observation. Its `dones` do not
tell a real end from the end of time; its limit of steps does.
"""

from __future__ import annotations

import contextlib
import functools
import io
import math
import warnings
from typing import Any

import jax
import jax.numpy as jnp
import jaxmarl  # pyright: ignore[reportMissingImports]
import numpy as np
from jaxmarl.environments import spaces  # pyright: ignore[reportMissingImports]
from jaxtyping import Array

from merlax.envs.adapters import camera, foreign
from merlax.envs.adapters.foreign import Foreign, ForeignState, arranged, lenient
from merlax.envs.base import Box, Discrete, Side
from merlax.envs.spaces import Space
from merlax.types import Key, Reward, UserError

LIMITS = ("max_steps", "num_inner_steps", "episode_length")  # under which its worlds keep their limit
MORTAL = ("SMAX", "HeuristicEnemySMAX")  # worlds whose agents die


class JaxMarl(Foreign):
    """A world of JaxMARL's."""

    @property
    def sides(self) -> tuple[Side]:
        return (_side(self),)

    def _own_limit(self) -> int:
        made = _made(self)
        return next((int(getattr(made, name)) for name in LIMITS if getattr(made, name, None)), 0)

    def reset(self, key: Key) -> tuple[Any, ForeignState]:
        with lenient():
            obs, inner = _made(self).reset(key)
        here = jnp.ones(len(_made(self).agents), bool)
        return self._shown(obs), ForeignState(inner, here, jnp.zeros((), jnp.int32))

    def step(self, key: Key, state: ForeignState, action: Any) -> Any:
        made = _made(self)
        own = {agent: _taken(made.action_space(agent), action[k]) for k, agent in enumerate(made.agents)}
        with lenient():
            obs, inner, rewards, dones, info = made.step_env(key, state.inner, own)
            paid = jnp.stack([jnp.asarray(rewards[agent]).astype(jnp.float32).reshape(()) for agent in made.agents])
            reward = Reward(self.team_reward(paid, info), self.agent_reward(paid, info))
        time = state.time + 1
        over = time >= self.horizon
        ends = jnp.asarray(dones["__all__"]) | over
        done = jnp.stack([jnp.asarray(dones[agent]) for agent in made.agents])
        state = ForeignState(inner, state.here & (~done | ends), time)
        return self._shown(obs), state, reward, ends & ~over, over, {}

    def legal(self, state: ForeignState) -> Any:
        with lenient():
            told = _made(self).get_avail_actions(state.inner)
        return arranged(_side(self), [jnp.asarray(told[agent]) > 0 for agent in _made(self).agents])

    def present(self, state: ForeignState) -> Array:
        return state.here

    def film(self, states: ForeignState) -> np.ndarray | None:
        """JaxMARL's own pictures of an episode, of those worlds that it draws state by state."""
        made, identifier = _made(self), self.name.partition(":")[2]
        shows = next((show for begins, show in _FILMED.items() if identifier.startswith(begins)), None)
        with lenient(), contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return None if shows is None else shows(made, states.inner)

    def _shown(self, obs: Any) -> Any:
        vectors = [jnp.ravel(obs[agent]).astype(jnp.float32) for agent in _made(self).agents]
        return arranged(_side(self), vectors)


def _particles(made: Any, states: Any) -> np.ndarray:
    from jaxmarl.environments.mpe import MPEVisualizer  # pyright: ignore[reportMissingImports]

    inner = camera.instants(states)
    shown = MPEVisualizer(made, inner)
    return camera.of_figure(shown.fig, shown.update, len(inner))


def _robots(made: Any, states: Any) -> np.ndarray:
    from matplotlib import pyplot

    inner = camera.instants(states)
    figure = pyplot.figure(figsize=(5, 5))
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))

    def show(t: int) -> None:
        axes.cla()
        made.init_render(axes, inner[t], lidar=False, ticks_off=True)

    return camera.of_figure(figure, show, len(inner))


def _kitchen(made: Any, states: Any) -> np.ndarray:
    from jaxmarl.viz.overcooked_v2_visualizer import OvercookedV2Visualizer  # pyright: ignore[reportMissingImports]

    del made
    return np.asarray(OvercookedV2Visualizer().render_sequence(jax.tree.map(jnp.asarray, states)))


_FILMED = {"MPE_": _particles, "jaxnav": _robots, "overcooked_v2": _kitchen}


def ids() -> list[str]:
    """Those that can be made as they are."""
    needs_more = ("LearnedPolicyEnemySMAX", "JaxRobotarium")
    brax = () if getattr(jaxmarl.registration, "MABRAX_AVAILABLE", False) else _BRAX
    return [each for each in jaxmarl.registered_envs if not each.startswith((*needs_more, *brax))]


_BRAX = ("ant_4x2", "halfcheetah_6x1", "hopper_3x1", "humanoid_9|8", "walker2d_2x3")


@functools.cache
def kind(identifier: str) -> type:
    """The class of the worlds of this id, with JaxMARL's own options as fields."""
    example = _make(identifier, {})
    kinds = [type(example), *([type(example._env)] if "_env" in vars(example) else [])]
    constructors = [base.__init__ for each in kinds for base in each.__mro__ if "__init__" in vars(base)]
    options = foreign.simple_options([each for each in constructors if each is not object.__init__])
    named = dict.fromkeys(_LOOKED_UP.get(identifier, {}), "")  # options that are objects, chosen by their names
    return foreign.subclass(JaxMarl, f"jaxmarl:{identifier}", options | named)


def _scenario(name: str) -> Any:
    from jaxmarl.environments.smax import map_name_to_scenario  # pyright: ignore[reportMissingImports]

    return map_name_to_scenario(name)


def _layout(name: str) -> Any:
    from jaxmarl.environments.overcooked import overcooked_layouts  # pyright: ignore[reportMissingImports]

    return overcooked_layouts[name]


_LOOKED_UP: dict[str, dict[str, Any]] = {
    "SMAX": {"scenario": _scenario},
    "HeuristicEnemySMAX": {"scenario": _scenario},
    "overcooked": {"layout": _layout},
}


@functools.cache
def _made(env: JaxMarl) -> Any:
    """JaxMARL's object; it is known by its identity, so there is one for each of ours."""
    identifier = env.name.partition(":")[2]
    look_up = _LOOKED_UP.get(identifier, {})
    options = {name: look_up[name](value) if name in look_up else value for name, value in env.changed().items()}
    return _make(identifier, options)


def _make(identifier: str, options: dict[str, Any]) -> Any:
    try:
        with jax.ensure_compile_time_eval(), lenient():
            return jaxmarl.make(identifier, **options)
    except Exception as error:  # whatever JaxMARL throws
        reason = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
        raise UserError(
            f"JaxMARL cannot make '{identifier}' with {options or 'its own options'} ({reason})."
        ) from error


@functools.cache
def _side(env: JaxMarl) -> Side:
    """Its spaces; sizes of observations are those of what it really shows."""
    made = _made(env)
    with lenient():
        obs, state = jax.eval_shape(made.reset, jax.random.key(0))
        action = tuple(_space(env, made.action_space(agent)) for agent in made.agents)
        masked = any(isinstance(space, Discrete) for space in action) and _says_what_is_legal(made, state)
    leaving = env.name.partition(":")[2] in MORTAL or bool(getattr(made, "evaporating", False))
    return Side(tuple(Box(math.prod(obs[agent].shape)) for agent in made.agents), action, masked, leaving)


def _space(env: JaxMarl, space: Any) -> Space:
    if isinstance(space, spaces.Discrete):
        return Discrete(int(space.n))
    if isinstance(space, spaces.Box) and len(space.shape) == 1:
        return Box(int(space.shape[0]))
    raise UserError(f"{env.name} acts by a {type(space).__name__}; merlax takes Box and Discrete actions only.")


def _says_what_is_legal(made: Any, state: Any) -> bool:
    try:
        told = jax.eval_shape(made.get_avail_actions, state)
        return all(told[agent].shape == (made.action_space(agent).n,) for agent in made.agents)
    except Exception:  # worlds without masks raise what they like
        return False


def _taken(space: Any, action: Array) -> Array:
    return action if isinstance(space, spaces.Discrete) else foreign.rescaled(action, space.low, space.high)
