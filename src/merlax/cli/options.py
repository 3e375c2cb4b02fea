"""The options of a run, from words and a file to a plan."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro
from tyro.conf import Positional, arg

from merlax import config, envs, files
from merlax.algorithms import presets
from merlax.cli.parsing import Form, flat, parse, parse_known
from merlax.core import devices
from merlax.envs import adapters
from merlax.envs.base import Env
from merlax.runs import forms, reader, setup
from merlax.runs.reader import DDPG
from merlax.runs.saver import EVERY_SECONDS
from merlax.runs.setup import Setup
from merlax.types import UserError, suggest


@dataclasses.dataclass(frozen=True)
class MakingOptions:
    """How a run is made, be it new or continued."""

    track: Literal["wandb", "trackio"] | None = None
    """Report to Weights & Biases or trackio, too (pip install 'merlax[wandb]')."""
    checkpoint_every: float = EVERY_SECONDS
    """Seconds between two checkpoints; 0: after every generation."""
    keep_checkpoint: bool = True
    """Keep the last one when the run is finished, so that `merlax resume --frames` can extend it."""
    pictures: bool = True
    """Draw the learning curve and an episode of the champion in the end."""
    ignore_memory: bool = False
    """Begin even if the run does not seem to fit into this machine's memory."""
    distributed: bool = False
    """One run by several processes, as srun, mpirun or Kubernetes starts them: they share the rollouts."""
    coordinator: str | None = None
    """The same without these: host:port of process 0 …"""
    processes: int | None = None
    """… how many processes there are …"""
    process: int | None = None
    """… and which one this is, from 0."""
    quiet: bool = False
    """Show no progress."""


@dataclasses.dataclass(frozen=True)
class _PlanningOptions:
    """Which run is made."""

    algorithm: str = "merl"
    """How to train: merl, ea, es, td3, ddpg, matd3, maddpg, or module:Name for one of your own."""
    preset: Annotated[str, arg(metavar="{fast,paper}")] = "fast"
    """fast: best score per second; paper: the tables and Algorithm 1 of the paper."""
    frames: int = 2_000_000
    """Budget: joint steps of all training rollouts together."""
    seed: int = 2019
    """Seed of everything random in the run."""
    seeds: str = ""
    """Several runs at once, such as 0-4 or 1,5,7-9: --out is a folder of them, with a table and a figure."""
    workers: int | None = None
    """Of several runs, those at a time on this machine; by default one per core, which is fastest."""
    on: Literal["local", "ray", "slurm"] = "local"
    """Where several runs are made: this machine's processes, Ray ('merlax[ray]') or SLURM ('merlax[slurm]')."""
    resources: str = ""
    """What each of several runs gets there, such as cpu=4,gpu=0.5; by default one core."""
    out: Path | None = None
    """Run folder; by default a new one under runs/."""
    force: bool = False
    """Replace the run that --out holds already."""
    opponent: str | None = None
    """In a world with an opponent: ddpg (it learns; the default), scripted, or a run folder whose opponent to meet."""
    start: Annotated[Path | None, arg(name="from", metavar="RUN")] = None
    """Begin with the champion of a run, on this or another world whose agents see and do as many numbers."""
    config: Path | None = None
    """JSON or TOML file with any part of what a run's config.json says; options given here count more."""
    go_on: bool = False
    """If --out holds this very run, go on where it was interrupted, and do nothing if it is finished."""


@dataclasses.dataclass(frozen=True)
class TrainOptions(MakingOptions, _PlanningOptions):
    """What every run has; the world's parameters and the algorithm's settings join them."""

    dry_run: bool = False
    """Check everything, say what the run would take, and end before it begins."""


@dataclasses.dataclass(frozen=True)
class Request:
    """What a user asks for: the options that every run has, filled in, and the rest of them with their forms."""

    options: Any
    """As `TrainOptions`, with the world's parameters and the settings of the algorithm and of an opponent."""
    world: str
    env: Any
    file: dict[str, Any]
    algorithm: Form
    opponent: Form | None

    def plan(self) -> Setup:
        """The run that is asked for."""
        o = self.options
        planned = setup.plan(
            getattr(o, "env", self.env), self.algorithm.read(o.settings), frames=o.frames, seed=o.seed,
            preset=o.preset, opponent=_asked(o, self.opponent), start=o.start, world=self.world,
        )  # fmt: skip
        _refuse_other_start(planned, self.file)
        return dataclasses.replace(planned, method=o.algorithm)


