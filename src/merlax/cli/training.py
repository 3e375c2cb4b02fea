"""The commands that make a run: train, resume."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro
from tyro.conf import Positional, arg

from merlax import config, envs, files
from merlax.algorithms import presets
from merlax.cli.parsing import Form, flat, named_env, parse, parse_known
from merlax.core import devices
from merlax.envs import adapters
from merlax.envs.base import Env
from merlax.runs import forms, hosts, memory, reader, session, setup, terminal
from merlax.runs.checkpoints import EVERY_SECONDS
from merlax.runs.evaluation import Score
from merlax.runs.loop import Ending
from merlax.runs.reader import DDPG, Run
from merlax.runs.recorders import Recorder, Tracker
from merlax.runs.setup import Setup
from merlax.types import UserError, suggest


@dataclasses.dataclass(frozen=True)
class TrainOptions:
    """What every run has; the world's parameters and the algorithm's settings join them."""

    algorithm: str = "merl"
    """How to train: merl, ea, es, td3, ddpg, matd3, maddpg, or module:Name for one of your own."""
    preset: Annotated[str, arg(metavar="{fast,paper}")] = "fast"
    """fast: best score per second; paper: the tables and Algorithm 1 of the paper."""
    frames: int = 2_000_000
    """Budget: joint steps of all training rollouts together."""
    seed: int = 2019
    """Seed of everything random in the run."""
    out: Path | None = None
    """Run folder; by default a new one under runs/."""
    force: bool = False
    """Replace the run that --out holds already."""
    opponent: str | None = None
    """In a world with an opponent: ddpg (it learns; the default), scripted, or a run folder whose opponent to meet."""
    config: Path | None = None
    """JSON or TOML file with any part of what a run's config.json says; options given here count more."""
    go_on: bool = False
    """If --out holds this very run, go on where it was interrupted, and do nothing if it is finished."""
    track: Literal["wandb", "trackio"] | None = None
    """Report to Weights & Biases or trackio, too (pip install 'merlax[wandb]')."""
    checkpoint_every: float = EVERY_SECONDS
    """Seconds between two checkpoints; 0: after every generation."""
    keep_checkpoint: bool = True
    """Keep the last one when the run is finished, so that `merlax resume --frames` can extend it."""
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
    dry_run: bool = False
    """Check everything, say what the run would take, and end before it begins."""
    quiet: bool = False
    """Show no progress."""


def train(args: Sequence[str]) -> int:
    """Train a team on a world and leave everything in a run folder."""
    wants_help = any(word in ("-h", "--help") for word in args)
    words = [word for word in args if word not in ("-h", "--help")]
    # What decides the defaults of the other options comes first: the file, then the algorithm and the world.
    typed, rest = parse_known(TrainOptions, "train", words, TrainOptions())
    file = _read(typed.config)
    defaults = dataclasses.replace(TrainOptions(), **_chosen(file))
    options, _ = parse_known(TrainOptions, "train", words, defaults)
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
    kind = _kind(env, algorithm, opponent)
    default = kind(**dataclasses.asdict(options))
    filled = parse(kind, "train", ["--help"] if wants_help else [world, *others], train.__doc__, default)

    planned = setup.plan(
        getattr(filled, "env", env), algorithm.read(filled.settings), frames=filled.frames, seed=filled.seed,
        preset=filled.preset, opponent=_asked(filled, opponent), world=world,
    )  # fmt: skip
    planned = dataclasses.replace(planned, method=filled.algorithm)
    asked = planned, filled.out, filled.force
    more: dict[str, Any] = {"every": filled.checkpoint_every, "ignore_memory": filled.ignore_memory}
    if filled.dry_run:
        _show_plan(planned, session.check(*asked, **more))
        return 0
    more["keep_checkpoint"] = filled.keep_checkpoint
    hosts.join(_meeting(filled))
    if not hosts.is_first():
        return _code(session.follow(planned))
    listeners = [*terminal.display(filled.quiet), *_tracker(filled.track)]
    found = _standing(planned, filled.out) if filled.go_on else ""
    if found == "finished":
        return 0
    if found == "interrupted":
        run, ending = session.resume(filled.out, listeners, env=planned.env, algorithm=planned.algorithm, **more)
    else:
        run, ending = session.train(*asked, recorders=listeners, **more)
    return _close(run, ending, filled.quiet)


def _meeting(options: Any) -> hosts.Meeting:
    """Where the processes of a run meet."""
    found = hosts.Meeting(options.distributed, options.coordinator, options.processes, options.process)
    if found.wanted and getattr(options, "go_on", False):
        raise UserError("--go-on is for one process; several continue a run with `merlax resume`.")
    return found


def _standing(planned: Setup, out: Path | None) -> session.Standing:
    """How far the folder is with this very run."""
    if out is None:
        raise UserError("--go-on needs the folder of the run: name it with --out.")
    devices.prepare()
    return session.standing(json.loads(config.to_json(planned.record())), out, devices.total())


