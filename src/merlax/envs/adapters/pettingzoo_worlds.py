"""PettingZoo's parallel worlds, played in processes of their own (`merlax_worker`)."""

from __future__ import annotations

import dataclasses
import functools
import importlib.util
import inspect
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from merlax import config
from merlax.envs.adapters import foreign, workers
from merlax.envs.adapters.foreign import OWN, SUMS, Foreign
from merlax.envs.base import Box, Discrete, Side
from merlax.envs.outside import HERE, RAY, Outside
from merlax.types import UserError, suggest
from merlax_worker import episode
from merlax_worker import world as worlds
from merlax_worker.players import Player
from merlax_worker.rows import Sizes
from merlax_worker.world import World

# Where the worlds lie, and what brings what they need. Atari's and the turn-based ones are no parallel vector worlds.
FAMILIES = {"mpe2": "mpe2", "sisl": "pettingzoo.sisl", "butterfly": "pettingzoo.butterfly"}
NEEDS = {"mpe2": "merlax[pettingzoo]", "sisl": "pettingzoo[sisl]", "butterfly": "pettingzoo[butterfly]"}


@dataclasses.dataclass(frozen=True)
class PettingZoo(Foreign, Outside):
    """A world of PettingZoo's."""

    factory: ClassVar[str]  # "module:function"

    opponents: str = ""
    """Agents of the other side, by their names or how these begin, with commas between them; none: one team."""
    on: str = HERE
    """Where episodes are played: `here`, or by actors on a Ray cluster: `ray`."""
    workers: int = 0
    """Processes that play episodes; 0: one per core, here or free on the cluster."""
    timeout: float = 120.0
    """Seconds that an episode may take before its world counts as hung; 0: any."""

    @property
    def sides(self) -> tuple[Side, ...]:
        return _sides(self)

    def _own_limit(self) -> int:
        return worlds.limit(_made(self))

    @property
    def draws(self) -> bool:
        modes = (getattr(one, "metadata", {}).get("render_modes") or () for one in worlds.inner(_made(self)))
        return any("rgb_array" in each for each in modes)

    def world(self) -> World:
        if not self.team:
            raise UserError(self.unpaid("", (), "team"))
        return self._world(foreign.function(self.team) or self.team, self.agent)

    def _world(self, team: Any, agent: str) -> World:
        sizes = tuple(_sizes(self, side, names) for side, names in zip(self.sides, _teams(self), strict=True))
        path, limit = tuple(sys.path), worlds.limit(_made(self))
        return World(self.name, _sent(self.factory), self.changed(), path, sizes, self.horizon, limit, team, agent)

    def findings(self) -> tuple[list[str], bool]:
        try:
            if self.on not in (HERE, RAY):
                raise UserError(f"--env.on is '{self.on}'; episodes are played '{HERE}' or on '{RAY}'.")
            for option in ("steps", "workers", "timeout"):
                if getattr(self, option) < 0:
                    raise UserError(f"--env.{option} is {getattr(self, option)}; make it 0 or more.")
            world = self._world("sum", OWN)
            call = (episode.twice, world, [Player() for _ in world.sides], _trial(world))
            played, repeats = workers.run(self, [call], 3)[0]
            if foreign.function(self.team):
                workers.play(self, [Player() for _ in world.sides], [_trial(world)], (False,) * len(world.sides))
        except UserError as error:
            return [str(error)], True
        found = []
        if not (self.team in SUMS or self.team in played.told or foreign.function(self.team)):
            found.append(self.unpaid(self.team, played.told, "team"))
        if self.agent != OWN and self.agent not in played.told:
            found.append(self.unpaid(self.agent, played.told, "agent"))
        return found, repeats


def ids() -> list[str]:
    """Those that are there, by family; what they need beside it is asked for when they are made."""
    return [f"{family}/{name}" for family, package in FAMILIES.items() for name in _modules(package)]


def canonical(identifier: str) -> str:
    """The same id as its module is called: PettingZoo's own have a dash before the version."""
    return identifier.replace("-v", "_v")


def refuse_missing(identifier: str) -> None:
    """Name the line that installs the package of a known family."""
    family = identifier.partition("/")[0]
    if family in FAMILIES and not _modules(FAMILIES[family]):
        raise UserError(f"The worlds of {family} are not installed: pip install '{NEEDS[family]}'.")


def _modules(package: str) -> list[str]:
    try:
        spec = importlib.util.find_spec(package)
    except ImportError:
        return []
    folders = [] if spec is None else list(spec.submodule_search_locations or ())
    return sorted(path.stem for folder in folders for path in Path(folder).glob("*_v[0-9]*.py"))


