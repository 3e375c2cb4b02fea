"""The commands about what there is and how fast it is: envs, check, selection-rate, bench."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from rich.table import Table
from tyro.conf import Positional, arg

from merlax import envs
from merlax.cli.parsing import parse, show
from merlax.config import to_json
from merlax.core.evolution.selection import expected_selection_rate, simulated_selection_rate
from merlax.envs import adapters
from merlax.envs.base import Env
from merlax.runs import bench as benchmark
from merlax.runs import terminal
from merlax.runs.reader import env_record


def list_envs(args: Sequence[str]) -> int:
    """List all worlds with their sizes."""

    @dataclasses.dataclass(frozen=True)
    class Options:
        json: bool = False
        """Print JSON instead of a table."""

    options = parse(Options, "envs", args, list_envs.__doc__)
    worlds = {name: envs.make(name) for name in envs.ids()}
    if options.json:
        own = {name: _sizes(env) | env_record(env) for name, env in worlds.items()}
        print(to_json(own | {name: {"library": name.partition(":")[0]} for name in _foreign()}, indent=2))
        return 0
    table = Table("world", "agents", "obs", "act", "steps", "opponent", "its own parameters", box=None, pad_edge=False)
    for name, env in worlds.items():
        opponent = "yes" if len(env.sides) > 1 else "no"
        table.add_row(name, *map(str, _sizes(env).values()), opponent, ", ".join(_parameters(env)))
    show(table, 140)
    for prefix in adapters.PREFIXES:
        names = [name for name in _foreign() if name.startswith(f"{prefix}:")]
        print(", ".join(names) if names else f"{prefix}:…  with pip install 'merlax[{prefix}]'")
    return 0


def _foreign() -> list[str]:
    """The worlds that the installed extras add."""
    there = [prefix for prefix in adapters.PREFIXES if adapters.installed(prefix)]
    return [f"{prefix}:{name}" for prefix in there for name in adapters.ids(prefix)]


def check(args: Sequence[str]) -> int:
    """Check a world: all that is wrong with it, a sentence each that says what to change."""

    @dataclasses.dataclass(frozen=True)
    class Options:
        world: Annotated[Positional[str], arg(metavar="WORLD")]
        """Name of a world, or module:World for one of your own; its fields are options (--env.…)."""
        json: bool = False
        """Print a JSON list instead of sentences."""

    words = [word for word in args if not word.startswith("-")]
    named = [word for word in words if envs.is_known(word) or ":" in word] or words
    kind: Any = Options
    if named and not {"-h", "--help"} & set(args):
        env = envs.make(named[0])
        if env_record(env):
            kind = dataclasses.make_dataclass("Options", [("env", type(env), env)], bases=(Options,), frozen=True)
    options = parse(kind, "check", args, check.__doc__)
    findings = envs.check(getattr(options, "env", None) or envs.make(options.world))
    if options.json:
        print(to_json(findings))
    else:
        print("\n".join(findings) or f"{options.world} keeps the contract of a world: nothing to change.")
    return 2 if findings else 0


def _sizes(env: Env) -> dict[str, int]:
    """What every world has."""
    team = env.sides[0]
    sizes = {"num_agents": team.num_agents, "obs_size": team.obs_size, "act_size": team.act_size}
    return sizes | {"horizon": env.horizon}


def _parameters(env: Any) -> list[str]:
    """Those of its own that the table shows: whole numbers and words, and what differs from its kind's default."""
    values = {field: getattr(env, field.name) for field in dataclasses.fields(env) if field.name not in _sizes(env)}
    return [
        f"{field.name} {value}"
        for field, value in values.items()
        if isinstance(value, int | str) or (isinstance(value, float) and value != field.default)
    ]


def selection_rate(args: Sequence[str]) -> int:
    """Print how often a migrant would be selected by chance alone (appendix B of the paper)."""

    @dataclasses.dataclass(frozen=True)
    class Options:
        population: int = 10
        """Teams in the population (M)."""
        elites: int = 4
        """Teams that survive unchanged (e)."""
        tournament: int = 3
        """Candidates per tournament (t)."""
        trials: int | None = None
        """Simulate so many selections, as the paper did, instead of working the rate out."""

    o = parse(Options, "selection-rate", args, selection_rate.__doc__)
    sizes = o.population, o.elites, o.tournament
    if o.trials is None:
        rate = expected_selection_rate(*sizes)
    else:
        watch = lambda parts: terminal.bar(parts, len(parts), f"{o.trials:,} trials")  # noqa: E731
        rate = simulated_selection_rate(*sizes, trials=o.trials, watch=watch)
    print(f"{rate:.2f}")
    return 0


def bench(args: Sequence[str]) -> int:
    """Measure this machine: rollouts, updates, training, compile time and memory."""

    @dataclasses.dataclass(frozen=True)
    class Options:
        worlds: Annotated[Positional[tuple[str, ...]], arg(metavar="WORLD")] = ("rover-3",)
        """Worlds to measure."""
        preset: Literal["fast", "paper"] = "fast"
        """Whose update to measure."""
        json: bool = False
        """Print JSON instead of a table."""

    options = parse(Options, "bench", args, bench.__doc__)
    results = {world: benchmark.measure(world, options.preset) for world in options.worlds}
    if options.json:
        print(to_json(results, indent=2))
        return 0
    table = Table("measure", *results, box=None, pad_edge=False)
    for name in next(iter(results.values())):
        table.add_row(
            name,
            *(f"{result[name]:,.4g}" if result[name] < 100 else f"{result[name]:,.0f}" for result in results.values()),
        )
    show(table)
    return 0