def read_request(args: Sequence[str], command: str, description: str | None, kind: type = TrainOptions) -> Request:
    """A request from the words of a command whose own options are of this kind."""
    wants_help = any(word in ("-h", "--help") for word in args)
    words = [word for word in args if word not in ("-h", "--help")]
    # What decides the defaults of the other options comes first: the file, then the algorithm and the world.
    typed, rest = parse_known(kind, command, words, kind())
    file = _read(typed.config)
    defaults = dataclasses.replace(kind(), **_chosen(file))
    options, _ = parse_known(kind, command, words, defaults)
    if options.algorithm != typed.algorithm:
        _refuse_to_import(options.algorithm, "--algorithm")
    world, others = _world(rest, file)
    if world is None and wants_help:
        world = "rover-3"
    if world is None:
        raise UserError(f"Name a world to train on: {', '.join(envs.ids())}, or module:World for one of your own.")

    if adapters.prefix_of(world):
        devices.prepare()  # other libraries start JAX when they make a world
    env: Any = config.merge(envs.make(world), file.get("env", {}), "env")
    chosen = presets.preset(options.preset, world, options.algorithm)
    algorithm = Form(config.merge(chosen, file.get("settings", {}), "settings"))
    opponent = Form(_opponent(options.preset, world, file)) if len(env.sides) > 1 else None
    form = _kind(env, algorithm, opponent, kind)
    default = form(**dataclasses.asdict(options))
    filled = parse(form, command, ["--help"] if wants_help else [world, *others], description, default)
    return Request(filled, world, env, file, algorithm, opponent)


def _read(path: Path | None) -> dict[str, Any]:
    """A configuration file, with no field that `config.json` does not have."""
    if path is None:
        return {}
    try:
        data = forms.fill(forms.Config, config.read(path))
    except files.Unreadable as error:
        raise UserError(f"In the config file '{path}', {error}.") from error
    opponent, start = data.get("opponent") or {}, data.get("start") or {}
    parts = (("", data, forms.Config), ("opponent.", opponent, forms.Opponent), ("start.", start, forms.Start))
    for prefix, found, form in parts:
        for name in found:
            if name not in forms.names(form):
                near = suggest(name, forms.names(form))
                raise UserError(f"There is no '{prefix}{name}'{near} in a config file; it takes what config.json has.")
    return data


def _chosen(file: dict[str, Any]) -> dict[str, Any]:
    """What the file says of the options."""
    found = {name: file[name] for name in ("algorithm", "preset", "frames", "seed") if name in file}
    start = (file.get("start") or {}).get("run")
    return found | {"opponent": (file.get("opponent") or {}).get("kind"), "start": start and Path(start)}


def _refuse_other_start(planned: Setup, file: dict[str, Any]) -> None:
    """The champion that a file names must be the one that it was, unless the user names another."""
    asked, own = file.get("start") or {}, planned.start and planned.start.record()
    if own and own["run"] == asked.get("run") and asked.get("weights") not in (None, own["weights"]):
        raise UserError(
            f"The champion in '{own['run']}' is not the one that the config file names; name a run by --from."
        )


def _world(words: list[str], file: dict[str, Any]) -> tuple[str | None, list[str]]:
    """The name of the world, among the words that are no option of every run, or in the file; and the other words.

    Of these words the one that names a world, rather not the value of an option, or else the very first.
    """
    recorded = file.get("world")
    plain = [place for place, word in enumerate(words) if not word.startswith("-")]
    named = [place for place in plain if envs.is_known(words[place]) or ":" in words[place]]
    named += [place for place in plain if place == 0]
    if not named:
        _refuse_to_import(recorded or "", "WORLD")
        return recorded, words
    place = min(named, key=lambda place: place > 0 and words[place - 1].startswith("-"))
    word = words[place]
    if file.get("env") and recorded not in (None, word):
        raise UserError(f"The config file has the parameters of {recorded}, not of {word}; leave out its 'env'.")
    return word, words[:place] + words[place + 1 :]


def _refuse_to_import(name: str, where: str) -> None:
    """A file may name what merlax knows; only the user may name a module."""
    if ":" in name and not envs.is_known(name):
        raise UserError(
            f"The config file names '{name}', which is not part of merlax, and no file is allowed to import code; "
            f"give it again as {where}."
        )


def _opponent(preset: str, world: str, file: dict[str, Any]) -> Any:
    changes = (file.get("opponent") or {}).get("settings", {})
    return config.merge(presets.opponent(preset, world), changes, "opponent.settings")


def _kind(env: Env, algorithm: Form, opponent: Form | None, every: type) -> Any:
    """The options of this run: every run's, the world's parameters, the algorithm's settings, the opponent's."""
    what = "Name of a world (`merlax envs` lists them), or module:World for one of your own."
    fields: list[Any] = [("world", Annotated[Positional[str], arg(metavar="WORLD", help=what)], tyro.MISSING)]
    if reader.env_record(env):
        fields.append(("env", type(env), env))
    fields.append(("settings", flat(algorithm.type), algorithm.default))
    if opponent is not None:
        fields.append(("opponent_settings", Annotated[opponent.type, arg(name="opponent")], opponent.default))
    return dataclasses.make_dataclass("Options", fields, bases=(every,), frozen=True)


def _asked(filled: Any, form: Form | None) -> Any:
    """The opponent: one that learns, with its settings, or what the option says."""
    if form is None:
        return filled.opponent
    opponent = form.read(filled.opponent_settings)
    if filled.opponent in (None, DDPG):
        return opponent
    if opponent != form.algorithm:
        raise UserError(f"An opponent that is {filled.opponent} does not learn; leave out the options --opponent.…")
    return filled.opponent
