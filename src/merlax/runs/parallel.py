"""merlax's worlds as PettingZoo's: the same physics and rewards behind `ParallelEnv`."""

from __future__ import annotations

from functools import partial
from typing import Any

import gymnasium.spaces as spaces
import jax
import jax.numpy as jnp
import numpy as np
from pettingzoo import ParallelEnv

from merlax import figures
from merlax.core.played import Trace
from merlax.envs import base
from merlax.envs.base import Discrete, Env, Side
from merlax.figures.film import Film
from merlax.figures.painter import Painter
from merlax.figures.scene import view
from merlax.types import UserError

NAMES = ("agent", "opponent")  # by side
MODES = (None, "rgb_array", "human")
TAIL = 12  # steps that a trail lasts
FPS = 12


class ParallelWorld(ParallelEnv):
    """A world of merlax's: the agents of the team are `agent_0`, …, those of an opponent `opponent_0`, ….

    Whoever acts is paid its own reward; what pays the team is `team_reward` in its info.
    """

    def __init__(self, env: Env, render_mode: str | None = None):
        if render_mode not in MODES:
            raise UserError(f"render_mode is {render_mode!r}; choose 'rgb_array', or leave it out.")
        self.metadata = {"render_modes": ["rgb_array"], "name": type(env).__name__, "render_fps": FPS}
        self.render_mode = render_mode
        self._env = env
        self._sides = [
            [f"{NAMES[min(index, 1)]}_{k}" for k in range(side.num_agents)] for index, side in enumerate(env.sides)
        ]
        self.possible_agents = [agent for own in self._sides for agent in own]
        self.agents: list[str] = []
        pairs = [(agent, side, k) for own, side in self._named() for k, agent in enumerate(own)]
        self.observation_spaces = {agent: _obs_space(side, k) for agent, side, k in pairs}
        self.action_spaces = {agent: _action_space(side, k) for agent, side, k in pairs}
        self._key = jax.random.key(int(np.random.SeedSequence().generate_state(1)[0]))

    def observation_space(self, agent: str) -> spaces.Space:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict, dict]:
        del options
        if seed is not None:
            self._key = jax.random.key(seed)
        self._key, key = jax.random.split(self._key)
        self._state, told = _reset(self._env, key)
        obs, legal, present = jax.device_get(told)
        self.agents = [agent for agent, here in self._by_agent(present).items() if here]
        self._states, self._told = [self._state], []
        return self._shown(obs, legal, self.agents), {agent: {"team_reward": 0.0} for agent in self.agents}

    def step(self, actions: dict[str, Any]) -> tuple[dict, dict, dict, dict, dict]:
        taken = tuple(_taken(side, [actions.get(agent) for agent in own]) for own, side in self._named())
        self._key, key = jax.random.split(self._key)
        self._state, told = _step(self._env, key, self._state, taken)
        obs, legal, present, team, paid, terminated, truncated = jax.device_get(told)
        live, stay = self.agents, self._by_agent(present)
        rewards, index = self._by_agent(paid), self._by_agent(self._places)
        ends = {agent: bool(terminated) or not stay[agent] for agent in live}
        cut = {agent: bool(truncated) and not ends[agent] for agent in live}
        self.agents = [agent for agent in live if not (ends[agent] or cut[agent])]
        if self._films:
            rows = [side.action_rows(own) for side, own in zip(self._env.sides, taken, strict=True)]
            self._states.append(self._state)
            self._told.append((jax.device_get(rows), team, paid))
        return (
            self._shown(obs, legal, live),
            {agent: float(rewards[agent]) for agent in live},
            ends,
            cut,
            {agent: {"team_reward": float(team[index[agent]])} for agent in live},
        )

    def render(self) -> np.ndarray | None:
        """The world as it is now, as merlax draws it: [height, width, 3]."""
        if not self._films:
            raise UserError("This world shows no window; make it with render_mode='rgb_array'.")
        steps = len(self._told)

        def by_side(part: int) -> tuple[Any, ...]:
            told = [[np.asarray(each[part][side]) for each in self._told] for side in range(len(self._sides))]
            return tuple(jnp.asarray(np.stack(own)) for own in told) if steps else ()

        trace = Trace(
            states=jax.tree.map(lambda *leaves: jnp.stack(leaves), *self._states),
            steps=jnp.int32(steps),
            score=jnp.float32(sum(float(team[0]) for _, team, _ in self._told)),
            action=by_side(0),
            team_reward=by_side(1),
            agent_reward=by_side(2),
        )
        scene = figures.scene(self._env, trace)
        shots = Film()
        Painter(shots.axes[0], scene, view([scene])).show(steps, tail=TAIL)
        return np.asarray(shots.shoot([(f"step {steps}", scene.caption[-1])]))

    def close(self) -> None:
        self._states, self._told = [], []

    @property
    def _films(self) -> bool:
        return self.render_mode == "rgb_array"

    def _named(self) -> list[tuple[list[str], Side]]:
        return list(zip(self._sides, self._env.sides, strict=True))

    @property
    def _places(self) -> list[list[int]]:
        """Of every agent, the number of its side."""
        return [[index] * len(own) for index, own in enumerate(self._sides)]

    def _by_agent(self, values: Any) -> dict[str, Any]:
        """What is told by side and agent, by name."""
        pairs = (zip(own, side, strict=True) for own, side in zip(self._sides, values, strict=True))
        return {agent: value for pair in pairs for agent, value in pair}

    def _shown(self, obs: Any, legal: Any, agents: list[str]) -> dict[str, Any]:
        seen, allowed = self._by_agent(obs), self._by_agent(legal)
        return {
            agent: seen[agent]
            if allowed[agent] is None
            else {"observation": seen[agent], "action_mask": np.asarray(allowed[agent], np.int8)}
            for agent in agents
        }


