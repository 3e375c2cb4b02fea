"""The commands that make a run: train, resume."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import Positional, arg

from merlax import config
from merlax.algorithms import presets
from merlax.cli import sweeping
from merlax.cli.options import MakingOptions, read_request
from merlax.cli.parsing import named_env, parse
from merlax.core import devices
from merlax.runs import hosts, memory, reader, session, terminal
from merlax.runs.evaluation import Score
from merlax.runs.loop import Ending
from merlax.runs.reader import Run
from merlax.runs.recorders import Recorder, Tracker
from merlax.runs.setup import Setup
from merlax.types import UserError


def train(args: Sequence[str]) -> int:
    """Train a team on a world and leave everything in a run folder."""
    request = read_request(args, "train", train.__doc__)
    if request.options.seeds:
        return sweeping.run_many(request, args, {}, "train")
    sweeping.refuse_many(request.options)
    filled, meeting = request.options, _meeting(request.options)
    if filled.start is not None and not filled.dry_run:
        hosts.join(meeting)  # before a champion is read, which starts JAX
    planned = request.plan()
    asked = planned, filled.out, filled.force
    more: dict[str, Any] = {"every": filled.checkpoint_every, "ignore_memory": filled.ignore_memory}
    if filled.dry_run:
        _show_plan(planned, session.check(*asked, **more))
        return 0
    more |= {"keep_checkpoint": filled.keep_checkpoint, "pictures": filled.pictures}
    hosts.join(meeting)
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
    class Own:
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

    @dataclasses.dataclass(frozen=True)
    class Options(MakingOptions, Own): ...

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
        pictures=o.pictures,
    )  # fmt: skip
    return _close(run, ending, o.quiet)


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