def resume(args: Sequence[str]) -> int:
    """Continue a run that was interrupted, from its last checkpoint, as if it had never been; or extend one."""

    @dataclasses.dataclass(frozen=True)
    class Options:
        run: Annotated[Positional[Path], arg(metavar="RUN")]
        """A run folder."""
        frames: int | None = None
        """Another budget, larger than the run's own: it goes on to there, also if it is finished."""
        env: str | None = None
        """The world again as module:World, if it is one of your own."""
        algorithm: str | None = None
        """The algorithm again as module:Name, if it is one of your own."""
        restart: bool = False
        """Start anew, from generation 0, and keep the old rows aside as progress.csv.1."""
        track: Literal["wandb", "trackio"] | None = None
        """Report to Weights & Biases or trackio, too."""
        checkpoint_every: float = EVERY_SECONDS
        """Seconds between two checkpoints; 0: after every generation."""
        keep_checkpoint: bool = True
        """Keep the last one when the run is finished, so that it can be extended once more."""
        ignore_memory: bool = False
        """Begin even if the run does not seem to fit into this machine's memory."""
        distributed: bool = False
        """By several processes, as srun, mpirun or Kubernetes starts them."""
        coordinator: str | None = None
        """The same without these: host:port of process 0 …"""
        processes: int | None = None
        """… how many processes there are …"""
        process: int | None = None
        """… and which one this is, from 0."""
        quiet: bool = False
        """Show no progress."""

    o = parse(Options, "resume", args, resume.__doc__)
    hosts.join(_meeting(o))
    listeners = [*terminal.display(o.quiet), *_tracker(o.track)]
    algorithm = None
    if o.algorithm is not None:
        recorded = reader.read_config(o.run).get("settings", {})
        algorithm = config.merge(presets.preset("fast", None, o.algorithm), recorded, "settings")
    env = named_env(o.env, o.run)
    if not hosts.is_first():
        return _code(session.follow_resumed(o.run, env, algorithm))
    run, ending = session.resume(
        o.run, listeners, o.checkpoint_every, env, algorithm,
        frames=o.frames, restart=o.restart, ignore_memory=o.ignore_memory, keep_checkpoint=o.keep_checkpoint,
    )  # fmt: skip
    return _close(run, ending, o.quiet)


def _read(path: Path | None) -> dict[str, Any]:
    """A configuration file, with no field that `config.json` does not have."""
    if path is None:
        return {}
    try:
        data = forms.fill(forms.Config, config.read(path))
    except files.Unreadable as error:
        raise UserError(f"In the config file '{path}', {error}.") from error
    opponent = data.get("opponent") or {}
    for prefix, found, form in (("", data, forms.Config), ("opponent.", opponent, forms.Opponent)):
        for name in found:
            if name not in forms.names(form):
                near = suggest(name, forms.names(form))
                raise UserError(f"There is no '{prefix}{name}'{near} in a config file; it takes what config.json has.")
    return data


def _chosen(file: dict[str, Any]) -> dict[str, Any]:
    """What the file says of the options."""
    found = {name: file[name] for name in ("algorithm", "preset", "frames", "seed") if name in file}
    return found | {"opponent": (file.get("opponent") or {}).get("kind")}


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


def _kind(env: Env, algorithm: Form, opponent: Form | None) -> Any:
    """The options of this run: every run's, the world's parameters, the algorithm's settings, the opponent's."""
    what = "Name of a world (`merlax envs` lists them), or module:World for one of your own."
    fields: list[Any] = [("world", Annotated[Positional[str], arg(metavar="WORLD", help=what)], tyro.MISSING)]
    if reader.env_record(env):
        fields.append(("env", type(env), env))
    fields.append(("settings", flat(algorithm.type), algorithm.default))
    if opponent is not None:
        fields.append(("opponent_settings", Annotated[opponent.type, arg(name="opponent")], opponent.default))
    return dataclasses.make_dataclass("Options", fields, bases=(TrainOptions,), frozen=True)


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


def _tracker(library: Any) -> list[Recorder]:
    return [] if library is None else [Tracker(library)]


def _show_plan(planned: Setup, path: Path) -> None:
    """What a run would take."""
    game = planned.game()
    each = game.frames_per_generation()
    print(planned.title)
    print(f"budget     {planned.frames:,} frames, at least {planned.frames // each:,} generations of up to {each:,}")
    print(f"memory     about {memory.readable(memory.estimate(game).total)}")
    print(f"run folder {path}")


def _close(run: Run, ending: Ending, quiet: bool) -> int:
    """The last words of a run, and its exit code: 128 + the signal that ended it, as a shell has it."""
    if not quiet:
        _summary(run, ending)
    return _code(ending)


def _code(ending: Ending) -> int:
    return 0 if ending.signal is None else 128 + ending.signal


def _summary(run: Run, ending: Ending) -> None:
    """The result beside the published one, and where everything lies."""
    result = reader.read_final(run.path)
    known = run.published
    interrupted = "\nInterrupted; the run folder is complete up to here, and `merlax resume` continues it."
    print("" if ending.finished else interrupted)
    mean = math.nan if result["mean"] is None else result["mean"]
    score = Score(mean, result["interval95"], result["episodes"])
    print(f"champion   {score} over {score.episodes} fresh episodes, {run.title}")
    if known:
        print(f"published  {known.score:.2f} ({known.source})")
    for name in ("progress.csv", "learning_curve.png", "champion.gif"):
        if (run.path / name).exists():
            print(f"           {run.path / name}")