@functools.cache
def kind(identifier: str) -> type:
    """The class of the worlds of this id, or of a user's own `module:factory`, with their options as fields."""
    family, slash, name = identifier.partition("/")
    factory = identifier if ":" in identifier else f"{FAMILIES[family]}.{name}:parallel_env"
    needs = NEEDS[family] if slash and ":" not in identifier else ""
    if not needs:
        config.import_object(factory)  # which says what is wrong with a module of the user's own
    example = _make(f"pettingzoo:{identifier}", factory, {}, needs)
    made = foreign.subclass(PettingZoo, f"pettingzoo:{identifier}", _options(factory, example))
    made.factory = factory  # type: ignore[attr-defined]
    return made


def _options(factory: str, example: Any) -> dict[str, Any]:
    """Those that the command line can set: the function's own and, if it passes others on, those of what it makes."""
    function = config.import_object(factory)
    passes = any(p.kind is p.VAR_KEYWORD for p in inspect.signature(function).parameters.values())
    inner = [type(one) for one in worlds.inner(example)] if passes else []
    own = [each.__init__ for each in inner if not each.__module__.startswith("pettingzoo.utils")]
    return foreign.simple_options([function, *own])


def _sent(factory: str) -> Any:
    """How a worker finds the function: by its name, unless it has no module but that of the running program."""
    return config.import_object(factory) if factory.startswith("__main__:") else factory


@functools.cache
def _made(env: PettingZoo) -> Any:
    """PettingZoo's object, for its spaces; episodes are played by others."""
    return _make(env.name, env.factory, env.changed())


def _make(name: str, factory: str, options: Mapping[str, Any], needs: str = "") -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = worlds.make(World(name, _sent(factory), options, (), (), 0, 0, "", ""))
    except Exception as error:  # whatever the world throws
        reason = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
        if needs and isinstance(error, ImportError):
            raise UserError(f"{name} needs more than is installed ({reason}): pip install '{needs}'.") from error
        raise UserError(f"{name} cannot be made with {dict(options) or 'its own options'} ({reason}).") from error
    if not (hasattr(made, "possible_agents") and hasattr(made, "step")) or hasattr(made, "agent_iter"):
        raise UserError(f"{name} makes no ParallelEnv with possible_agents; merlax takes parallel worlds only.")
    return made


@functools.cache
def _teams(env: PettingZoo) -> tuple[tuple[str, ...], ...]:
    """The agents of the team and, in a contest, of the opponent."""
    agents = tuple(_made(env).possible_agents)
    if not env.opponents:
        return (agents,)
    begins = tuple(word.strip() for word in env.opponents.split(",") if word.strip())
    others = tuple(agent for agent in agents if str(agent).startswith(begins))
    for word in begins:
        if not any(str(agent).startswith(word) for agent in agents):
            known = ", ".join(map(str, agents))
            raise UserError(f"{env.name} has no agent '{word}'{suggest(word, map(str, agents))}; it has {known}.")
    if len(others) == len(agents):
        raise UserError(f"--env.opponents {env.opponents} names all agents of {env.name}; leave one for the team.")
    return tuple(agent for agent in agents if agent not in others), others


@functools.cache
def _sides(env: PettingZoo) -> tuple[Side, ...]:
    """Its spaces. Whoever is done while others go on has left, which no world says beforehand."""
    made = _made(env)

    def side(agents: tuple[str, ...]) -> Side:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            shown = [made.observation_space(agent) for agent in agents]
            done = [made.action_space(agent) for agent in agents]
        obs = [worlds.obs_size(env.name, agent, space) for agent, space in zip(agents, shown, strict=True)]
        acts = [worlds.act_size(env.name, agent, space) for agent, space in zip(agents, done, strict=True)]
        masked = any(chooses for _, chooses in acts) and _tells_legal(made, shown)
        action = tuple(Discrete(size) if chooses else Box(size) for size, chooses in acts)
        return Side(tuple(map(Box, obs)), action, masked, leaving=True)

    try:
        return tuple(side(agents) for agents in _teams(env))
    except worlds.WorldError as error:
        raise UserError(str(error)) from error


def _tells_legal(made: Any, shown: list[Any]) -> bool:
    """Whether masks come with the observations, or with the infos."""
    if any(worlds.obs_space(space) is not space for space in shown):
        return True
    try:
        return any(worlds.MASK in info for info in made.reset(seed=0)[1].values())
    except Exception:  # a world that cannot be reset is refused when it is played
        return False


def _sizes(env: PettingZoo, side: Side, agents: tuple[str, ...]) -> Sizes:
    chooses = tuple(isinstance(space, Discrete) for space in side.action)
    kinds = tuple(side.kinds.index(kind) for kind in zip(side.obs, side.action, strict=True))
    obs, action = (tuple(space.size for space in spaces) for spaces in (side.obs, side.action))
    return Sizes(agents, obs, action, chooses, kinds, side.masked)


def _trial(world: World) -> episode.Job:
    """An episode of teams that do nothing but tremble."""
    number = len(world.sides)
    return episode.Job((0, 1), tuple(range(number)), (1.0,) * number)