def _obs_space(side: Side, agent: int) -> spaces.Space:
    seen = spaces.Box(-np.inf, np.inf, (side.obs[agent].size,), np.float32)
    if not (side.masked and isinstance(side.action[agent], Discrete)):
        return seen
    return spaces.Dict({"observation": seen, "action_mask": spaces.Box(0, 1, (side.action[agent].size,), np.int8)})


def _action_space(side: Side, agent: int) -> spaces.Space:
    own = side.action[agent]
    return spaces.Discrete(own.size) if isinstance(own, Discrete) else spaces.Box(-1.0, 1.0, (own.size,), np.float32)


def _taken(side: Side, actions: list[Any]) -> Any:
    """One side's actions as the world takes them; whoever has left does nothing."""

    def one(space: Any, action: Any) -> Any:
        if isinstance(space, Discrete):
            return np.int32(0 if action is None else action)
        given = np.zeros(space.size) if action is None else np.asarray(action)
        return np.clip(given, -1.0, 1.0).astype(np.float32)

    own = [one(space, action) for space, action in zip(side.action, actions, strict=True)]
    return jnp.asarray(np.stack(own)) if side.alike else tuple(jnp.asarray(each) for each in own)


@partial(jax.jit, static_argnums=0)
def _reset(env: Env, key: Any) -> Any:
    obs, state = env.reset(key)
    return state, (_own(env, obs), *_flags(env, state))


@partial(jax.jit, static_argnums=0)
def _step(env: Env, key: Any, state: Any, actions: Any) -> Any:
    action = actions if len(env.sides) > 1 else actions[0]
    obs, state, reward, terminated, truncated, _ = env.step(key, state, action)
    rewards = base.by_side(env, reward)
    team, paid = [each.team for each in rewards], [each.agent for each in rewards]
    return state, (_own(env, obs), *_flags(env, state), team, paid, terminated, truncated)


def _own(env: Env, obs: Any) -> Any:
    """What each agent sees, by side."""
    pairs = zip(base.by_side(env, obs), env.sides, strict=True)
    return [[jnp.asarray(own[k]) for k in range(side.num_agents)] for own, side in pairs]


def _flags(env: Env, state: Any) -> tuple[Any, Any]:
    """What is legal for each agent, where the world says so, and who is there, by side."""
    masked = any(side.masked for side in env.sides)
    told = base.by_side(env, env.legal(state)) if masked else ()  # type: ignore[attr-defined]

    def of(index: int, side: Side) -> list[Any]:
        chooses = [side.masked and isinstance(space, Discrete) for space in side.action]
        return [told[index][k] if each else None for k, each in enumerate(chooses)]

    legal = [of(index, side) for index, side in enumerate(env.sides)]
    pairs = zip(base.present(env, state), env.sides, strict=True)
    return legal, [jnp.ones(side.num_agents, bool) if flags is None else flags for flags, side in pairs]
